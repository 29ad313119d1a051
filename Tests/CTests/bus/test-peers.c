/* Who sent a post: what the bus reports about a connection, and posts that wait for the answer. */
#include "bus/peers.h"

#include <unistd.h>

#include "bus/dbus.h"
#include "test-bus.h"
#include "test-peer.h"
#include "test.h"
#include "util/clock.h"

static dn__connection connection = {.wire = &dn__wire_darwin};
static dn__peers peers;
static test_bus *bus;
static test_peer *other;

/* Does one step, and hands a message on. */
static bool step(void)
{
        sd_bus_message *message = NULL;

        CHECK(dn__connection_step(&connection, &message) >= 0);
        if (message)
                dn__peers_handle(&peers, message);
        sd_bus_message_unref(message);
        return true;
}

static void begin(dn__peer_query query)
{
        dn__address address = {0};

        bus = test_bus_begin();
        CHECK_EQ(dn__address_resolve(test_bus_address(bus), &address), 0);
        CHECK_EQ(dn__connection_open(&connection, &address), 0);
        dn__peers_init(&peers, &connection, query);
        WAIT_UNTIL(step() && dn__connection_is_ready(&connection));
        other = test_peer_open(test_bus_address(bus));
        dn__address_deinit(&address);
}

static void end(void)
{
        dn__peers_deinit(&peers);
        dn__connection_close(&connection);
}

static dn__post post_of(const char *text)
{
        dn__post post = {0};

        CHECK_EQ(dn__name_init(&post.name, text, DN__REACH_BEYOND), 0);
        return post;
}

TEST_ON_BUS(theBusKnowsTheUserOfAConnection)
{
        dn__peer *peer;

        begin(DN__PEER_USER);
        peer = dn__peers_get(&peers, test_peer_unique_name(other));
        CHECK(peer->call && !peer->is_known);
        WAIT_UNTIL(step() && !peer->call);
        CHECK(peer->is_known);
        CHECK_EQ(peer->id, geteuid());
        CHECK(dn__peers_get(&peers, test_peer_unique_name(other)) == peer);
        CHECK(!peer->call); /* it is not asked again */
        end();
}

TEST_ON_BUS(theBusKnowsTheProcessAndItsProgramIsFound)
{
        dn__peer *peer;

        begin(DN__PEER_PROCESS);
        peer = dn__peers_get(&peers, test_peer_unique_name(other));
        WAIT_UNTIL(step() && !peer->call);
        CHECK_EQ(peer->id, (uint32_t)getpid());
        CHECK_STREQ(peer->program, program_invocation_short_name);
        end();
}

TEST_ON_BUS(aConnectionThatHasClosedIsNotKnown)
{
        dn__peer *peer;

        begin(DN__PEER_USER);
        peer = dn__peers_get(&peers, ":1.4000000");
        WAIT_UNTIL(step() && !peer->call);
        CHECK(!peer->is_known);
        end();
}

static int note_answer(sd_bus_message *answer, void *context, sd_bus_error *error)
{
        *(bool *)context = true;
        return 1;
}

/* Its process may be gone when its post is read. */
TEST_ON_BUS(newConnectionsAreAskedAboutAtOnceAndForgottenWhenTheyClose)
{
        test_peer *late;
        bool is_followed = false;

        begin(DN__PEER_USER);
        CHECK_EQ(dn__peers_follow(&peers, note_answer, &is_followed, NULL), 0);
        WAIT_UNTIL(step() && is_followed);
        late = test_peer_open(test_bus_address(bus));
        WAIT_UNTIL(step() && peers.by_name.n_entries == 1);
        test_peer_close(late);
        WAIT_UNTIL(step() && peers.by_name.n_entries == 0);
        end();
}

static const char *oldest_name(void)
{
        return DN__CONTAINER(peers.by_age.next, dn__peer, link)->name;
}

TEST_ON_BUS(theOldestConnectionThatNoPostWaitsForMakesRoomForAnother)
{
        char name[32];

        begin(DN__PEER_USER);
        for (unsigned i = 0; i <= DN__PEERS_MAX; i++) {
                snprintf(name, sizeof name, ":9.%u", i);
                CHECK(dn__peers_get(&peers, name) != NULL);
                if (i + 1 == DN__PEERS_MAX)
                        CHECK_STREQ(oldest_name(), ":9.0");
        }
        CHECK_EQ(peers.by_name.n_entries, DN__PEERS_MAX);
        CHECK_STREQ(oldest_name(), ":9.1");
        DN__LIST_EACH(dn__peer, peer, &peers.by_age, link)
                peer->n_posts++;
        CHECK(!dn__peers_get(&peers, ":9.0"));
        DN__LIST_EACH(dn__peer, peer, &peers.by_age, link)
                peer->n_posts--;
        CHECK(dn__peers_get(&peers, ":9.0"));
        end();
}

TEST_ON_BUS(aPeerOutlivesItsConnectionWhileItsPostsWait)
{
        dn__waiting waiting;
        dn__waiting_post *first;
        dn__post post = post_of("N");

        begin(DN__PEER_USER);
        dn__waiting_init(&waiting);
        dn__peer *peer = dn__peers_get(&peers, test_peer_unique_name(other));
        CHECK_EQ(dn__waiting_add(&waiting, &post, peer), 0);
        CHECK_EQ(dn__waiting_get_until(&waiting), peer->until_us);
        dn__peers_forget(&peers, peer);
        first = dn__waiting_first(&waiting);
        CHECK(first->peer == peer);
        CHECK_EQ(dn__waiting_get_until(&waiting), 0); /* there will be no answer */
        dn__waiting_take(&waiting, first);
        dn__waiting_post_free(first);
        dn__waiting_deinit(&waiting);
        end();
}

TEST_NO_BUS(postsWaitInTheOrderOfTheirArrivalAsCopies)
{
        dn__waiting waiting;
        char text[] = "a";

        dn__waiting_init(&waiting);
        CHECK_EQ(dn__waiting_get_until(&waiting), DN__NEVER);
        for (text[0] = 'a'; text[0] <= 'c'; text[0]++) {
                dn__post post = post_of(text);
                CHECK_EQ(dn__waiting_add(&waiting, &post, NULL), 0);
        }
        for (const char *expected = "abc"; *expected; expected++) {
                dn__waiting_post *first = dn__waiting_first(&waiting);
                CHECK_EQ(first->post.name.text[0], *expected);
                dn__waiting_take(&waiting, first);
                dn__waiting_post_free(first);
        }
        CHECK(!dn__waiting_first(&waiting));
        dn__waiting_deinit(&waiting);
}

TEST_MAIN()
