/* The sending of posts: at once, gathered, or when there is a bus. */
#include "inside.h"
#include "lone-carrier.h"

#define NOWHERE "unix:path=/nonexistent/bus"

static dn__carrier_status status_of(lone_carrier *self)
{
        return dn__carrier_get_status(self->carrier);
}

/* As a post connects, but a machine that stands still may take longer than a post waits. */
static void await_connection(lone_carrier *self)
{
        uint64_t deadline_us = 0;

        CHECK_EQ(dn__dbus_begin(dn__dbus_of(self->carrier), &deadline_us), 0);
        WAIT_UNTIL(status_of(self).is_connected);
}

TEST_ON_BUS(postsAreWrittenAtOnceAndInOrder)
{
        static lone_carrier self;
        test_peer *peer = test_peer_begin();

        lone_open(&self, &dn__wire_darwin, NULL);
        await_connection(&self);
        for (int i = 0; i < 5; i++)
                CHECK_EQ(lone_post(&self, FORMAT("N.%d", i), false), 0);
        CHECK_EQ(status_of(&self).n_sent, 5);
        CHECK_EQ(status_of(&self).n_pending, 0);
        for (int i = 0; i < 5; i++)
                test_peer_expect(peer, FORMAT("N.%d", i));
        lone_close(&self);
}

TEST_NO_BUS(postsWithoutABusWaitOnceForEachName)
{
        static lone_carrier self;

        lone_open(&self, &dn__wire_darwin, NOWHERE);
        for (int i = 0; i < 3; i++) {
                CHECK_EQ(lone_post(&self, "A", false), DN_NOT_CONNECTED);
                CHECK_EQ(lone_post(&self, "B", false), DN_NOT_CONNECTED);
        }
        CHECK_EQ(status_of(&self).n_pending, 2);
        CHECK_EQ(status_of(&self).n_sent, 0);
        CHECK_EQ(dn__carrier_flush(self.carrier, 0), -ENOTCONN);
        lone_close(&self);
}

TEST_NO_BUS(queuedPostsWithoutABusWaitEachByItself)
{
        static lone_carrier self;

        lone_open(&self, &dn__wire_distributed, NOWHERE);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(lone_post(&self, "A", true), DN_NOT_CONNECTED);
        CHECK_EQ(status_of(&self).n_pending, 3);
        lone_close(&self);
}

TEST_ON_BUS(postsThatGatherAreSentWithTheirNamesInOrder)
{
        static lone_carrier self;
        test_peer *peer = test_peer_begin();

        lone_open(&self, &dn__wire_darwin, NULL);
        await_connection(&self);
        CHECK_EQ(lone_post(&self, "first", false), 0);
        test_peer_expect(peer, "first");
        dbus_set_gathering(dn__dbus_of(self.carrier), true);
        for (int i = 0; i < 20; i++)
                CHECK_EQ(lone_post(&self, FORMAT("N.%d", i), false), 0);
        CHECK_EQ(status_of(&self).n_sent, 1);
        CHECK_EQ(status_of(&self).n_pending, 20);
        dbus_set_gathering(dn__dbus_of(self.carrier), false);
        for (int i = 0; i < 20; i++)
                test_peer_expect(peer, FORMAT("N.%d", i));
        WAIT_UNTIL_EQ(status_of(&self).n_sent, 21);
        lone_close(&self);
}

/* Names that no longer fit wait behind it, once each. */
TEST_ON_BUS(postsBeyondTheOutboxAreMergedByName)
{
        enum { N_NAMES = 4, N_POSTS = 200 };
        static lone_carrier self;
        test_peer *peer = test_peer_begin();
        uint64_t n_gathered;

        lone_open(&self, &dn__wire_darwin, NULL);
        await_connection(&self);
        CHECK_EQ(lone_post(&self, "first", false), 0);
        test_peer_expect(peer, "first");
        dbus_set_gathering(dn__dbus_of(self.carrier), true);
        for (int i = 0; i < N_POSTS; i++)
                CHECK_EQ(lone_post(&self, FORMAT("N.%d", i % N_NAMES), false), 0);
        n_gathered = status_of(&self).n_pending - N_NAMES;
        CHECK(n_gathered > N_NAMES && n_gathered < N_POSTS);
        dbus_set_gathering(dn__dbus_of(self.carrier), false);
        WAIT_UNTIL_EQ(status_of(&self).n_sent, 1 + n_gathered + N_NAMES);
        CHECK_EQ(status_of(&self).n_pending, 0);
        lone_close(&self);
}

TEST_ON_BUS(queuedPostsOfANameAreNumbered)
{
        static lone_carrier self;

        test_bus_begin();
        lone_open(&self, &dn__wire_distributed, NULL);
        lone_start(&self);
        lone_subscribe(&self, "N");
        for (int i = 0; i < 3; i++)
                CHECK_EQ(lone_post(&self, "N", true), 0);
        WAIT_UNTIL_EQ(self.n_posts, 3);
        for (unsigned i = 0; i < 3; i++) {
                CHECK(self.posts[i].is_own);
                CHECK_EQ(self.posts[i].number, i + 1);
        }
        lone_close(&self);
}

/* What the bus has not read is lost with it, and reported once. */
TEST_ON_BUS(postsThatTheBusHasNotReadAreReportedAsLost)
{
        static lone_carrier self;
        test_bus *bus = test_bus_begin();

        lone_open(&self, &dn__wire_darwin, NULL);
        await_connection(&self);
        CHECK_EQ(lone_post(&self, "N", false), 0);
        CHECK_EQ(dn__carrier_flush(self.carrier, dn__clock_after_us(TEST_DEADLINE_US)), 0);
        CHECK_EQ(dn__carrier_take_loss(self.carrier), 0);
        test_bus_pause(bus);
        CHECK_EQ(lone_post(&self, "N", false), 0);
        test_bus_kill(bus);
        WAIT_UNTIL_EQ(status_of(&self).n_losses, 1);
        CHECK_EQ(dn__carrier_take_loss(self.carrier), -ENOTCONN);
        CHECK_EQ(dn__carrier_take_loss(self.carrier), 0);
        lone_close(&self);
}

TEST_MAIN()
