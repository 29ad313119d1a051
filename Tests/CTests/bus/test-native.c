/* Processes that share a table are silent to each other on the bus, and to nobody else. */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "asked.h"
#include "inside.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

#define TABLE_PATH TEST_WIRE_PATH "/t"
#define N_MEMBERS 6
#define N_STEPS 150

static test_bus *bus;
static _Atomic(test_bus *) bus_to_pause;
static _Atomic uint64_t n_requests;

/* Makes the bus refuse the name, or pauses it before it answers. */
static void on_call(const char *member, const char **destination, const char **argument)
{
        n_requests += strcmp(member, "RequestName") == 0;
        if (strcmp(member, "RequestName") == 0 && getenv("REFUSED"))
                *argument = "org.freedesktop.DBus"; /* only the bus may own it */
        if (bus_to_pause && strcmp(member, "ListNames") == 0)
                test_bus_pause(atomic_exchange(&bus_to_pause, NULL));
}

/* --- Processes of several worlds ------------------------------------------------------------- */

/* Of the two tables, and of none. A link to the socket makes an address of its own. */
enum { FIRST, SECOND, NOWHERE, N_WORLDS };

static char addresses[N_WORLDS][300];

static void begin(void)
{
        bus = test_bus_begin();
        snprintf(addresses[FIRST], sizeof addresses[FIRST], "%s", test_bus_address(bus));
        for (int world = SECOND; world < N_WORLDS; world++) {
                const char *path = FORMAT("%s/link%d", test_directory(), world);

                CHECK_EQ(symlink(test_bus_directory(bus),
                                 FORMAT("%s/world%d", test_directory(), world)),
                         0);
                unlink(path);
                CHECK_EQ(link(test_bus_path(bus), path), 0);
                snprintf(addresses[world], sizeof addresses[world], "unix:path=%s", path);
        }
}

/* The bus has answered a new query, so the connection is not one that was lost; and it has
 * confirmed all rules: a newcomer asks for those of several names in any order. */
static bool is_settled(void)
{
        static unsigned n_names;
        uint64_t began_us = test_now_us();
        dn_observer *observer = NULL;
        const char *name = numbered("settled", n_names++);

        if (dn_center_is_on_bus(dn_center_darwin()) != 1 ||
            dn_center_observe(dn_center_darwin(), name, &(dn_handler){.invoke = ignore_event}, NULL,
                              &observer) != 0)
                return false;
        tally_drop(observer);
        return !is_late(began_us) && dbus_has_all_rules(dbus_of(dn_center_darwin()));
}

static void observe_prefix_soon(const char *prefix, tally *seen)
{
        dn_observer *observer = NULL;
        int r = dn_center_observe_prefix(dn_center_darwin(), prefix, TALLY_HANDLER(seen), NULL,
                                         &observer);

        CHECK_EQ(r < 0 ? r : 0, 0);
}

/* Arguments: whether to observe a name or a prefix, or only to post. "post" posts, "posts" returns
 * how many posts were heard, "signals" how many signals arrived, "requests" how often the bus was
 * asked for a name, "settle" returns once the bus has handled all requests, "gather" keeps later
 * posts until "send". */
ROLE(member)
{
        static tally seen;
        char line[64];

        if (strcmp(args[0], "observe") == 0) {
                tally_observe_soon(dn_center_darwin(), "N", &seen);
                WAIT_UNTIL(is_settled());
        } else if (strcmp(args[0], "observe prefix") == 0) {
                observe_prefix_soon("N", &seen);
                WAIT_UNTIL(is_settled());
        } else {
                post_soon(dn_center_darwin(), "begin");
        }
        printf("ready\n");
        while (fgets(line, sizeof line, stdin)) {
                if (strcmp(line, "post\n") == 0) {
                        post_soon(dn_center_darwin(), "N");
                } else if (strcmp(line, "settle\n") == 0) {
                        WAIT_UNTIL(is_settled());
                } else if (strcmp(line, "gather\n") == 0 || strcmp(line, "send\n") == 0) {
                        dbus_set_gathering(dbus_of(dn_center_darwin()), line[0] == 'g');
                }
                uint64_t answer = seen.n_posts;
                if (strcmp(line, "signals\n") == 0)
                        answer = statistic(DN_STATISTIC_SIGNALS_RECEIVED);
                else if (strcmp(line, "requests\n") == 0)
                        answer = n_requests;
                printf("%llu\n", (unsigned long long)answer);
        }
        return 0;
}

static test_child *spawn_member(int world, const char *what)
{
        struct rlimit limit, small = { 1 << 20, 0 };
        test_child *child;

        CHECK_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
        small.rlim_max = limit.rlim_max;
        setenv("DBUS_SESSION_BUS_ADDRESS", addresses[world], 1);
        if (world == NOWHERE)
                CHECK_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
        child = test_spawn_role("member", what, NULL);
        CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
        setenv("DBUS_SESSION_BUS_ADDRESS", addresses[FIRST], 1);
        CHECK_STREQ(test_child_read_line(child), "ready");
        return child;
}

