/* Watching every post that the table counts, without a bus. */
#include <signal.h>

#include "roles.h"
#include "shm.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"
#include "watch.h"

#define N_POSTS 20000 /* of each poster */
#define N_POSTERS 2

/* Arguments: none. Posts each name that it reads once, then confirms it. */
ROLE(postWhatIsRead)
{
        char line[64];

        while (fgets(line, sizeof line, stdin)) {
                line[strcspn(line, "\n")] = '\0';
                int r = dn_center_post(dn_center_darwin(), line, NULL, NULL, 0);
                if (r < 0 && !dn_is_offline(r))
                        return 1;
                printf("posted\n");
        }
        return 0;
}

static void post_by(test_child *poster, const char *name)
{
        CHECK_STREQ(test_child_ask(poster, name), "posted");
}

TEST_NO_BUS(postsOfHeldNamesAreReportedWithoutASender)
{
        static watch seen, all;

        test_bus_use_none();
        test_child *holder = spawn_observer("held", "held too");
        watch_start(&seen, NULL, "held");
        watch_start(&all, "none", NULL);
        post_elsewhere("held", 1, "_exit");
        WAIT_UNTIL_EQ(watch_count(&seen, "held"), 1);
        WAIT_UNTIL_EQ(all.n_records, 1);
        post_elsewhere("not held", 1, "_exit");
        post_elsewhere("held too", 1, "_exit");
        WAIT_UNTIL_EQ(watch_count(&seen, "held too"), 1);
        WAIT_UNTIL_EQ(all.n_records, 2);
        post_elsewhere("held", 1, "_exit");
        WAIT_UNTIL_EQ(watch_count(&seen, "held"), 2);
        WAIT_UNTIL_EQ(all.n_records, 3);
        CHECK_EQ(seen.n_records, 3);
        const record *first = &seen.records[0], *last = &seen.records[2];
        CHECK_STREQ(first->name, "held");
        CHECK_STREQ(first->center, "darwin");
        CHECK_STREQ(first->sender, "");
        CHECK_STREQ(first->program, "");
        CHECK_EQ(first->pid, 0);
        CHECK_EQ(first->n_posts, 1);
        CHECK(first->region != 0);
        CHECK_EQ(last->region, first->region);
        CHECK_EQ(last->generation, first->generation + 1);
        test_child_wait(holder);
}

TEST_NO_BUS(aNameThatIsHeldLaterIsFollowedFromItsFirstPost)
{
        static watch seen;

        test_bus_use_none();
        watch_start(&seen, NULL, NULL);
        for (int i = 0; i < 20; i++) {
                char name[16];
                static tally own[20];
                snprintf(name, sizeof name, "late.%d", i);
                tally_observe(dn_center_darwin(), name, &own[i]);
                post_ok(dn_center_darwin(), name);
                post_ok(dn_center_darwin(), name);
                post_ok(dn_center_darwin(), name);
                WAIT_UNTIL_EQ(watch_count(&seen, name), 3);
        }
        tally_observe(dn_center_darwin(), "end", &(tally){0});
        post_ok(dn_center_darwin(), "end");
        CHECK_EQ(watch_join(&seen), ENDED);
}

static int start_flood(void *context)
{
        test_child **posters = context;

        for (size_t i = 0; i < N_POSTERS; i++)
                posters[i] = test_spawn_role("post", "flood", "20000", "_exit", NULL);
        return 0;
}

static int count_flood(const dn_post_record *record, void *context)
{
        static uint64_t n_posts;

        (void)context;
        n_posts += record->n_posts;
        CHECK(n_posts <= N_POSTS * N_POSTERS);
        return n_posts == N_POSTS * N_POSTERS;
}

TEST_NO_BUS(everyPostOfAFloodIsCounted)
{
        test_child *posters[N_POSTERS];
        dn_watcher watcher = {start_flood, count_flood, posters};

        test_bus_use_none();
        test_child *holder = spawn_observer("flood", NULL);
        CHECK_EQ(dn_watch_posts(NULL, NULL, &watcher), 1);
        for (size_t i = 0; i < N_POSTERS; i++)
                CHECK_EQ(test_child_wait(posters[i]), 0);
        test_child_wait(holder);
}

