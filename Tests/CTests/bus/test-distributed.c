/* What the distributed center sends to the bus and accepts from it. */
#include <darwinnotify/darwinnotify.h>
#include <stdio.h>
#include <unistd.h>

#include "record.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"
#include "test-peer.h"

#define PATH "/org/darwinnotify/Distributed1"
#define PREFIX "org.darwinnotify.Distributed1."
#define NAME "com.example.changed"
#define ALL_OF(signature, ...)                                                                     \
        test_peer_post_values(peer, PATH, PREFIX NAME, "Posted", signature, __VA_ARGS__)

enum { IMMEDIATE = 1, ALL_SESSIONS = 2, OBJECT = 4, USER_INFO = 8 };

static uint64_t count(int statistic)
{
        return statistic_of(dn_center_distributed(), statistic);
}

/* --- Writing ------------------------------------------------------------------------------- */

TEST_ON_BUS(eachPostIsOneSignalThatAnyProgramCanRead)
{
        test_bus *bus = test_bus_begin();
        char address[300], output[8192];
        const char *argv[] = { "dbus-monitor", "--address", NULL, "path='" PATH "'", NULL };
        test_child *monitor;
        const char *line;

        snprintf(address, sizeof(address), "%s", test_bus_address(bus));
        argv[2] = address;
        monitor = test_spawn_program(argv);
        /* Receiving its own signal shows that its rule is active. */
        do
                line = test_child_read_line(monitor);
        while (!strstr(line, "NameLost"));
        CHECK_EQ(post_number(dn_center_distributed(), NAME, "x", 7), 0);
        output[0] = '\0';
        do {
                line = test_child_read_line(monitor);
                strncat(output, line, sizeof(output) - strlen(output) - 1);
        } while (!strstr(line, "uint64 1"));
        CHECK(strstr(output, "interface=" PREFIX NAME));
        CHECK(strstr(output, "member=Posted"));
        CHECK(strstr(output, "string \"" NAME "\""));
        CHECK(strstr(output, "uint32 12"));
        CHECK(strstr(output, "string \"x\""));
        CHECK(strstr(output, "string \"i\""));
        CHECK(strstr(output, "int64 7"));
}

/* --- Reading ------------------------------------------------------------------------------- */

TEST_ON_BUS(otherProgramsCanPost)
{
        test_peer *peer = test_peer_open(test_bus_address(test_bus_begin()));
        static record seen;

        record_observe(dn_center_distributed(), &(dn_filter){ .name = NAME }, &seen);
        ALL_OF("s", NAME);
        ALL_OF("su", NAME, ALL_SESSIONS | 1u << 31);
        ALL_OF("sus", NAME, OBJECT, "x");
        ALL_OF("sus", NAME, 0, "ignored");
        ALL_OF("susa{sv}", NAME, USER_INFO, "", 1, "i", "i", -1);
        ALL_OF("susa{sv}", NAME, OBJECT | USER_INFO, "x", 2, "b", "b", 1, "o", "o", "/path");
        ALL_OF("susa{sv}", NAME, 0, "", 1, "i", "i", 1);
        ALL_OF("susa{sv}ts", NAME, 0, "", 0, (uint64_t)0, "more");
        record_expect(&seen, 8,
                      NAME "\n" NAME "\n" NAME " @x\n" NAME "\n" NAME " {\"i\": -1}\n" NAME
                           " @x {\"b\": true, \"o\": \"/path\"}\n" NAME "\n" NAME "\n");
}

