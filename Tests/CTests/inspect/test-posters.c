/* The senders of the posts on a bus. */

#include "roles.h"
#include "test-bus.h"
#include "test-child.h"
#include "test-peer.h"
#include "watch.h"

static test_child *spawn_poster(const char *first_name)
{
        test_child *child = test_spawn_role("testPeer", NULL);

        CHECK_STREQ(test_child_ask(child, first_name), "posted");
        return child;
}

TEST_ON_BUS(livePostersAreIdentifiedWheneverTheyConnected)
{
        test_bus_begin();
        test_child *before = spawn_poster("unseen"), *after;
        static watch watch = {0};

        watch_start(&watch, NULL, NULL);
        after = spawn_poster("first");
        WAIT_UNTIL_EQ(watch.n_records, 1); /* the bus may read another connection first */
        CHECK_STREQ(test_child_ask(before, "second"), "posted");
        CHECK_STREQ(test_child_ask(before, "third"), "posted");
        WAIT_UNTIL_EQ(watch.n_records, 3);
        CHECK_STREQ(test_child_ask(after, "end"), "posted");
        CHECK_EQ(watch_join(&watch), ENDED);
        CHECK_EQ(watch.n_records, 4);
        check_from(&watch.records[0], "first", test_child_pid(after));
        check_from(&watch.records[1], "second", test_child_pid(before));
        check_from(&watch.records[2], "third", test_child_pid(before));
        check_from(&watch.records[3], "end", test_child_pid(after));
        CHECK_STREQ(watch.records[3].sender, watch.records[0].sender);
        CHECK(strcmp(watch.records[3].sender, watch.records[2].sender) != 0);
        CHECK_EQ(test_child_wait(before), 0);
        CHECK_EQ(test_child_wait(after), 0);
}

/* Starts a copy of this program under another name, which it then removes. */
static test_child *spawn_removed(const char *name)
{
        const char *own = FORMAT("/proc/%d/exe", (int)getpid());
        const char *path = FORMAT("%s/%s", test_directory(), name);
        const char *copy[] = {"cp", own, path, NULL};
        test_child *child;

        CHECK_EQ(test_run_program(copy, NULL, 0), 0);
        child = test_spawn_program((const char *[]){path, "--role", "testPeer", NULL});
        CHECK_STREQ(test_child_ask(child, "unseen"), "posted");
        CHECK_EQ(unlink(path), 0);
        return child;
}

TEST_ON_BUS(programThatWasRemovedKeepsItsName)
{
        test_bus_begin();
        test_child *plain = spawn_removed("plain"), *odd = spawn_removed("odd (deleted) file");
        static watch watch = {0};

        watch_start(&watch, NULL, NULL);
        CHECK_STREQ(test_child_ask(plain, "first"), "posted");
        WAIT_UNTIL_EQ(watch.n_records, 1); /* posts of two processes have no order */
        CHECK_STREQ(test_child_ask(odd, "end"), "posted");
        CHECK_EQ(watch_join(&watch), ENDED);
        CHECK_STREQ(watch.records[0].program, "plain");
        CHECK_STREQ(watch.records[1].program, "odd (deleted) file");
        CHECK_EQ(test_child_wait(plain), 0);
        CHECK_EQ(test_child_wait(odd), 0);
}

TEST_ON_BUS(posterThatHasExitedIsNotGuessed)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        static watch watch = {.blocks = true};
        test_signal gone;

        watch_start(&watch, NULL, NULL);
        test_peer_post(peer, "first");
        WAIT_UNTIL_EQ(watch.n_records, 1);
        test_peer_watch(peer, TEST_WIRE_RULE);
        post_elsewhere("gone", 2, "_exit");
        test_peer_next(peer, &gone);
        test_peer_next(peer, &gone);
        WAIT_UNTIL(!test_peer_sees(peer, gone.sender));
        watch.blocks = false;
        test_peer_post(peer, "end");
        CHECK_EQ(watch_join(&watch), ENDED);
        CHECK_EQ(watch.n_records, 4);
        for (int i = 1; i <= 2; i++) {
                CHECK_STREQ(watch.records[i].name, "gone");
                CHECK_STREQ(watch.records[i].sender, gone.sender);
                CHECK_EQ(watch.records[i].pid, 0);
                CHECK_STREQ(watch.records[i].program, "");
        }
        check_from(&watch.records[3], "end", getpid());
}

TEST_ON_BUS(connectionIsQueriedWhenItAppears)
{
        test_bus *bus = test_bus_begin();
        static watch watch = {0};

        watch_start(&watch, NULL, NULL);
        test_peer *quick = test_peer_open(test_bus_address(bus));
        test_peer *peer = test_peer_open(test_bus_address(bus));
        const char *name = FORMAT("%s", test_peer_unique_name(quick));
        /* Only the bus itself reports disconnections. */
        test_peer_post_values(peer, TEST_WIRE_PATH, "org.freedesktop.DBus", "NameOwnerChanged",
                              "sss", name, name, "");
        watch.blocks = true;
        test_peer_post(peer, "first");
        WAIT_UNTIL_EQ(watch.n_records, 1); /* it was queried after the fast one */
        test_peer_post(quick, "quick");
        test_peer_close(quick);
        WAIT_UNTIL(!test_peer_sees(peer, name));
        watch.blocks = false;
        test_peer_post(peer, "end");
        CHECK_EQ(watch_join(&watch), ENDED);
        CHECK_EQ(watch.n_records, 3);
        check_from(&watch.records[1], "quick", getpid());
        CHECK_STREQ(watch.records[1].sender, name);
}

TEST_ON_BUS(floodOfANewPosterIsReportedInOrder)
{
        enum { N_POSTS = 1100 }; /* more than may wait for their sender */
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus)), *flood;
        static watch watch = {.blocks = true};

        watch_start(&watch, NULL, NULL);
        test_peer_post(peer, "first");
        WAIT_UNTIL_EQ(watch.n_records, 1);
        flood = test_peer_open(test_bus_address(bus));
        for (uint64_t i = 1; i <= N_POSTS; i++)
                test_peer_post_full(flood, TEST_WIRE_PREFIX "flood", "flood", i, 1);
        test_peer_sync(flood);
        watch.blocks = false;
        WAIT_UNTIL_EQ(watch.n_records, N_POSTS + 1);
        test_peer_post(flood, "end");
        CHECK_EQ(watch_join(&watch), ENDED);
        CHECK_EQ(watch.records[1].pid, 0); /* only that many wait */
        for (size_t i = 1; i <= N_POSTS; i++) {
                CHECK_EQ(watch.records[i].generation, i);
                CHECK_STREQ(watch.records[i].sender, test_peer_unique_name(flood));
                CHECK(watch.records[i].pid == 0 || watch.records[i].pid == getpid());
        }
        check_from(&watch.records[N_POSTS], "flood", getpid());
}

TEST_MAIN()
