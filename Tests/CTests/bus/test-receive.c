/* The reading of messages: posts, those of other tables, and all that are none. */
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
        lone_hold(self, "N");
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

TEST_MAIN()