TEST_ON_BUS(signalsThatDoNotFitAreIgnored)
{
        test_peer *peer = test_peer_open(test_bus_address(test_bus_begin()));
        static record seen;
        uint64_t n_before;

        record_observe(dn_center_distributed(), &(dn_filter){ 0 }, &seen);
        n_before = count(DN_STATISTIC_SIGNALS_IGNORED);
        ALL_OF("", "");
        ALL_OF("u", 1);
        ALL_OF("s", "com.example.other");
        ALL_OF("s", "self.x");
        ALL_OF("s", "");
        ALL_OF("st", NAME, (uint64_t)OBJECT);
        ALL_OF("ssu", NAME, "x", OBJECT);
        ALL_OF("susa{sv}h", NAME, 0, "", 0, 0);
        ALL_OF("susa{sv}", NAME, USER_INFO, "", 1, "h", "h", 0);
        ALL_OF("susa{sv}", NAME, USER_INFO, "", 1, "k", "a{is}", 1, 1, "x");
        test_peer_post_values(peer, PATH, PREFIX NAME, "Unknown", "s", NAME);
        WAIT_UNTIL_EQ(count(DN_STATISTIC_SIGNALS_IGNORED) - n_before, 11);
        ALL_OF("s", NAME);
        record_expect(&seen, 1, NAME "\n");
}

/* --- Numbers ------------------------------------------------------------------------------- */

static void post_numbered(test_peer *peer, const char *name, uint64_t number)
{
        const char *interface = FORMAT(PREFIX "%s", name);

        test_peer_post_values(peer, PATH, interface, "Posted", "susa{sv}t", name, 0, "", 0, number);
        test_peer_sync(peer);
}

/* Each process counts the posts of each name. */
TEST_ON_BUS(aGapInTheNumbersIsReportedAsDropped)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        test_peer *other = test_peer_open(test_bus_address(bus));
        static record seen;

        record_observe(dn_center_distributed(), &(dn_filter){ .prefix = "com." }, &seen);
        post_numbered(peer, "com.a", 10);
        post_numbered(peer, "com.a", 11);
        post_numbered(peer, "com.a", 14);
        post_numbered(peer, "com.b", 1);
        post_numbered(other, "com.a", 20);
        post_numbered(other, "com.a", 22);
        post_numbered(peer, "com.a", 15);
        record_expect(&seen, 7, "com.a\ncom.a\ncom.a -2\ncom.b\ncom.a\ncom.a -1\ncom.a\n");
}

/* Until the bus has said who posts a reserved name, 64 of its posts wait; more are dropped. */
TEST_ON_BUS(postsDroppedBeforeTheirSenderIsKnownAreReportedAsDropped)
{
        dn_center *poster = open_distributed(test_bus_address(test_bus_begin()));
        dn_center *center = dn_center_distributed();
        const char *name = FORMAT("user.uid.%u.x", (unsigned)geteuid());
        static record seen, blocking;

        record_observe(center, &(dn_filter){ .name = name }, &seen);
        record_init(&blocking);
        blocking.blocks = true;
        /* On the thread that reads. */
        CHECK_EQ(dn_center_observe(center, NAME, RECORD_HANDLER(&blocking), dn_executor_inline(),
                                   NULL),
                 0);
        CHECK_EQ(post_number(poster, NAME, NULL, 0), 0);
        WAIT_UNTIL_EQ(blocking.n_calls, 1);
        for (int i = 0; i < 100; i++)
                CHECK_EQ(post_number(poster, name, NULL, i), 0);
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        blocking.blocks = false;
        WAIT_UNTIL_EQ(seen.n_calls, 64);
        CHECK_EQ(seen.n_dropped, 0);
        CHECK_EQ(post_number(poster, name, NULL, 100), 0);
        WAIT_UNTIL_EQ(seen.n_calls, 65);
        CHECK_EQ(seen.n_dropped, 36);
}

/* The bus gives out the names of connections anew. */
TEST_ON_BUS(numbersOfAnotherBusAreNoGap)
{
        enum { N_PEERS = 6 };
        test_bus *bus = test_bus_begin();
        test_peer *peers[N_PEERS];
        static record seen;

        record_observe(dn_center_distributed(), &(dn_filter){ .name = "com.a" }, &seen);
        for (int round = 0; round < 2; round++) {
                for (int i = 0; i < N_PEERS; i++)
                        peers[i] = test_peer_open(test_bus_address(bus));
                for (int i = 0; i < N_PEERS; i++)
                        WAIT_UNTIL((post_numbered(peers[i], "com.a", 10 + 10 * round),
                                    seen.n_calls > (uint64_t)(N_PEERS * round + i)));
                for (int i = 0; i < N_PEERS; i++)
                        test_peer_close(peers[i]);
                if (round == 0) {
                        test_bus_kill(bus);
                        test_bus_start_again(bus);
                        WAIT_UNTIL_EQ(count(DN_STATISTIC_CONNECTS), 2);
                }
        }
        CHECK_EQ(seen.n_dropped, 0);
}

