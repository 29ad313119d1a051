/* Watching posts in an event loop of the host. */
#include <darwinnotify/library.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "tally.h"
#include "test-bus.h"
#include "test-child.h"
#include "watch.h"

/* What the callbacks have seen of "N". */
typedef struct seen {
        dn_watch *stops; /* what the first post stops */
        int returns;     /* what each post returns */
        _Atomic bool is_ready;
        _Atomic unsigned n_calls;
        _Atomic unsigned n_destroyed;
} seen;

static int note_ready(void *context)
{
        ((seen *)context)->is_ready = true;
        return 0;
}

static int note_post(const dn_post_record *record, void *context)
{
        seen *self = context;

        if (strcmp(record->name, "N") != 0)
                return 0;
        self->n_calls++;
        if (self->stops)
                dn_watch_stop(self->stops);
        return self->returns;
}

static void note_destroyed(void *context)
{
        ((seen *)context)->n_destroyed++;
}

static dn_watch *open_watch(const char *bus, seen *self)
{
        dn_watcher watcher = {.ready = note_ready, .post = note_post, .context = self,
                              .destroy = note_destroyed};
        dn_watch *watch = NULL;

        CHECK_EQ(dn_watch_open(bus, NULL, &watcher, &watch), 0);
        CHECK(watch);
        return watch;
}

static bool is_readable(dn_watch *watch)
{
        struct pollfd wait = {.fd = dn_watch_get_fd(watch), .events = POLLIN};

        return poll(&wait, 1, 0) == 1 && (wait.revents & POLLIN);
}

/* One turn of the loop. */
static int turn(dn_watch *watch)
{
        return is_readable(watch) ? dn_watch_process(watch) : 0;
}

/* Opens one that has seen nothing and waits. */
static dn_watch *open_ready(seen *self)
{
        dn_watch *watch = open_watch(NULL, self);

        WAIT_UNTIL((turn(watch), self->is_ready));
        CHECK_EQ(self->n_calls, 0);
        return watch;
}

static void post_n(void)
{
        post_ok(dn_center_darwin(), "N");
}

TEST_ON_BUS(watchRunsInALoopUntilItIsStopped)
{
        test_bus_begin();
        static seen self = {0};
        dn_watch *watch = open_watch(NULL, &self);

        CHECK(is_readable(watch));
        CHECK(fcntl(dn_watch_get_fd(watch), F_GETFD) & FD_CLOEXEC);
        WAIT_UNTIL((turn(watch), self.is_ready));
        for (unsigned i = 1; i <= 3; i++) {
                post_n();
                WAIT_UNTIL((CHECK_EQ(turn(watch), 0), self.n_calls == i));
        }
        WAIT_UNTIL(turn(watch) == 0 && !is_readable(watch)); /* nothing keeps the loop awake */
        dn_watch_stop(watch);
        CHECK(is_readable(watch));
        post_n();
        CHECK_EQ(dn_watch_process(watch), 1);
        CHECK_EQ(dn_watch_process(watch), 1);
        CHECK(is_readable(watch));
        CHECK_EQ(self.n_calls, 3);
        CHECK(!dn_watch_close(watch));
}

TEST_ON_BUS(watchStoppedInItsCallbackCallsNoMore)
{
        test_bus_begin();
        static seen self = {0};
        dn_watch *watch = open_ready(&self);

        self.stops = watch;
        for (int i = 0; i < 3; i++)
                post_n();
        (void)dn_flush(TEST_DEADLINE_US); /* what a bus has, it has sent on */
        WAIT_UNTIL(turn(watch) == 1);
        CHECK_EQ(self.n_calls, 1);
        CHECK_EQ(dn_watch_process(watch), 1);
        CHECK_EQ(self.n_calls, 1);
        dn_watch_close(watch);
}

TEST_ON_BUS(aCallbackEndsTheWatchWithItsResult)
{
        test_bus_begin();
        static seen self = {.returns = 7}, wrong = {.returns = -1};
        dn_watch *watch = open_ready(&self), *other = open_ready(&wrong);

        post_n();
        WAIT_UNTIL(turn(watch) == 7);
        CHECK(is_readable(watch));
        CHECK_EQ(dn_watch_process(watch), 7);
        WAIT_UNTIL(turn(other) == -EINVAL);
        dn_watch_close(watch);
        dn_watch_close(other);
}

