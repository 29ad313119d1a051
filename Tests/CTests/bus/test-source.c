/* The D-Bus carrier in its loop: it connects, comes back after a loss, and closes. */
#include "inside.h"
#include "lone-carrier.h"

TEST_ON_BUS(aConnectionIsReportedOnce)
{
        static lone_carrier self;

        test_bus_begin();
        lone_open(&self, &dn__wire_darwin, NULL);
        CHECK_EQ(self.n_changes, 0);
        lone_start(&self);
        lone_start(&self);
        WAIT_UNTIL_EQ(self.n_changes, 1);
        WAIT_UNTIL_EQ(self.n_missed, 1); /* once the bus has answered all queries */
        CHECK(dn__carrier_get_status(self.carrier).is_connected);
        lone_close(&self);
        CHECK_EQ(self.n_changes, 1);
}

TEST_ON_BUS(theNextConnectionHasTheRulesOfTheOneThatWasLost)
{
        static lone_carrier self;
        test_bus *bus = test_bus_begin();
        test_peer *peer;

        lone_open(&self, &dn__wire_darwin, NULL);
        lone_start(&self);
        lone_subscribe(&self, "N");
        test_bus_kill(bus);
        WAIT_UNTIL_EQ(self.n_changes, 2);
        CHECK(!dn__carrier_get_status(self.carrier).is_connected);
        test_bus_start_again(bus);
        WAIT_UNTIL_EQ(self.n_changes, 3);
        WAIT_UNTIL(dbus_has_all_rules(dn__dbus_of(self.carrier)));
        peer = test_peer_open(test_bus_address(bus));
        test_peer_post(peer, "N");
        WAIT_UNTIL_EQ(self.n_posts, 1);
        lone_close(&self);
}

/* From 10 milliseconds to 5 seconds. */
TEST_NO_BUS(attemptsWithoutABusBecomeRarer)
{
        static lone_carrier self;
        dn__dbus *dbus;

        lone_open(&self, &dn__wire_darwin, "unix:path=/nonexistent/bus");
        dbus = dn__dbus_of(self.carrier);
        CHECK_EQ(dbus_get_backoff_us(dbus), DN__BACKOFF_MIN_US);
        lone_start(&self);
        WAIT_UNTIL(dbus_get_backoff_us(dbus) >= 8 * DN__BACKOFF_MIN_US);
        CHECK_EQ(self.n_changes, 0);
        lone_close(&self);
}

TEST_ON_BUS(aClosingCarrierSendsWhatWaits)
{
        static lone_carrier self;
        test_peer *peer = test_peer_begin();

        lone_open(&self, &dn__wire_darwin, NULL);
        CHECK_EQ(lone_post(&self, "before", false), 0);
        dbus_set_gathering(dn__dbus_of(self.carrier), true);
        CHECK_EQ(lone_post(&self, "last", false), 0);
        dbus_set_gathering(dn__dbus_of(self.carrier), false);
        lone_close(&self);
        test_peer_await(peer, "last", NULL);
}

TEST_NO_BUS(aCarrierThatNeverStartedClosesAtOnce)
{
        static lone_carrier self;

        lone_open(&self, &dn__wire_darwin, "unix:path=/nonexistent/bus");
        dn__carrier_close(self.carrier);
        CHECK(self.is_freed);
        CHECK_EQ(self.n_closed, 1);
}

TEST_MAIN()
