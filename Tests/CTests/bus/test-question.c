/* Queries to the bus about the senders of reserved names. */
#include <unistd.h>

#include "notify-tally.h"
#include "proxy.h"

#define N "plain"

static test_bus *bus;
static test_peer *peer;
static proxy between;
static tally plain, reserved;
static char reserved_name[64], reserved_interface[TEST_INTERFACE_BYTES];

static uint64_t n_ignored(void)
{
        uint64_t n = 0;

        CHECK_EQ(dn_center_get_statistic(dn_center_darwin(), DN_STATISTIC_SIGNALS_IGNORED, &n), 0);
        return n;
}

static void post_reserved(test_peer *poster)
{
        test_peer_post_name(poster, reserved_interface, reserved_name);
}

static void prepare(bool swallows)
{
        bus = test_bus_begin();
        between.swallows = swallows;
        proxy_begin(&between, bus);
        snprintf(reserved_name, sizeof reserved_name, "user.uid.%u.x", (unsigned)geteuid());
        test_wire_interface(reserved_name, reserved_interface);
        peer = test_peer_open(test_bus_address(bus));
        tally_observe(dn_center_darwin(), N, &plain);
        tally_observe(dn_center_darwin(), reserved_name, &reserved);
        test_peer_post(peer, N);
        WAIT_UNTIL_EQ(plain.n_posts, 1);
        CHECK_EQ(between.n_questions, 0);
}

static void end(void)
{
        test_peer_close(peer);
        test_bus_stop(bus);
}

TEST_ON_BUS(unresponsiveBusDelaysOtherPostsOnlyBriefly)
{
        prepare(true);
        uint64_t n_before = n_ignored();
        post_reserved(peer);
        for (int i = 0; i < 5; i++)
                test_peer_post(peer, N);
        WAIT_UNTIL_EQ(plain.n_posts, 6);
        CHECK_EQ(between.n_questions, 1);
        CHECK_EQ(n_ignored(), n_before + 1);
        test_peer_post(peer, N);
        WAIT_UNTIL_EQ(plain.n_posts, 7);
        fence_executor();
        CHECK_EQ(reserved.n_calls, 0);
        end();
}

TEST_ON_BUS(recoveredBusIsQueriedAgain)
{
        prepare(true);
        post_reserved(peer);
        test_peer_post(peer, N);
        WAIT_UNTIL_EQ(plain.n_posts, 2);
        between.swallows = false;
        post_reserved(peer);
        WAIT_UNTIL_EQ(reserved.n_posts, 1);
        CHECK_EQ(between.n_questions, 2);
        end();
}

TEST_ON_BUS(senderIsQueriedOnceAndItsGenuinePostsAreDelivered)
{
        test_peer *second;

        prepare(false);
        uint64_t n_before = n_ignored();
        for (uint64_t i = 1; i <= 20; i++) {
                post_reserved(peer);
                WAIT_UNTIL_EQ(reserved.n_posts, i);
        }
        CHECK_EQ(between.n_questions, 1);
        second = test_peer_open(test_bus_address(bus));
        post_reserved(second);
        WAIT_UNTIL_EQ(reserved.n_posts, 21);
        CHECK_EQ(between.n_questions, 2);
        post_reserved(peer);
        WAIT_UNTIL_EQ(reserved.n_posts, 22);
        CHECK_EQ(between.n_questions, 2);
        CHECK_EQ(n_ignored(), n_before);
        test_peer_close(second);
        end();
}

TEST_ON_BUS(burstOfOneSenderCausesOneQuery)
{
        prepare(false);
        uint64_t n_before = n_ignored();
        for (int i = 0; i < 30; i++)
                post_reserved(peer);
        test_peer_post(peer, N);
        WAIT_UNTIL_EQ(plain.n_posts, 2);
        WAIT_UNTIL_EQ(reserved.n_posts, 30);
        CHECK_EQ(between.n_questions, 1);
        CHECK_EQ(n_ignored(), n_before);
        end();
}

TEST_MAIN()