TEST_ON_BUS(postsThatNobodyObservesAreNoGap)
{
        test_peer *peer = test_peer_open(test_bus_address(test_bus_begin()));
        dn_center *center = dn_center_distributed();
        dn_observer *observer;
        static record seen;

        observer = record_observe(center, &(dn_filter){ .name = "com.a" }, &seen);
        post_numbered(peer, "com.a", 1);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        record_drop(observer, &seen);
        WAIT_UNTIL_EQ(count(DN_STATISTIC_NAMES), 0); /* the rule of a name lingers */
        post_numbered(peer, "com.a", 2);
        observer = record_observe(center, &(dn_filter){ .name = "com.a" }, &seen);
        post_numbered(peer, "com.a", 3);
        record_expect(&seen, 1, "com.a\n");
}

/* Drops an observer, and waits until the rule of its name no longer lingers. */
static void drop_with_rule(dn_observer *observer, record *seen)
{
        uint64_t n_names = count(DN_STATISTIC_NAMES);

        record_drop(observer, seen);
        WAIT_UNTIL_EQ(count(DN_STATISTIC_NAMES), n_names - 1);
}

TEST_ON_BUS(aPrefixSeesAGapOfANameWhoseOwnObserverHasGone)
{
        test_peer *peer = test_peer_open(test_bus_address(test_bus_begin()));
        dn_center *center = dn_center_distributed();
        dn_observer *observer;
        static record all, one;

        record_observe(center, &(dn_filter){ .prefix = "com." }, &all);
        observer = record_observe(center, &(dn_filter){ .name = "com.a" }, &one);
        post_numbered(peer, "com.a", 1);
        WAIT_UNTIL(all.n_calls == 1 && one.n_calls == 1);
        drop_with_rule(observer, &one);
        post_numbered(peer, "com.a", 3);
        record_expect(&all, 2, "com.a\ncom.a -1\n");
}

TEST_ON_BUS(namesAndPrefixesSeeAGapOnceAnotherPrefixHasGone)
{
        test_peer *peer = test_peer_open(test_bus_address(test_bus_begin()));
        dn_center *center = dn_center_distributed();
        dn_observer *com, *org;
        static record of_com, of_org, one;

        com = record_observe(center, &(dn_filter){ .prefix = "com." }, &of_com);
        org = record_observe(center, &(dn_filter){ .prefix = "org." }, &of_org);
        record_observe(center, &(dn_filter){ .name = "com.a" }, &one);
        post_numbered(peer, "com.a", 1);
        post_numbered(peer, "org.b", 1);
        WAIT_UNTIL(one.n_calls == 1 && of_org.n_calls == 1);
        drop_with_rule(com, &of_com);
        post_numbered(peer, "com.a", 3);
        post_numbered(peer, "org.b", 3);
        record_expect(&of_org, 2, "org.b\norg.b -1\n");
        drop_with_rule(org, &of_org);
        post_numbered(peer, "org.b", 4); /* nobody observes it */
        post_numbered(peer, "com.a", 5);
        record_expect(&one, 3, "com.a\ncom.a -1\ncom.a -1\n");
        record_observe(center, &(dn_filter){ .prefix = "org." }, &of_org);
        post_numbered(peer, "org.b", 6);
        record_expect(&of_org, 1, "org.b\n");
}

/* --- The bus ------------------------------------------------------------------------------- */

static void post_number_soon(dn_center *center, int64_t number)
{
        int r = try_post_number(center, NAME, NULL, number);

        CHECK(r >= 0);
}