TEST_ON_BUS(aBusIsFollowedWhenItAppears)
{
        test_bus *bus = test_bus_prepare(NULL);
        static watch seen;
        size_t n_before;

        test_bus_use(bus);
        test_child *holder = spawn_observer("N", NULL);
        test_child *poster = test_spawn_role("postWhatIsRead", NULL);
        watch_start(&seen, NULL, NULL);
        post_by(poster, "N");
        WAIT_UNTIL_EQ(watch_count(&seen, "N"), 1);
        post_by(poster, "N");
        WAIT_UNTIL_EQ(watch_count(&seen, "N"), 2);
        CHECK_STREQ(seen.records[1].sender, "");
        test_bus_start_again(bus);
        uint64_t n_posts = 2;
        do {
                n_before = seen.n_records;
                post_by(poster, "N");
                n_posts++;
                WAIT_UNTIL(seen.n_records > n_before);
        } while (!*seen.records[seen.n_records - 1].sender);
        /* Over the bus come only posts that the table has not reported. */
        test_peer *peer = test_peer_open(test_bus_address(bus));
        test_peer_post(peer, "end");
        CHECK_EQ(watch_join(&seen), ENDED);
        CHECK_EQ(watch_count(&seen, "N"), n_posts);
        CHECK_EQ(seen.records[seen.n_records - 2].pid, test_child_pid(poster));
        test_peer_close(peer);
        test_child_wait(poster);
        test_child_wait(holder);
        test_bus_stop(bus);
}

TEST_ON_BUS(theTableIsFollowedWhenTheBusIsLost)
{
        test_bus *bus = test_bus_begin();
        static watch seen;

        test_child *holder = spawn_observer("N", NULL);
        test_child *poster = test_spawn_role("postWhatIsRead", NULL);
        watch_start(&seen, NULL, NULL);
        post_by(poster, "N");
        WAIT_UNTIL_EQ(watch_count(&seen, "N"), 1);
        CHECK(*seen.records[0].sender);
        /* It stops in the middle, and drops what it still has. */
        test_bus_pause(bus);
        post_by(poster, "N");
        test_bus_kill(bus);
        WAIT_UNTIL_EQ(watch_count(&seen, "N"), 2);
        post_by(poster, "N");
        WAIT_UNTIL_EQ(watch_count(&seen, "N"), 3);
        CHECK_STREQ(seen.records[1].sender, "");
        test_child_wait(poster);
        test_child_wait(holder);
        test_bus_stop(bus);
}

TEST_ON_BUS(aStalledBusKeepsNothingFromTheWatch)
{
        test_bus *bus = test_bus_begin();
        static watch seen;

        test_child *holder = spawn_observer("N", NULL);
        test_child *poster = test_spawn_role("postWhatIsRead", NULL);
        post_by(poster, "N");
        test_bus_pause(bus);
        watch_start(&seen, NULL, NULL);
        for (uint64_t i = 1; i <= 20; i++) {
                post_by(poster, "N");
                WAIT_UNTIL_EQ(watch_count(&seen, "N"), i);
        }
        test_bus_resume(bus);
        test_child_wait(poster);
        test_child_wait(holder);
        test_bus_stop(bus);
}

ROLE(watchForEver)
{
        static watch seen;

        watch_start(&seen, NULL, NULL);
        printf("ready\n");
        watch_join(&seen);
        return 0;
}

/* The process that takes its place hears only of its own names. */
TEST_NO_BUS(aWatchThatWasKilledLeavesNothingBehind)
{
        test_bus_use_none();
        dn__region *own = open_region("none");
        test_child *watcher = test_spawn_role("watchForEver", NULL);

        CHECK_STREQ(test_child_read_line(watcher), "ready");
        WAIT_UNTIL(own->table->watchers[0] != 0);
        test_child_kill(watcher);
        dn__region *heir = open_region("none");
        CHECK_EQ(own->table->watchers[0], 0);
        dn__region_close(heir);
        dn__region_close(own);
}

TEST_NO_BUS(aWatchThatHasNothingToReportSleeps)
{
        static watch seen;
        uint64_t n_before, n_after;

        if (TEST_HAS_THREAD_SANITIZER)
                SKIP("the thread sanitizer has a thread of its own that wakes up");
        test_bus_use_none();
        watch_start(&seen, NULL, NULL);
        n_after = test_n_switches_of_others();
        do {
                n_before = n_after;
                test_let_pass_ms(300);
                n_after = test_n_switches_of_others();
        } while (n_before != n_after);
        test_let_pass_ms(1500);
        CHECK_EQ(test_n_switches_of_others(), n_before);
        static tally own;
        tally_observe(dn_center_darwin(), "end", &own);
        post_ok(dn_center_darwin(), "end");
        CHECK_EQ(watch_join(&seen), ENDED);
}

TEST_MAIN()
