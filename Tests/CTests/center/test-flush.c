/* Waits until posts have left the process. */
#include <pthread.h>

#include "bus/state.h"
#include "delivery/hub.h"
#include "roles.h"
#include "tally.h"
#include "test-bus.h"
#include "util/cleanup.h"

/* Posts to a bus that does not read, until the library has to queue one. */
static void post_until_pending(void)
{
        for (int i = 0; i < 1000000; i++) {
                CHECK_EQ(dn_center_post(dn_center_darwin(), "N", NULL, NULL, 0), 0);
                if (i % 100 == 0 && dn_flush(0) == -ETIMEDOUT)
                        return;
        }
        test_fail(__FILE__, __LINE__, "a stalled bus took a million posts");
}

/* What is in the socket has at least left the process. */
TEST_ON_BUS(flushWaitsUntilTheBusHasReadEverything)
{
        test_bus *bus = test_bus_begin();

        post_ok(dn_center_darwin(), "N");
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        for (int is_pending = 0; is_pending < 2; is_pending++) {
                test_bus_pause(bus);
                post_ok(dn_center_darwin(), "N");
                if (is_pending)
                        post_until_pending();
                CHECK_EQ(dn_flush(0), is_pending ? -ETIMEDOUT : 0);
                uint64_t before_us = test_now_us();
                CHECK_EQ(dn_flush(200000), -ETIMEDOUT);
                uint64_t waited_us = test_now_us() - before_us;
                CHECK(waited_us >= 190000 && waited_us < TEST_STUCK_US);
                test_bus_resume(bus);
                CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        }
}

TEST_ON_BUS(postsThatALostBusHasNotReadAreReportedOnce)
{
        test_bus *bus = test_bus_begin();

        post_ok(dn_center_darwin(), "N");
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        for (int i = 0; i < 2; i++) { /* before and after the library has noticed */
                WAIT_UNTIL_EQ(dn_center_is_on_bus(dn_center_darwin()), 1);
                test_bus_pause(bus);
                post_ok(dn_center_darwin(), "N");
                test_bus_kill(bus);
                if (i)
                        WAIT_UNTIL(!dn_center_is_on_bus(dn_center_darwin()));
                CHECK_EQ(dn_flush(TEST_DEADLINE_US), -ENOTCONN);
                test_bus_start_again(bus);
                CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        }
}

TEST_ON_BUS(postsThatTheBusHadReadAreNotReportedWhenItIsLost)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open_watching(bus);
        test_signal seen;

        post_ok(dn_center_darwin(), "N");
        test_peer_next(peer, &seen); /* the bus has read it, without a flush */
        test_peer_close(peer);
        test_bus_kill(bus);
        WAIT_UNTIL(!dn_center_is_on_bus(dn_center_darwin()));
        CHECK_EQ(dn_flush(0), 0);
}

#define NO_BUS "unixexec:path=/bin/false" /* the library starts no programs */

/* Where there may be a bus later, the post still waits for it. */
TEST_NO_BUS(postsForWhichThereIsNoBusToLookForAreReportedOnce)
{
        static const struct {
                const char *address, *name;
                int first, second;
        } rows[] = {
                {NO_BUS, "N", -ENOTCONN, 0},
                {NO_BUS, "self.N", 0, 0},
                {"none", "N", 0, 0},
                {"session", "N", -ENOTCONN, -ENOTCONN},
        };

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                dn_center *center = open_center(rows[i].address);
                CHECK_EQ(dn_flush(0), 0);
                CHECK_EQ(dn_center_post(center, rows[i].name, NULL, NULL, 0), 0);
                CHECK_EQ(dn_flush(0), rows[i].first);
                CHECK_EQ(dn_flush(10000), rows[i].second);
        }
}

TEST_ON_BUS(postsThatOneCenterLostAreReportedWhenNoOtherWaitsAnyMore)
{
        test_bus *bus = test_bus_begin();
        dn_center *without = open_center(NO_BUS);

        post_ok(dn_center_darwin(), "N");
        test_bus_pause(bus);
        post_until_pending();
        CHECK_EQ(dn_center_post(without, "N", NULL, NULL, 0), 0);
        CHECK_EQ(dn_flush(0), -ETIMEDOUT);
        test_bus_resume(bus);
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), -ENOTCONN);
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
}

