/* The reading of messages: posts, those of other tables, and all that are none. */
#include <sys/ioctl.h>
#include <unistd.h>

#include "bus/state.h"
#include "lone-carrier.h"

static test_peer *peer;
static char interface[TEST_INTERFACE_BYTES];

/* Holds "N", which another program posts. */
static void begin(lone_carrier *self)
{
        test_bus *bus = test_bus_begin();

        peer = test_peer_open(test_bus_address(bus));
        test_wire_interface("N", interface);
        lone_open(self, &dn__wire_darwin, NULL);
        lone_start(self);
        lone_subscribe(self, "N");
}

TEST_ON_BUS(aSignalBecomesAPostOfItsSender)
{
        static lone_carrier self;

        begin(&self);
        test_peer_post(peer, "N");
        WAIT_UNTIL_EQ(self.n_posts, 1);
        CHECK_STREQ(self.posts[0].name, "N");
        CHECK_STREQ(self.posts[0].sender, test_peer_unique_name(peer));
        CHECK(!self.posts[0].is_own);
        CHECK_EQ(self.n_other_tables, 0);
        CHECK_EQ(dn__carrier_get_status(self.carrier).n_received, 1);
        lone_close(&self);
}

TEST_ON_BUS(ownSignalsAreRecognized)
{
        static lone_carrier self;

        begin(&self);
        CHECK_EQ(lone_post(&self, "N", false), 0);
        WAIT_UNTIL_EQ(self.n_posts, 1);
        CHECK(self.posts[0].is_own);
        lone_close(&self);
}

TEST_ON_BUS(postsOfOtherTablesAreAnnouncedBeforeTheyArrive)
{
        static lone_carrier self;

        begin(&self);
        dn__carrier_set_region(self.carrier, 7);
        test_peer_post_full(peer, interface, "N", 5, 7);
        WAIT_UNTIL_EQ(self.n_posts, 1);
        CHECK_EQ(self.n_other_tables, 0);
        test_peer_post_full(peer, interface, "N", 6, 8);
        WAIT_UNTIL_EQ(self.n_posts, 2);
        CHECK_EQ(self.n_other_tables, 1);
        CHECK(self.posts[1].is_after_other_table);
        CHECK_EQ(self.posts[1].generation, 6);
        lone_close(&self);
}

TEST_ON_BUS(whatIsNoPostIsCountedAndIgnored)
{
        static lone_carrier self;
        dn__carrier_status status;

        begin(&self);
        test_peer_post_values(peer, TEST_WIRE_PATH, interface, TEST_WIRE_MEMBER, "u", 1);
        test_peer_post_name(peer, interface, "another name");
        test_peer_post(peer, "N");
        WAIT_UNTIL_EQ(self.n_posts, 1);
        status = dn__carrier_get_status(self.carrier);
        CHECK(status.n_ignored > 0);
        CHECK_EQ(status.n_received, 1);
        lone_close(&self);
}

/* The bus may have dropped others for a reader that was too slow. */
TEST_ON_BUS(aBurstMakesTheTableBeLookedAtOnce)
{
        static lone_carrier self;
        unsigned n_before;

        begin(&self);
        WAIT_UNTIL(self.n_missed > 0); /* of the new connection */
        n_before = self.n_missed;
        for (int i = 0; i < 40; i++)
                test_peer_post(peer, "N");
        WAIT_UNTIL_EQ(self.n_posts, 40);
        WAIT_UNTIL(self.n_missed > n_before);
        lone_close(&self);
}

static bool has_unread(dn__dbus *dbus) DN__REQUIRES(&dbus->lock)
{
        int n_bytes = 0;

        return ioctl(sd_bus_get_fd(dbus->connection.bus), FIONREAD, &n_bytes) == 0 && n_bytes > 0;
}

static size_t count_waiting(dn__dbus *dbus)
{
        DN__AUTO_LOCK(&dbus->lock);
        return dbus->waiting.n_posts;
}

/* The first post of a sender waits until its user is known; the next one need not. Under the lock
 * the carrier reads nothing, so that it then finds the answer and the next post together. */
static void post_twice(lone_carrier *self, test_bus *bus, const char *name)
{
        test_peer *sender = test_peer_open(test_bus_address(bus));
        dn__dbus *dbus = dn__dbus_of(self->carrier);
        unsigned n_posts = self->n_posts;

        dn__lock_acquire(&dbus->lock);
        test_peer_post_full(sender, interface, name, 1, 7);
        WAIT_UNTIL(has_unread(dbus));
        test_bus_pause(bus);
        dn__lock_release(&dbus->lock);
        WAIT_UNTIL_EQ(count_waiting(dbus), 1);
        dn__lock_acquire(&dbus->lock);
        test_bus_resume(bus);
        test_peer_post_full(sender, interface, name, 2, 7);
        test_peer_sync(sender);
        dn__lock_release(&dbus->lock);
        WAIT_UNTIL_EQ(self->n_posts, n_posts + 2);
        CHECK_EQ(self->posts[n_posts].generation, 1);
        CHECK_EQ(self->posts[n_posts + 1].generation, 2);
        test_peer_close(sender);
}

TEST_ON_BUS(aPostDoesNotOvertakeAnEarlierOneWhoseSenderWasUnknown)
{
        static lone_carrier self;
        const char *name = FORMAT("user.uid.%u.x", geteuid());
        test_bus *bus = test_bus_begin();

        test_wire_interface(name, interface);
        lone_open(&self, &dn__wire_darwin, NULL);
        lone_start(&self);
        lone_subscribe(&self, name);
        for (int i = 0; i < 3; i++) /* each sender is new */
                post_twice(&self, bus, name);
        lone_close(&self);
}

/* The bus no longer knows its user; but the table may have counted the post. */
TEST_ON_BUS(aPostOfASenderThatHasGoneMakesTheTableBeLookedAt)
{
        static lone_carrier self;
        const char *name = FORMAT("user.uid.%u.x", geteuid());
        test_bus *bus = test_bus_begin();
        test_peer *sender = test_peer_open(test_bus_address(bus));
        dn__dbus *dbus;
        unsigned n_before;

        test_wire_interface(name, interface);
        lone_open(&self, &dn__wire_darwin, NULL);
        lone_start(&self);
        lone_subscribe(&self, name);
        dbus = dn__dbus_of(self.carrier);
        WAIT_UNTIL(self.n_missed > 0); /* of the new connection */
        peer = test_peer_open(test_bus_address(bus));
        dn__lock_acquire(&dbus->lock);
        n_before = self.n_missed;
        test_peer_post_full(sender, interface, name, 1, 7);
        WAIT_UNTIL(has_unread(dbus));
        const char *sender_name = FORMAT("%s", test_peer_unique_name(sender));
        test_peer_close(sender);
        WAIT_UNTIL(!test_peer_sees(peer, sender_name));
        dn__lock_release(&dbus->lock);
        WAIT_UNTIL(self.n_missed > n_before);
        CHECK_EQ(self.n_posts, 0);
        lone_close(&self);
}

TEST_MAIN()
