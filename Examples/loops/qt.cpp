/* Observes a name from the event loop of Qt: qt NAME [COUNT] */
#include <cstdio>
#include <cstdlib>

#include <QCoreApplication>
#include <QSocketNotifier>

#include <darwinnotify/darwinnotify.h>

namespace {

struct Listener {
        uint64_t n_seen = 0, n_wanted = 0; // wanted: 0 for ever
};

void changed(const dn_event *event, void *context)
{
        auto *self = static_cast<Listener *>(context);

        std::printf("received %s\n", event->name);
        std::fflush(stdout);
        self->n_seen += event->n_posts;
        if (self->n_wanted > 0 && self->n_seen >= self->n_wanted)
                QCoreApplication::quit();
}

} // namespace

int main(int argc, char **argv)
{
        QCoreApplication application(argc, argv);
        Listener self;
        dn_observer *observer = nullptr;
        dn_loop *loop = nullptr;

        if (argc < 2 || dn_loop_new(&loop) < 0)
                return EXIT_FAILURE;
        if (argc > 2)
                self.n_wanted = std::strtoull(argv[2], nullptr, 10);
        {
                QSocketNotifier notifier(dn_loop_get_fd(loop), QSocketNotifier::Read);
                QObject::connect(&notifier, &QSocketNotifier::activated,
                                 [loop] { dn_loop_process(loop); });
                dn_handler handler = {};
                handler.invoke = changed;
                handler.context = &self;
                dn_center_observe(dn_center_darwin(), argv[1], &handler, dn_loop_executor(loop),
                                  &observer);
                if (observer) { // also without a bus: the library looks for it
                        std::puts("ready");
                        std::fflush(stdout);
                        QCoreApplication::exec();
                }
                dn_observer_cancel(observer);
                dn_observer_unref(observer);
        }
        dn_loop_close(loop);
        return observer ? EXIT_SUCCESS : EXIT_FAILURE;
}
