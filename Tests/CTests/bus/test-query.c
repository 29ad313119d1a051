/* Queries to the bus about the senders of reserved names, and posts that wait for the answer. */
#include <unistd.h>

#include "asked.h"
#include "bus/peers.h"
#include "liar.h"
#include "notify-tally.h"

#define N "plain"

static test_bus *bus;
static test_peer *peer;
static test_peer *mute; /* it never answers */
static _Atomic bool swallows; /* queries reach it instead of the bus */
static const char *_Atomic next_destination; /* of the next query; NULL: as above */
static _Atomic unsigned n_queries;
static tally plain, reserved;
static char reserved_name[64], reserved_interface[TEST_INTERFACE_BYTES];

static void on_call(const char *member, const char **destination, const char **argument)
{
        if (strcmp(member, "GetConnectionUnixUser") != 0)
                return;
        n_queries++;
        const char *next = atomic_exchange(&next_destination, NULL);
        if (next)
                *destination = next;
        else if (swallows)
                *destination = test_peer_unique_name(mute);
}

static void post_reserved(test_peer *poster)
{
        test_peer_post_name(poster, reserved_interface, reserved_name);
}

static void prepare(bool is_swallowed)
{
        bus = test_bus_begin();
        mute = test_peer_open(test_bus_address(bus));
        swallows = is_swallowed;
        snprintf(reserved_name, sizeof reserved_name, "user.uid.%u.x", (unsigned)geteuid());
        test_wire_interface(reserved_name, reserved_interface);
        peer = test_peer_open(test_bus_address(bus));
        tally_observe(dn_center_darwin(), N, &plain);
        tally_observe(dn_center_darwin(), reserved_name, &reserved);
        test_peer_post(peer, N);
        WAIT_UNTIL_EQ(plain.n_posts, 1);
        CHECK_EQ(n_queries, 0);
}

TEST_ON_BUS(unresponsiveBusDelaysOtherPostsOnlyBriefly)
{
        prepare(true);
        uint64_t n_before = statistic(DN_STATISTIC_SIGNALS_IGNORED);
        post_reserved(peer);
        for (int i = 0; i < 5; i++)
                test_peer_post(peer, N);
        WAIT_UNTIL_EQ(plain.n_posts, 6);
        CHECK_EQ(n_queries, 1);
        CHECK_EQ(statistic(DN_STATISTIC_SIGNALS_IGNORED), n_before + 1);
        test_peer_post(peer, N);
        WAIT_UNTIL_EQ(plain.n_posts, 7);
        fence_executor();
        CHECK_EQ(reserved.n_calls, 0);
}

TEST_ON_BUS(whatAnotherProcessSaysAboutASenderIsNotBelieved)
{
        prepare(false);
        test_child *child = test_spawn_role("lie", test_bus_address(bus), "65534", NULL);
        next_destination = FORMAT("%s", test_child_read_line(child)); /* outlives it */
        post_reserved(peer);
        WAIT_UNTIL_EQ(reserved.n_posts, 1);
        CHECK_EQ(n_queries, 2);
        test_child_kill(child);
}

TEST_ON_BUS(recoveredBusIsQueriedAgain)
{
        prepare(true);
        post_reserved(peer);
        test_peer_post(peer, N);
        WAIT_UNTIL_EQ(plain.n_posts, 2);
        swallows = false;
        post_reserved(peer);
        WAIT_UNTIL_EQ(reserved.n_posts, 1);
        CHECK_EQ(n_queries, 2);
}

TEST_ON_BUS(senderIsQueriedOnceAndItsGenuinePostsAreDelivered)
{
        test_peer *second;

        prepare(false);
        uint64_t n_before = statistic(DN_STATISTIC_SIGNALS_IGNORED);
        for (uint64_t i = 1; i <= 20; i++) {
                post_reserved(peer);
                WAIT_UNTIL_EQ(reserved.n_posts, i);
        }
        CHECK_EQ(n_queries, 1);
        second = test_peer_open(test_bus_address(bus));
        post_reserved(second);
        WAIT_UNTIL_EQ(reserved.n_posts, 21);
        CHECK_EQ(n_queries, 2);
        post_reserved(peer);
        WAIT_UNTIL_EQ(reserved.n_posts, 22);
        CHECK_EQ(n_queries, 2);
        CHECK_EQ(statistic(DN_STATISTIC_SIGNALS_IGNORED), n_before);
}

TEST_ON_BUS(burstOfOneSenderCausesOneQuery)
{
        prepare(false);
        uint64_t n_before = statistic(DN_STATISTIC_SIGNALS_IGNORED);
        for (int i = 0; i < 30; i++)
                post_reserved(peer);
        test_peer_post(peer, N);
        WAIT_UNTIL_EQ(plain.n_posts, 2);
        WAIT_UNTIL_EQ(reserved.n_posts, 30);
        CHECK_EQ(n_queries, 1);
        CHECK_EQ(statistic(DN_STATISTIC_SIGNALS_IGNORED), n_before);
}

/* Such a query breaks the connection. */
TEST_ON_BUS(aPostWhoseSenderCannotBeAskedAboutIsIgnored)
{
        prepare(false);
        uint64_t n_before = statistic(DN_STATISTIC_SIGNALS_IGNORED);
        next_destination = "no name";
        post_reserved(peer);
        WAIT_UNTIL_EQ(statistic(DN_STATISTIC_SIGNALS_IGNORED), n_before + 1);
        CHECK_EQ(reserved.n_posts, 0);
        WAIT_UNTIL((post_reserved(peer), reserved.n_posts > 0));
}

/* --- Posts that wait for the answer ---------------------------------------------------------- */

static void add(dn__waiting *waiting, const char *name, dn__peer *peer)
{
        char sender[] = ":1.1";
        dn__post post = { .origin.sender = sender };

        CHECK_EQ(dn__name_init(&post.name, name, DN__REACH_BEYOND), 0);
        CHECK_EQ(dn__waiting_add(waiting, &post, peer), 0);
        sender[1] = 'x'; /* what waits is a copy */
}

static void take_first(dn__waiting *waiting, const char *name)
{
        dn__waiting_post *first = dn__waiting_first(waiting);

        CHECK(first);
        CHECK_STREQ(first->post.name.text, name);
        CHECK_STREQ(first->post.origin.sender, ":1.1");
        dn__waiting_take(waiting, first);
        dn__waiting_post_free(first);
}

TEST_NO_BUS(onlyTheFirstPostDecidesHowLongToWait)
{
        /* The pointer is never followed: it only says that a query is pending. */
        dn__peer peer = { .call = (sd_bus_slot *)&peer, .until_us = 42 };
        dn__waiting waiting;

        dn__list_init(&peer.link);
        dn__list_append(&peer.link, &(dn__link){ 0 }); /* remembered: not freed with its posts */
        dn__waiting_init(&waiting);
        add(&waiting, "asks", &peer);
        add(&waiting, "behind", NULL);
        CHECK_EQ(peer.n_posts, 1);
        CHECK_EQ(dn__waiting_get_until(&waiting), 42);
        peer.call = NULL;
        CHECK_EQ(dn__waiting_get_until(&waiting), 0);
        take_first(&waiting, "asks");
        CHECK_EQ(peer.n_posts, 0);
        take_first(&waiting, "behind");
        dn__waiting_deinit(&waiting);
}

TEST_MAIN()
