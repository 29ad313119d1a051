/* A forked child inherits nothing. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "roles.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

static test_bus *bus;
static test_peer *peer;
static tally in_parent;

static void prepare(void)
{
        peer = begin_to_fork(&bus);
        tally_observe(dn_center_darwin(), "parent", &in_parent);
}

/* The parent's observer still gets each post exactly once, on the same connection. */
static void check_parent(uint64_t n_before)
{
        fence_bus(peer);
        CHECK_EQ(in_parent.n_posts, n_before);
        test_peer_post(peer, "parent");
        WAIT_UNTIL_EQ(in_parent.n_posts, n_before + 1);
        fence_bus(peer);
        CHECK_EQ(in_parent.n_posts, n_before + 1);
        check_one_connection(peer, getpid());
}

TEST(childPostsOnItsOwnConnection)
{
        prepare();
        post_ok(dn_center_darwin(), "parent");
        WAIT_UNTIL_EQ(in_parent.n_posts, 1);
        pid_t pid = test_fork();
        if (pid == 0) {
                post_ok(dn_center_darwin(), "parent");
                exit(0);
        }
        CHECK_EQ(test_wait_for(pid), 0);
        WAIT_UNTIL_EQ(in_parent.n_posts, 2);
        check_parent(2);
        test_bus_stop(bus);
}

TEST_ON_BUS(childObservesOnItsOwnConnection)
{
        prepare();
        pid_t pid = test_fork();
        if (pid == 0) {
                tally in_child = {0};
                tally_observe(dn_center_darwin(), "child", &in_child);
                post_ok(dn_center_darwin(), "parent"); /* says that it is ready */
                WAIT_UNTIL_EQ(in_child.n_posts, 1);
                _exit(0);
        }
        WAIT_UNTIL_EQ(in_parent.n_posts, 1);
        WAIT_UNTIL_EQ(test_peer_n_connections(peer, pid), 1);
        post_ok(dn_center_darwin(), "child");
        CHECK_EQ(test_wait_for(pid), 0);
        check_parent(1);
        test_bus_stop(bus);
}

TEST(parentsObserversAreSilentInTheChild)
{
        prepare();
        pid_t pid = test_fork();
        if (pid == 0) {
                post_ok(dn_center_darwin(), "parent");
                fence_executor();
                CHECK_EQ(in_parent.n_posts, 0); /* the child's copy */
                tally again = {0};
                tally_observe(dn_center_darwin(), "parent", &again);
                post_ok(dn_center_darwin(), "parent");
                WAIT_UNTIL_EQ(again.n_posts, 1);
                fence_executor();
                CHECK_EQ(in_parent.n_posts, 0);
                exit(0);
        }
        CHECK_EQ(test_wait_for(pid), 0);
        WAIT_UNTIL_EQ(in_parent.n_posts, 2);
        check_parent(2);
        test_bus_stop(bus);
}

TEST(parentsHandlesMayBeCancelledInTheChild)
{
        static tally extra = {0};

        prepare();
        dn_observer *observer = tally_observe(dn_center_darwin(), "parent", &extra);
        pid_t pid = test_fork();
        if (pid == 0) {
                tally_drop(observer);
                exit(0);
        }
        CHECK_EQ(test_wait_for(pid), 0);
        test_peer_post(peer, "parent");
        WAIT_UNTIL_EQ(extra.n_posts, 1);
        CHECK_EQ(extra.n_destroyed, 0);
        tally_drop(observer);
        test_bus_stop(bus);
}

TEST(idleChildDoesNotAffectTheParent)
{
        prepare();
        for (int i = 0; i < 20; i++) {
                pid_t pid = test_fork();
                if (pid == 0) {
                        if (i % 2)
                                exit(0);
                        _exit(0);
                }
                CHECK_EQ(test_wait_for(pid), 0);
        }
        check_parent(0);
        test_bus_stop(bus);
}

TEST(localCenterWorksInBothProcesses)
{
        static tally local = {0};

        prepare();
        tally_observe(dn_center_local(), "L", &local);
        pid_t pid = test_fork();
        if (pid == 0) {
                tally fresh = {0};
                tally_observe(dn_center_local(), "L", &fresh);
                post_ok(dn_center_local(), "L");
                CHECK_EQ(fresh.n_calls, 1);
                exit(0);
        }
        CHECK_EQ(test_wait_for(pid), 0);
        post_ok(dn_center_local(), "L");
        CHECK_EQ(local.n_calls, 1);
        test_bus_stop(bus);
}

static dn_work_fn kept_work;
static void *kept_argument;
static _Atomic bool is_kept;

static int keep_work(void *context, dn_work_fn work, void *argument)
{
        (void)context;
        kept_work = work;
        kept_argument = argument;
        is_kept = true;
        return 0;
}

TEST_NO_BUS(parentsWorkDoesNothingInTheChild)
{
        dn_executor executor = {.enqueue = keep_work};
        dn_center *center = NULL;
        static tally seen = {0};

        CHECK_EQ(dn_center_open("none", &center), 0);
        CHECK_EQ(dn_center_observe(center, "N", tally_handler(&seen), &executor, NULL), 0);
        CHECK_EQ(dn_center_post(center, "N", NULL, NULL, 0), 0);
        WAIT_UNTIL(is_kept);
        pid_t pid = test_fork();
        if (pid == 0) {
                kept_work(kept_argument);
                CHECK_EQ(seen.n_calls, 0);
                _exit(0);
        }
        CHECK_EQ(test_wait_for(pid), 0);
        kept_work(kept_argument);
        CHECK_EQ(seen.n_calls, 1);
}

static unsigned n_flushes;

static void flush_before_fork(void)
{
        CHECK_EQ(dn_flush(0), -ENOTCONN);
        n_flushes++;
}

/* Prepare handlers run in reverse order of registration: this one runs after any the library may
 * have. */
TEST_NO_BUS(hostsForkHandlerMayCallTheLibrary)
{
        CHECK_EQ(pthread_atfork(flush_before_fork, NULL, NULL), 0);
        CHECK_EQ(dn_center_post(dn_center_darwin(), "N", NULL, NULL, 0), 0);
        alarm(TEST_DEADLINE_US / 1000000); /* fails the case on a deadlock */
        pid_t pid = test_fork();
        if (pid == 0)
                _exit(0);
        alarm(0);
        CHECK_EQ(n_flushes, 1);
        CHECK_EQ(test_wait_for(pid), 0);
}

TEST_MAIN()
