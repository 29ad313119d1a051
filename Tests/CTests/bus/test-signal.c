/* The form of a post on the bus. */
#include "roles.h"
#include "tally.h"

TEST_ON_BUS(postIsOneSignalInTheDocumentedForm)
{
        test_peer *peer = test_peer_begin();
        test_signal seen;

        post_ok(dn_center_darwin(), "com.example.my-app.changed");
        post_ok(dn_center_darwin(), "next");
        test_peer_next(peer, &seen);
        CHECK_STREQ(seen.path, "/org/darwinnotify/Darwin1");
        CHECK_STREQ(seen.interface, "org.darwinnotify.Darwin1.com.example.my_2dapp.changed");
        CHECK_STREQ(seen.member, "Posted");
        CHECK_STREQ(seen.signature, "stt");
        CHECK_STREQ(seen.name, "com.example.my-app.changed");
        test_peer_expect(peer, "next");
}

TEST_ON_BUS(nameOfAnyLengthArrivesComplete)
{
        test_peer *peer = test_peer_begin();
        char name[DN_NAME_MAX_BYTES + 1] = "";
        test_signal seen;

        for (size_t n = 1; n <= DN_NAME_MAX_BYTES; n++) {
                name[n - 1] = n % 7 ? 'a' : '-';
                post_ok(dn_center_darwin(), name);
                test_peer_next(peer, &seen);
                CHECK_STREQ(seen.name, name);
                CHECK_STREQ(seen.signature, "stt");
        }
}

TEST_ON_BUS(generationCountsThePostsOfAnObservedName)
{
        test_peer *peer = test_peer_begin();
        test_signal first, next;
        static tally seen = {0};

        tally_observe(dn_center_darwin(), "N", &seen);
        post_ok(dn_center_darwin(), "N");
        test_peer_next(peer, &first);
        CHECK(first.region != 0);
        for (unsigned i = 1; i <= 10; i++) {
                if (i % 2)
                        post_elsewhere("N", 1, "_exit");
                else
                        post_ok(dn_center_darwin(), "N");
                test_peer_next(peer, &next);
                CHECK_EQ(next.generation, first.generation + i);
                CHECK(next.region == first.region);
        }
}

TEST_ON_BUS(replayedSignalOfTheOwnRegionIsDropped)
{
        test_peer *peer = test_peer_begin();
        test_signal own;
        static tally seen = {0};

        tally_observe(dn_center_darwin(), "N", &seen);
        post_ok(dn_center_darwin(), "N");
        test_peer_next(peer, &own);
        WAIT_UNTIL_EQ(seen.n_posts, 1);
        test_peer_post_full(peer, own.interface, "N", own.generation, own.region);
        test_peer_post_full(peer, own.interface, "N", own.generation + 1000, own.region);
        fence_bus(peer);
        CHECK_EQ(seen.n_posts, 1); /* the table counts one, whatever a signal says */
        post_ok(dn_center_darwin(), "N");
        WAIT_UNTIL_EQ(seen.n_posts, 2);
}

TEST_ON_BUS(signalsOfOtherRegionsAreDeliveredOneByOne)
{
        test_peer *peer = test_peer_begin();
        char interface[TEST_INTERFACE_BYTES];
        static tally seen = {0};

        test_wire_interface("N", interface);
        tally_observe(dn_center_darwin(), "N", &seen);
        for (unsigned i = 1; i <= 5; i++)
                test_peer_post_full(peer, interface, "N", 7, 12345);
        for (unsigned i = 1; i <= 5; i++)
                test_peer_post_full(peer, interface, "N", 0, 0);
        WAIT_UNTIL_EQ(seen.n_posts, 10);
        fence_bus(peer);
        CHECK_EQ(seen.n_posts, 10);
}

TEST_ON_BUS(malformedSignalsAreIgnored)
{
        test_peer *peer = test_peer_begin();
        char interface[TEST_INTERFACE_BYTES], other[TEST_INTERFACE_BYTES];
        static tally seen = {0};

        test_wire_interface("N", interface);
        test_wire_interface("M", other);
        tally_observe(dn_center_darwin(), "N", &seen);
        test_peer_post_name(peer, interface, "M");
        test_peer_post_name(peer, other, "N");
        test_peer_post_values(peer, TEST_WIRE_PATH, interface, "Unknown", "s", "N");
        test_peer_post_values(peer, "/org/darwinnotify/Other", interface, TEST_WIRE_MEMBER, "s",
                              "N");
        test_peer_post_values(peer, TEST_WIRE_PATH, "org.example.N", TEST_WIRE_MEMBER, "s", "N");
        fence_bus(peer);
        CHECK_EQ(seen.n_posts, 0);
        test_peer_post_name(peer, interface, "N");
        WAIT_UNTIL_EQ(seen.n_posts, 1);
}

TEST_ON_BUS(oneRulePerNameHoweverManyObservers)
{
        test_peer *peer = test_peer_begin();
        const char *own = own_name(peer);
        static tally seen = {0};
        long n_rules = test_peer_n_rules(peer, own);

        SKIP_IF(n_rules < 0, "this bus does not report how many rules it has");
        for (int i = 0; i < 100; i++) {
                tally_observe(dn_center_darwin(), "N", &seen);
                tally_observe(dn_center_darwin(), "M", &seen);
        }
        CHECK_EQ(test_peer_n_rules(peer, own), n_rules + 2);
}

#define N_SHORT_LIVED 600

/* A name that was just let go keeps its rule for a moment, but not any number of them. */
TEST_ON_BUS(manyNamesOfShortLifeKeepFewRules)
{
        test_peer *peer = test_peer_begin();
        const char *own = own_name(peer);
        static tally seen = {0};

        SKIP_IF(test_peer_n_rules(peer, own) < 0, "this bus does not report how many rules it has");
        for (unsigned i = 0; i < N_SHORT_LIVED; i++)
                tally_drop(tally_observe(dn_center_darwin(), numbered("short", i), &seen));
        CHECK(test_peer_n_rules(peer, own) <= N_SHORT_LIVED / 2);
}

TEST_MAIN()
