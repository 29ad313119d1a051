/* Watching posts in an event loop of the host. */
#include <darwinnotify/library.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "roles.h"
#include "shm.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"
#include "watch.h"

/* What the callbacks have seen of "N". */
typedef struct seen {
        dn_watch *stops; /* what the first post stops */
        int returns;     /* what each post returns */
        _Atomic bool is_ready;
        _Atomic uint64_t n_posts;
        _Atomic unsigned n_calls;
        _Atomic bool is_from_bus; /* the last one */
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
        self->n_posts += record->n_posts;
        self->is_from_bus = *record->sender;
        self->n_calls++;
        if (self->stops)
                dn_watch_stop(self->stops);
        return self->returns;
}

static dn_watch *open_watch(const char *bus, seen *self)
{
        dn_watcher watcher = {note_ready, note_post, self};
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

TEST(watchRunsInALoopUntilItIsStopped)
{
        test_bus *bus = test_bus_begin();
        static tally held = {0};
        static seen self = {0};
        dn_observer *observer = tally_observe(dn_center_darwin(), "N", &held);
        dn_watch *watch = open_watch(NULL, &self);

        CHECK(is_readable(watch));
        CHECK(fcntl(dn_watch_get_fd(watch), F_GETFD) & FD_CLOEXEC);
        WAIT_UNTIL((turn(watch), self.is_ready));
        for (unsigned i = 1; i <= 3; i++) {
                post_n();
                WAIT_UNTIL((CHECK_EQ(turn(watch), 0), self.n_posts == i));
        }
        WAIT_UNTIL(turn(watch) == 0 && !is_readable(watch)); /* nothing keeps the loop awake */
        dn_watch_stop(watch);
        CHECK(is_readable(watch));
        post_n();
        CHECK_EQ(dn_watch_process(watch), 1);
        CHECK_EQ(dn_watch_process(watch), 1);
        CHECK(is_readable(watch));
        CHECK_EQ(self.n_posts, 3);
        CHECK(!dn_watch_close(watch));
        tally_drop(observer);
        test_bus_stop(bus);
}

TEST(closedWatchLeavesNoDescriptor)
{
        test_bus *bus = test_bus_begin();
        static seen self = {0};
        unsigned n_fds = test_n_fds();
        dn_watch *watch = open_ready(&self);

        dn_watch_close(watch);
        CHECK_EQ(test_n_fds(), n_fds);
        test_bus_stop(bus);
}

TEST(watchStoppedInItsCallbackCallsNoMore)
{
        test_bus *bus = test_bus_begin();
        static tally held = {0};
        static seen self = {0};
        dn_observer *observer = tally_observe(dn_center_darwin(), "N", &held);
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
        tally_drop(observer);
        test_bus_stop(bus);
}

TEST(whatACallbackReturnsEndsTheWatch)
{
        test_bus *bus = test_bus_begin();
        static tally held = {0};
        static seen self = {.returns = 7}, wrong = {.returns = -1};
        dn_observer *observer = tally_observe(dn_center_darwin(), "N", &held);
        dn_watch *watch = open_ready(&self), *other = open_ready(&wrong);

        post_n();
        WAIT_UNTIL(turn(watch) == 7);
        CHECK(is_readable(watch));
        CHECK_EQ(dn_watch_process(watch), 7);
        WAIT_UNTIL(turn(other) == -EINVAL);
        dn_watch_close(watch);
        dn_watch_close(other);
        tally_drop(observer);
        test_bus_stop(bus);
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

TEST(anotherThreadStopsTheLoop)
{
        test_bus *bus = test_bus_begin();
        static tally held = {0};
        static seen self = {0};
        dn_observer *observer = tally_observe(dn_center_darwin(), "N", &held);
        pthread_t thread;

        for (int i = 0; i < 10; i++) {
                dn_watch *watch = open_watch(NULL, &self);

                CHECK_EQ(pthread_create(&thread, NULL, run_loop, watch), 0);
                if (i % 2)
                        WAIT_UNTIL((post_n(), self.n_calls > 0));
                dn_watch_stop(watch);
                pthread_join(thread, NULL);
                self.n_calls = 0;
                dn_watch_close(watch);
        }
        tally_drop(observer);
        test_bus_stop(bus);
}

TEST_ON_BUS(watchInALoopSurvivesTheBus)
{
        test_bus *bus = test_bus_begin();
        static tally held = {0};
        static seen self = {0};
        dn_observer *observer = tally_observe(dn_center_darwin(), "N", &held);
        dn_watch *watch = open_ready(&self);

        post_n();
        WAIT_UNTIL((turn(watch), self.n_posts == 1 && self.is_from_bus));
        test_bus_kill(bus);
        WAIT_UNTIL((post_n(), turn(watch), self.n_calls > 1 && !self.is_from_bus));
        test_bus_start_again(bus);
        WAIT_UNTIL((post_n(), turn(watch), self.is_from_bus));
        dn_watch_close(watch);
        tally_drop(observer);
        test_bus_stop(bus);
}

TEST(libraryIsNotShutDownUnderAWatch)
{
        test_bus *bus = test_bus_begin();
        static seen self = {0};
        dn_watch *watch = open_ready(&self);

        CHECK_EQ(dn_shutdown(), -EBUSY);
        CHECK_EQ(turn(watch), 0);
        dn_watch_close(watch);
        CHECK_EQ(dn_shutdown(), 0);
        test_bus_stop(bus);
}

TEST(childLeavesTheWatchOfItsParentAlone)
{
        test_bus *bus = test_bus_begin();
        static tally held = {0};
        static seen self = {0};
        dn_observer *observer = tally_observe(dn_center_darwin(), "N", &held);
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
        WAIT_UNTIL((CHECK_EQ(turn(watch), 0), self.n_posts == 1));
        dn_watch_close(watch);
        tally_drop(observer);
        test_bus_stop(bus);
}

/* A child that was made without the library's knowledge keeps its copy. */
TEST_ON_BUS(lostBusLetsTheLoopSleepThoughAChildHasItsSocket)
{
        test_bus *bus = test_bus_begin();
        static tally held = {0};
        static seen self = {0};
        dn_observer *observer = tally_observe(dn_center_darwin(), "N", &held);
        dn_watch *watch = open_ready(&self);
        int pipe_fds[2];

        CHECK_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
        pid_t child = _Fork();
        if (child == 0) {
                close(pipe_fds[1]);
                _exit((int)read(pipe_fds[0], (char[1]){0}, 1));
        }
        test_bus_kill(bus);
        WAIT_UNTIL((post_n(), turn(watch), self.n_calls > 0 && !self.is_from_bus));
        WAIT_UNTIL((turn(watch), !is_readable(watch)));
        close(pipe_fds[1]);
        CHECK_EQ(test_wait_for(child), 0);
        close(pipe_fds[0]);
        dn_watch_close(watch);
        tally_drop(observer);
        test_bus_stop(bus);
}

/* Eventfds and epolls look alike. */
TEST(watchLeavesAloneWhatTheHostOpensWithItsNumber)
{
        test_bus *bus = test_bus_begin();
        static seen self = {0};

        for (int i = 0; i < 2; i++) {
                dn_watch *watch = open_ready(&self);
                int host_fd = i ? eventfd(0, EFD_CLOEXEC) : epoll_create1(EPOLL_CLOEXEC);
                int fd = dn_watch_get_fd(watch);

                CHECK_EQ(dup3(host_fd, fd, O_CLOEXEC), fd);
                CHECK_EQ(dn_watch_process(watch), -ENOTCONN);
                dn_watch_close(watch);
                CHECK(fcntl(fd, F_GETFD) >= 0);
                close(host_fd);
                close(fd);
                self.is_ready = false;
        }
        test_bus_stop(bus);
}

TEST_NO_BUS(watchWithoutBusAndTableEnds)
{
        static seen self = {0};
        dn_watch *watch;

        forbid_tables();
        watch = open_watch("none", &self);
        WAIT_UNTIL(turn(watch) == -ENOTCONN);
        CHECK_EQ(dn_watch_process(watch), -ENOTCONN);
        CHECK(!self.is_ready);
        dn_watch_close(watch);
}

TEST_NO_BUS(watchFunctionsRefuseWrongArguments)
{
        dn_watcher watcher = {.post = note_post}, without = {.ready = note_ready};
        dn_watch *untouched = (dn_watch *)&watcher;

        CHECK_EQ(dn_watch_open("none", NULL, NULL, &untouched), -EINVAL);
        CHECK_EQ(dn_watch_open("none", NULL, &without, &untouched), -EINVAL);
        CHECK_EQ(dn_watch_open("", NULL, &watcher, &untouched), -EINVAL);
        CHECK_EQ(dn_watch_open("none", NULL, &watcher, NULL), -EINVAL);
        CHECK(untouched == (dn_watch *)&watcher);
        CHECK_EQ(dn_watch_get_fd(NULL), -EINVAL);
        CHECK_EQ(dn_watch_process(NULL), -EINVAL);
        dn_watch_stop(NULL);
        CHECK(!dn_watch_close(NULL));
}

TEST_MAIN()