static uint64_t ask(test_child *member, const char *question)
{
        return strtoull(test_child_ask(member, question), NULL, 10);
}

/* Waits for the next signal of "N". Returns whether it came on the path of a table. */
static bool is_of_table(test_peer *peer)
{
        test_signal signal;

        test_peer_await(peer, "N", &signal);
        if (strncmp(signal.path, TABLE_PATH, strlen(TABLE_PATH)) == 0)
                return true;
        CHECK_STREQ(signal.path, TEST_WIRE_PATH);
        return false;
}

/* --- One table ------------------------------------------------------------------------------- */

TEST(onlyWhatItsTableHasCountedIsPostedOnThePathOfTheTable)
{
        dn__connection connection = { .wire = &dn__wire_darwin };
        dn__rules native = { .connection = &connection, .is_native = true, .named = 7,
                             .path = TABLE_PATH "7" };
        dn__post counted = { .region_id = 7, .generation = 1 }, uncounted = { .region_id = 7 };
        dn__post of_other = { .region_id = 8, .generation = 1 };

        CHECK_STREQ(dn__rules_get_path(&native, &counted), TABLE_PATH "7");
        CHECK_STREQ(dn__rules_get_path(&native, &uncounted), TEST_WIRE_PATH);
        CHECK_STREQ(dn__rules_get_path(&native, &of_other), TEST_WIRE_PATH);
        native.is_native = false;
        CHECK_STREQ(dn__rules_get_path(&native, &counted), TEST_WIRE_PATH);
}

static void check_that_natives_read_no_signals(const char *what)
{
        begin();
        test_peer *peer = test_peer_open_watching(bus);
        test_child *holder = spawn_member(FIRST, "observe");
        test_child *observer = spawn_member(FIRST, what);
        test_child *poster = spawn_member(FIRST, "post");
        /* The poster's first post, of another name. */
        uint64_t n_signals = strcmp(what, "observe prefix") == 0;

        ask(poster, "settle");
        WAIT_UNTIL_EQ(ask(observer, "signals"), n_signals);
        for (int i = 0; i < 1000; i++)
                ask(poster, "post");
        WAIT_UNTIL_EQ(ask(observer, "posts"), 1000);
        for (int i = 0; i < 1000; i++) {
                CHECK(is_of_table(peer));
        }
        test_peer_post(peer, "N");
        WAIT_UNTIL_EQ(ask(observer, "posts"), 1001);
        CHECK_EQ(ask(observer, "signals"), n_signals + 1);
        WAIT_UNTIL_EQ(ask(holder, "posts"), 1001);
}

TEST_ON_BUS(aNativeReadsNoSignalOfAnother)
{
        check_that_natives_read_no_signals("observe");
}

TEST_ON_BUS(aNativeThatObservesAPrefixReadsNoSignalOfAnother)
{
        check_that_natives_read_no_signals("observe prefix");
}

TEST_ON_BUS(aProcessThatOnlyPostsBecomesNativeWhenATableAppears)
{
        begin();
        test_peer *peer = test_peer_open_watching(bus);
        test_child *poster = spawn_member(FIRST, "post");
        ask(poster, "post");
        CHECK(!is_of_table(peer));
        test_child *observer = spawn_member(FIRST, "observe");
        do {
                uint64_t n = ask(observer, "posts");
                ask(poster, "post");
                WAIT_UNTIL(ask(observer, "posts") > n);
        } while (!is_of_table(peer));
}

TEST_ON_BUS(aBusThatRefusesTheNameMakesNewcomersWhoHearAll)
{
        begin();
        test_peer *peer = test_peer_open_watching(bus);
        setenv("REFUSED", "1", 1);
        test_child *a = spawn_member(FIRST, "observe");
        unsetenv("REFUSED");
        test_child *b = spawn_member(FIRST, "observe");
        for (uint64_t i = 1; i <= 10; i += 2) {
                ask(a, "post");
                CHECK(!is_of_table(peer));
                ask(b, "post");
                CHECK(is_of_table(peer));
                WAIT_UNTIL_EQ(ask(a, "posts"), i + 1);
                WAIT_UNTIL_EQ(ask(b, "posts"), i + 1);
        }
        fence_bus(peer);
        CHECK_EQ(ask(a, "posts"), 10);
        CHECK_EQ(ask(b, "posts"), 10);
}

/* Others would take it for a native of its table. */
TEST_ON_BUS(aProcessBesideAnotherTableGivesUpTheNameOfItsOwn)
{
        static tally seen;
        sd_bus *foreign = NULL;
        dn_center *center = dn_center_darwin();

        begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        CHECK(sd_bus_open_user(&foreign) >= 0);
        CHECK(sd_bus_request_name(foreign, "org.darwinnotify.Table.t0000000000000007", 0) > 0);
        tally_observe(center, "N", &seen);
        WAIT_UNTIL(dbus_has_settled(dbus_of(center)));
        CHECK(!dbus_is_native(dbus_of(center)));
        uint64_t id = atomic_load(&dn__hub_find(center)->member.region)->id;
        const char *name = FORMAT("org.darwinnotify.Table.t%016llx", (unsigned long long)id);
        WAIT_UNTIL(!test_peer_sees(peer, name));
        sd_bus_flush_close_unref(foreign);
}

