/* A forked child inherits nothing. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "executors.h"
#include "roles.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

/* The parent's observers do nothing in the child, which may cancel them. */
static void be_child(dn_observer *of_parent, const tally *in_parent)
{
        static tally fresh, again, local;

        post_ok(dn_center_darwin(), "parent");
        fence_executor();
        tally_observe(dn_center_local(), "L", &local);
        post_ok(dn_center_local(), "L");
        CHECK_EQ(local.n_calls, 1);
        tally_observe(dn_center_darwin(), "parent", &again);
        tally_observe(dn_center_darwin(), "child", &fresh);
        post_ok(dn_center_darwin(), "parent"); /* says that it is ready */
        WAIT_UNTIL_EQ(again.n_posts, 1);
        WAIT_UNTIL_EQ(fresh.n_posts, 1);
        CHECK_EQ(in_parent->n_posts, 0);
        tally_drop(of_parent);
        CHECK_EQ(in_parent->n_destroyed, 0);
}

TEST(childHasConnectionsAndObserversOfItsOwn)
{
        static tally in_parent, local;
        test_bus *bus;
        test_peer *peer = begin_to_fork(&bus);
        dn_observer *observer = tally_observe(dn_center_darwin(), "parent", &in_parent);

        tally_observe(dn_center_local(), "L", &local);
        pid_t pid = test_fork();
        if (pid == 0) {
                be_child(observer, &in_parent);
                exit(0);
        }
        WAIT_UNTIL_EQ(in_parent.n_posts, 2);
        check_one_connection(peer, pid);
        post_ok(dn_center_darwin(), "child");
        CHECK_EQ(test_wait_for(pid), 0);
        post_ok(dn_center_local(), "L");
        CHECK_EQ(local.n_calls, 1);
        test_peer_post(peer, "parent");
        WAIT_UNTIL_EQ(in_parent.n_posts, 3);
        fence_bus(peer);
        CHECK_EQ(in_parent.n_posts, 3);
        check_one_connection(peer, getpid());
        CHECK_EQ(in_parent.n_destroyed, 0);
        tally_drop(observer);
}

TEST_NO_BUS(parentsWorkDoesNothingInTheChild)
{
        dn_executor executor = {.enqueue = keep_work};
        dn_center *center = open_center("none");
        static tally seen = {0};

        CHECK_EQ(dn_center_observe(center, "N", TALLY_HANDLER(&seen), &executor, NULL), 0);
        CHECK_EQ(dn_center_post(center, "N", NULL, NULL, 0), 0);
        WAIT_UNTIL(is_kept);
        pid_t pid = test_fork();
        if (pid == 0) {
                run_kept_work();
                CHECK_EQ(seen.n_calls, 0);
                _exit(0);
        }
        CHECK_EQ(test_wait_for(pid), 0);
        run_kept_work();
        CHECK_EQ(seen.n_calls, 1);
}

/* The observer is the last that holds what the center was made of. */
TEST_NO_BUS(childReleasesAnObserverThatOutlivedItsParentsCenter)
{
        dn_center *center = open_center("none");
        static tally seen;
        dn_observer *observer = tally_observe(center, "self.x", &seen);

        dn_observer_cancel(observer);
        dn_center_unref(center);
        CHECK_EQ(dn_shutdown(), 0);
        pid_t pid = test_fork();
        if (pid == 0) {
                dn_observer_unref(observer);
                _exit(0);
        }
        CHECK_EQ(test_wait_for(pid), 0);
        dn_observer_unref(observer);
}

static unsigned n_flushes;

static void flush_before_fork(void)
{
        CHECK_EQ(dn_flush(0), DN_HAS_BUS ? -ENOTCONN : 0);
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