TEST_ON_BUS(postsWithoutABusAreSentInOrderWhenThereIsOne)
{
        enum { N = 1000 };
        test_bus *bus = test_bus_prepare(NULL);
        dn_observer *observer = NULL;
        static record seen;

        test_bus_use(bus);
        record_init(&seen);
        dn_center *poster = open_distributed(test_bus_address(bus));
        CHECK_EQ(try_post_number(poster, NAME, NULL, -1), DN_NOT_CONNECTED);
        CHECK_EQ(dn_center_observe(dn_center_distributed(), NAME, RECORD_HANDLER(&seen), NULL,
                                   &observer),
                 DN_NOT_CONNECTED);
        for (int i = 0; i < N; i++)
                post_number_soon(poster, i);
        test_bus_start_again(bus);
        /* Whichever connects first: the last posts are heard. */
        WAIT_UNTIL((post_number_soon(poster, N), seen.n_calls > 0));
        char *text = record_copy(&seen), *last = NULL;
        for (char *at = strstr(text, "\"i\": "); at; at = strstr(at + 1, "\"i\": ")) {
                CHECK(!last || atoi(last + 5) == N || atoi(at + 5) == atoi(last + 5) + 1);
                last = at;
        }
        free(text);
}

/* Until the rule is there again, nobody knows what was posted. */
TEST_ON_BUS(firstCallAfterARestartSaysThatPostsMayBeMissing)
{
        test_bus *bus = test_bus_begin();
        static record before, after;

        record_observe(dn_center_distributed(), &(dn_filter){ 0 }, &before);
        CHECK_EQ(post_number(dn_center_distributed(), NAME, NULL, 1), 0);
        WAIT_UNTIL_EQ(before.n_calls, 1);
        CHECK_EQ(before.n_may_have_missed, 0);
        test_bus_kill(bus);
        test_bus_start_again(bus);
        WAIT_UNTIL_EQ(count(DN_STATISTIC_CONNECTS), 2);
        record_observe(dn_center_distributed(), &(dn_filter){ 0 }, &after);
        for (uint64_t i = 1; i <= 2; i++) {
                CHECK_EQ(post_number(dn_center_distributed(), NAME, NULL, 1), 0);
                WAIT_UNTIL(before.n_calls == 1 + i && after.n_calls == i);
                CHECK_EQ(before.n_may_have_missed, 1);
        }
        CHECK_EQ(after.n_may_have_missed, 0);
}

TEST_ON_BUS(postsThatFillTheSocketWaitInOrder)
{
        enum { N = 3000 };
        test_bus *bus = test_bus_begin();
        dn_center *poster = open_distributed(test_bus_address(bus));
        static record seen;

        record_observe(dn_center_distributed(), &(dn_filter){ .name = NAME }, &seen);
        CHECK_EQ(post_number(poster, NAME, NULL, 0), 0);
        test_bus_pause(bus);
        for (int i = 1; i < N; i++)
                CHECK_EQ(post_number(poster, NAME, NULL, i), 0);
        test_bus_resume(bus);
        record_expect_numbers(&seen, N);
        CHECK_EQ(seen.n_dropped, 0);
}

TEST_ON_BUS(reservedNamesArePostedByTheirUser)
{
        dn_center *poster = open_distributed(test_bus_address(test_bus_begin()));
        const char *name = FORMAT("user.uid.%u.x", (unsigned)geteuid());
        static record seen;

        record_observe(dn_center_distributed(), &(dn_filter){ .name = name }, &seen);
        CHECK_EQ(post_number(poster, name, NULL, 1), 0);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
}

/* It does not wait for the connection, which its thread makes. */
static void post_at_once(void *center)
{
        CHECK(dn_center_post(center, NAME, NULL, NULL, 0) >= 0);
}

TEST_ON_BUS(theFirstPostMayComeFromTheThreadOfTheBus)
{
        dn_center *poster = open_distributed(test_bus_address(test_bus_begin()));
        static record seen;

        record_observe(dn_center_distributed(), &(dn_filter){ .name = NAME }, &seen);
        CHECK_EQ(dn_center_enqueue(poster, post_at_once, poster), 0);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
}

TEST_MAIN()
