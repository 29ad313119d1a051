// sdbus-c++, the C++ way to sd-bus: a match with a handler for each observer, an object that emits.
//
// Its proxies hear one service that they name; for signals of anybody its documentation has
// addMatch(). An event loop thread of the library runs the handlers. There is no way to flush, and
// what the socket does not take waits until something wakes that thread: a call to the bus does.
extern "C" {
#include <bench.h>
}
#include <sdbus-c++/sdbus-c++.h>

#include <memory>
#include <string>

static const unsigned flush_every = 64;
static const char path[] = "/org/example/bench";

static std::unique_ptr<sdbus::IConnection> bus;
static std::unique_ptr<sdbus::IObject> object;

// The library may throw anywhere; C gets a number instead.
template <typename Work> static int guarded(Work work)
{
        try {
                work();
                return 0;
        } catch (const sdbus::Error &error) {
                fprintf(stderr, "%s\n", error.what());
                return -1;
        }
}

static int open_bus()
{
        return guarded([] {
                bus = sdbus::createSessionBusConnection();
                object = sdbus::createObject(*bus, path);
        });
}

static int observe(const char *name, bench_heard heard, void *context)
{
        return guarded([=] {
                char interface[256];
                const char *member = bench_split(name, interface);

                bus->addMatch(std::string("type='signal',path='") + path + "',interface='" +
                                      interface + "',member='" + member + "'",
                              [=](sdbus::Message &) { heard(context, 1); }, sdbus::floating_slot);
        });
}

static int start_loop()
{
        return guarded([] { bus->enterEventLoopAsync(); });
}

static int post(const char *name)
{
        return guarded([=] {
                char interface[256];
                const char *member = bench_split(name, interface);

                object->emitSignal(object->createSignal(interface, member));
        });
}

static int flush()
{
        return guarded([] {
                auto driver = sdbus::createProxy(*bus, "org.freedesktop.DBus",
                                                 "/org/freedesktop/DBus");

                driver->callMethod("GetId").onInterface("org.freedesktop.DBus");
        });
}

static int pace()
{
        static unsigned n_posted;

        return ++n_posted % flush_every == 0 ? flush() : 0;
}

int main(int argc, char **argv)
{
        static bench_peer peer = {};

        peer.open = open_bus;
        peer.observe = observe;
        peer.connect = start_loop;
        peer.post = post;
        peer.pace = pace;
        peer.flush = flush;
        return bench_main(argc, argv, &peer);
}