TEST_ON_BUS(aNewcomerThatOnlyPostsAsksOnce)
{
        begin();
        test_peer *peer = test_peer_open_watching(bus);
        (void)spawn_member(FIRST, "observe");
        setenv("REFUSED", "1", 1);
        test_child *poster = spawn_member(FIRST, "post");
        for (int i = 0; i < 100; i++) {
                ask(poster, "post");
                CHECK(!is_of_table(peer));
        }
        CHECK_EQ(ask(poster, "requests"), 1);
}

/* The registration takes effect through the table; the rest follows once the bus goes on. */
TEST_ON_BUS(aBusThatStopsBeforeItAnswersDelaysARegistrationByASecondAtMost)
{
        static tally seen;
        dn_observer *observer;

        begin();
        test_child *neighbor = spawn_member(FIRST, "observe");
        test_child *stranger = spawn_member(SECOND, "observe");
        post_soon(dn_center_darwin(), "begin");
        await_bus(dn_center_darwin());
        bus_to_pause = bus;
        CHECK(dn_center_observe(dn_center_darwin(), "N", TALLY_HANDLER(&seen), NULL, &observer) >=
              0);
        CHECK(!bus_to_pause);
        ask(neighbor, "post");
        WAIT_UNTIL_EQ(seen.n_posts, 1);
        test_bus_resume(bus);
        WAIT_UNTIL(is_settled()); /* what the bus passes on before it has the rule is not heard */
        ask(stranger, "post");
        WAIT_UNTIL_EQ(seen.n_posts, 2);
}

/* --- Two tables, and none -------------------------------------------------------------------- */

static test_child *members[N_MEMBERS];
static bool observes[N_MEMBERS];

static void replace_member(int i, unsigned number)
{
        if (members[i] && number % 2)
                test_child_kill(members[i]);
        else if (members[i])
                CHECK_EQ(test_child_wait(members[i]), 0);
        static const char *const kinds[] = { "post", "observe", "observe", "observe prefix" };
        const char *kind = kinds[number / 2 % 4];

        observes[i] = kind != kinds[0];
        members[i] = spawn_member((int)(number / 8 % N_WORLDS), kind);
}

/* The socket is a new one. */
static void restart_bus(void)
{
        test_bus_kill(bus);
        test_bus_start_again(bus);
        for (int world = SECOND; world < N_WORLDS; world++) {
                const char *path = strchr(addresses[world], '/');
                CHECK_EQ(unlink(path), 0);
                CHECK_EQ(link(test_bus_path(bus), path), 0);
        }
        for (int i = 0; i < N_MEMBERS; i++)
                if (members[i])
                        ask(members[i], "settle");
}

static void check_all_hear(test_child *poster)
{
        uint64_t before[N_MEMBERS] = { 0 };

        for (int i = 0; i < N_MEMBERS; i++)
                before[i] = members[i] ? ask(members[i], "posts") : 0;
        ask(poster, "post");
        for (int i = 0; i < N_MEMBERS; i++)
                if (members[i] && observes[i])
                        WAIT_UNTIL(ask(members[i], "posts") > before[i]);
}

TEST_ON_BUS(everyPostIsHeardByProcessesOfTwoTablesAndOfNone)
{
        unsigned random = (unsigned)getpid();

        begin();
        printf("seed %u\n", random);
        for (int step = 0; step < N_STEPS; step++) {
                int i = (int)((random = random * 1103515245 + 12345) >> 16) % N_MEMBERS;
                unsigned number = (random = random * 1103515245 + 12345) >> 16;

                if (number % 29 == 0)
                        restart_bus();
                else if (!members[i] || number % 3 == 0)
                        replace_member(i, number / 3);
                else
                        check_all_hear(members[i]);
        }
        for (int i = 0; i < N_MEMBERS; i++)
                test_child_kill(members[i]);
}

/* Its rules may be for the plain path only, and the poster may no longer be native. */
TEST_ON_BUS(aNativeOfAnotherTableMissesNoPostAfterTheBusWasLost)
{
        begin();
        test_child *poster = spawn_member(FIRST, "observe");
        ask(poster, "gather");
        ask(poster, "post");
        test_child_pause(poster);
        restart_bus();
        test_child *native = spawn_member(SECOND, "observe");
        test_peer *peer = test_peer_open_watching(bus);
        test_child_resume(poster);
        ask(poster, "settle");
        ask(poster, "send");
        CHECK(!is_of_table(peer));
        WAIT_UNTIL_EQ(ask(native, "posts"), 1);
}

TEST_MAIN()