ROLE(postToStalled)
{
        post_ok(dn_center_darwin(), "N");
        printf("connected\n");
        if (!fgets((char[8]){0}, 8, stdin))
                return 1;
        post_until_pending();
        printf("pending\n");
        return 0;
}

TEST_ON_BUS(exitWaitsForTheBusButNotForever)
{
        test_bus *bus = test_bus_begin();
        test_child *child = test_child_await(test_spawn_role("postToStalled", NULL), "connected");
        test_bus_pause(bus);
        CHECK_STREQ(test_child_ask(child, "go"), "pending");
        uint64_t before_us = test_now_us();
        CHECK_EQ(test_child_wait(child), 0);
        CHECK(test_now_us() - before_us < TEST_STUCK_US);
}

static void *flush_once(void *ret_result)
{
        *(int *)ret_result = dn_flush(TEST_DEADLINE_US);
        return NULL;
}

static bool is_flushing(void)
{
        dn__dbus *dbus = dn__dbus_of(dn__hub_find(dn_center_darwin())->bus);

        DN__AUTO_LOCK(&dbus->lock);
        return dbus->n_flushes > 0;
}

static uint64_t n_sent(void)
{
        return statistic_of(dn_center_darwin(), DN_STATISTIC_SIGNALS_SENT);
}

/* They wait for its end. */
TEST_ON_BUS(postsDuringAFlushOfAnotherThreadAreSentAfterIt)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open_watching(bus);
        int result = -1;

        post_ok(dn_center_darwin(), "first");
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        test_bus_pause(bus);
        post_ok(dn_center_darwin(), "before");
        pthread_t thread = test_start_thread(flush_once, &result);
        WAIT_UNTIL(is_flushing());
        uint64_t n_before = n_sent();
        for (int i = 0; i < 20; i++) {
                post_ok(dn_center_darwin(), "during");
                test_breathe();
        }
        CHECK_EQ(n_sent(), n_before);
        post_ok(dn_center_darwin(), "last");
        test_bus_resume(bus);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        CHECK_EQ(result, 0);
        test_peer_await(peer, "last", NULL);
}

static bool is_gathered(void)
{
        dn__dbus *dbus = dn__dbus_of(dn__hub_find(dn_center_darwin())->bus);

        DN__AUTO_LOCK(&dbus->lock);
        return dbus->outbox.n_posts > 0;
}

static void *post_and_flush(void *ret_result)
{
        post_ok(dn_center_darwin(), "second");
        return flush_once(ret_result);
}

/* The post after the first flush sends what the second one waits for. */
TEST_ON_BUS(aFlushThatWaitsForAnotherEndsWithIt)
{
        test_bus *bus = test_bus_begin();
        pthread_t threads[2];
        int results[2];

        post_ok(dn_center_darwin(), "N");
        for (int i = 0; i < 10; i++) {
                CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
                test_bus_pause(bus);
                post_ok(dn_center_darwin(), "first");
                threads[0] = test_start_thread(flush_once, &results[0]);
                WAIT_UNTIL(is_flushing());
                threads[1] = test_start_thread(post_and_flush, &results[1]);
                WAIT_UNTIL(is_gathered());
                uint64_t before_us = test_now_us();
                test_bus_resume(bus);
                pthread_join(threads[0], NULL);
                post_ok(dn_center_darwin(), "third");
                pthread_join(threads[1], NULL);
                CHECK_EQ(results[0], 0);
                CHECK_EQ(results[1], 0);
                CHECK(test_now_us() - before_us < TEST_STUCK_US);
        }
}

#define N_CENTERS 300

static _Atomic bool stop;

static void *flush_all_the_time(void *argument)
{
        while (!stop) {
                int r = dn_flush(0);
                CHECK(r == 0 || r == -ETIMEDOUT || r == -ENOTCONN);
        }
        return NULL;
}

TEST(flushIsSafeWhileCentersComeAndGo)
{
        test_bus_begin();
        pthread_t threads[2];

        for (int i = 0; i < 2; i++)
                threads[i] = test_start_thread(flush_all_the_time, NULL);
        for (int i = 0; i < N_CENTERS; i++) {
                dn_center *center = open_center(i % 2 ? "session" : "none");
                post_soon(center, "N");
                dn_center_unref(center);
        }
        stop = true;
        for (int i = 0; i < 2; i++)
                pthread_join(threads[i], NULL);
}

TEST_MAIN()