static void *run_loop(void *context)
{
        dn_watch *watch = context;
        struct pollfd wait = {.fd = dn_watch_get_fd(watch), .events = POLLIN};
        int r = 0;

        while (r == 0) {
                CHECK(poll(&wait, 1, -1) == 1);
                r = dn_watch_process(watch);
        }
        CHECK_EQ(r, 1);
        return NULL;
}

TEST_ON_BUS(anotherThreadStopsTheLoop)
{
        test_bus_begin();
        static seen self = {0};
        dn_watcher without_ready = {.post = note_post, .context = &self};
        pthread_t thread;

        for (int i = 0; i < 10; i++) {
                dn_watch *watch;

                CHECK_EQ(dn_watch_open(NULL, NULL, &without_ready, &watch), 0);
                thread = test_start_thread(run_loop, watch);
                if (i % 2)
                        WAIT_UNTIL((post_n(), self.n_calls > 0));
                dn_watch_stop(watch);
                pthread_join(thread, NULL);
                self.n_calls = 0;
                dn_watch_close(watch);
        }
}

TEST_ON_BUS(lossOfTheBusEndsTheWatch)
{
        test_bus *bus = test_bus_begin();
        static seen self = {0};
        dn_watch *watch = open_ready(&self);

        test_bus_kill(bus);
        WAIT_UNTIL(turn(watch) == -ENOTCONN);
        CHECK(is_readable(watch));
        CHECK_EQ(dn_watch_process(watch), -ENOTCONN);
        CHECK_EQ(self.n_destroyed, 0);
        dn_watch_close(watch);
        CHECK_EQ(self.n_destroyed, 1);
}

TEST_ON_BUS(libraryIsNotShutDownUnderAWatch)
{
        test_bus_begin();
        static seen self = {0};
        unsigned n_fds = test_n_fds();
        dn_watch *watch = open_ready(&self);

        CHECK_EQ(dn_shutdown(), -EBUSY);
        CHECK_EQ(turn(watch), 0);
        dn_watch_close(watch);
        CHECK_EQ(test_n_fds(), n_fds);
        CHECK_EQ(dn_shutdown(), 0);
}

TEST_ON_BUS(childLeavesTheWatchOfItsParentAlone)
{
        test_bus_begin();
        static seen self = {0};
        dn_watch *watch = open_ready(&self);
        pid_t child = fork();

        if (child == 0) {
                dn_watch_stop(watch);
                CHECK_EQ(dn_watch_process(watch), -EINVAL);
                CHECK(!dn_watch_close(watch));
                _exit(0);
        }
        CHECK_EQ(test_wait_for(child), 0);
        post_n();
        WAIT_UNTIL((CHECK_EQ(turn(watch), 0), self.n_calls == 1));
        dn_watch_close(watch);
}

TEST_NO_BUS(watchFunctionsRefuseWrongArguments)
{
        static seen self = {0};
        dn_watcher watcher = {.post = note_post, .context = &self, .destroy = note_destroyed};
        dn_watcher without = watcher, later = watcher;
        dn_watch *untouched = (dn_watch *)&watcher;

        CHECK_EQ(dn_watch_open("none", NULL, NULL, &untouched), -EINVAL);
        without.post = NULL;
        CHECK_EQ(dn_watch_open("none", NULL, &without, &untouched), -EINVAL);
        later.reserved[0] = 1;
        CHECK_EQ(dn_watch_open("none", NULL, &later, &untouched), -EINVAL);
        CHECK_EQ(dn_watch_open("", NULL, &watcher, &untouched), -EINVAL);
        CHECK_EQ(dn_watch_open("none", NULL, &watcher, NULL), -EINVAL);
        CHECK_EQ(dn_watch_open("none", NULL, &watcher, &untouched), -ENOTCONN);
        CHECK_EQ(dn_watch_posts("none", NULL, &watcher), -ENOTCONN);
        CHECK_EQ(self.n_destroyed, 6);
        CHECK(untouched == (dn_watch *)&watcher);
        CHECK_EQ(dn_watch_get_fd(NULL), -EINVAL);
        CHECK_EQ(dn_watch_process(NULL), -EINVAL);
        dn_watch_stop(NULL);
        CHECK(!dn_watch_close(NULL));
}

TEST_MAIN()
