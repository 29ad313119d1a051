/* Malicious signals. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tally.h"
#include "test-bus.h"
#include "test-raw.h"

#define NAME "target"
#define INTERFACE TEST_WIRE_PREFIX NAME
#define N_FDS 16
#define N_TIMES 20

static test_bus *bus;
static test_peer *peer;
static test_raw *raw;
static tally seen;
static const char *own;
static int fds[N_FDS];

static void prepare(void)
{
        bus = test_bus_begin();
        peer = test_peer_open_watching(bus);
        raw = test_raw_open(test_bus_address(bus));
        for (int i = 0; i < N_FDS; i++)
                fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        tally_observe(dn_center_darwin(), NAME, &seen);
        own = own_name(peer);
        fence_bus(peer);
}

/* A valid signal that the observer reacts to, for cases to corrupt. */
static test_raw_signal good_signal(void)
{
        static uint8_t body[64];

        return (test_raw_signal){.path = TEST_WIRE_PATH,
                                 .interface = INTERFACE,
                                 .member = TEST_WIRE_MEMBER,
                                 .signature = "s",
                                 .body = body,
                                 .body_bytes = test_raw_string(NAME, body)};
}

/* The bus may disconnect such a sender, which then reconnects. */
static void attack(const test_raw_signal *signal)
{
        for (int i = 0; i < N_TIMES; i++) {
                if (test_raw_send(raw, signal) && test_raw_sync(raw))
                        continue;
                test_raw_close(raw);
                raw = test_raw_open(test_bus_address(bus));
        }
}

/* Checks that nothing happened: no call, the same connection, and the next valid post arrives. */
static void check_unharmed(uint64_t n_posts)
{
        if (n_posts == 0) /* the observing peer sees no unicast signals and accepts everything
                           * here */
                fence_bus(peer);
        CHECK_EQ(seen.n_posts, n_posts);
        test_peer_post(peer, NAME);
        WAIT_UNTIL_EQ(seen.n_posts, n_posts + 1);
        CHECK(test_peer_sees(peer, own));
        CHECK_EQ(test_peer_n_connections(peer, getpid()), 2); /* including the raw one */
}

TEST_ON_BUS(wrongArgumentsAreIgnored)
{
        static const uint8_t zeros[4096], says_more[] = {200, 0, 0, 0, 'x', 0};
        static const struct {
                const char *signature;
                size_t body_bytes;
                const uint8_t *body;
        } shapes[] = {{NULL, 0, zeros},  {"u", 4, zeros},     {"t", 8, zeros},
                      {"ay", 4, zeros},  {"av", 8, zeros},    {"(s)", 5, zeros},
                      {"as", 4, zeros},  {"a{sv}", 8, zeros}, {"b", 4, zeros},
                      {"d", 8, zeros},   {"s", sizeof says_more, says_more}};

        prepare();
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
                test_raw_signal signal = good_signal();
                signal.signature = shapes[i].signature;
                signal.body = shapes[i].body;
                signal.body_bytes = shapes[i].body_bytes;
                attack(&signal);
        }
        check_unharmed(0);
}

TEST_ON_BUS(descriptorsSentWithAPostAreClosed)
{
        prepare();
        test_raw_signal signal = good_signal();
        unsigned n_fds = test_n_fds();

        signal.fds = fds;
        signal.n_fds = N_FDS;
        attack(&signal);
        WAIT_UNTIL_EQ(seen.n_posts, N_TIMES); /* the name itself is valid */
        fence_bus(peer);
        CHECK_EQ(test_n_fds(), n_fds);
        check_unharmed(N_TIMES);
}

/* No rule selects the broadcast. */
TEST_ON_BUS(hugeObjectPathWithDescriptorsLeaksNothing)
{
        char *path = calloc(1, 100001);

        prepare();
        test_raw_signal signal = good_signal();
        unsigned n_fds = test_n_fds();
        memset(path, 'p', 100000);
        path[0] = '/';
        signal.path = path;
        signal.fds = fds;
        signal.n_fds = N_FDS;
        attack(&signal);
        fence_bus(peer);
        CHECK_EQ(test_n_fds(), n_fds);
        signal.n_fds = 0; /* libsystemd leaks those of a message that it does not accept */
        signal.destination = own;
        attack(&signal);
        check_unharmed(0);
        free(path);
}

TEST_ON_BUS(stringsAcceptedOnlyByTheBusAreIgnored)
{
        static const char *const names[] = {"\xef\xbf\xbf", "\xef\xb7\x90", NAME "\xef\xbf\xbe"};
        uint8_t body[64];

        prepare();
        for (size_t i = 0; i < 3; i++) {
                test_raw_signal signal = good_signal();
                signal.body = body;
                signal.body_bytes = test_raw_string(names[i], body);
                signal.destination = own; /* otherwise the peer would have to read them */
                attack(&signal);
        }
        check_unharmed(0);
}

TEST_ON_BUS(unknownHeaderFieldsAreSkipped)
{
        prepare();
        test_raw_signal signal = good_signal();

        signal.unknown_field = 200;
        CHECK(test_raw_send(raw, &signal));
        CHECK(test_raw_sync(raw));
        WAIT_UNTIL_EQ(seen.n_posts, 1);
        check_unharmed(1);
}

TEST_ON_BUS(forgedSenderHasNoEffect)
{
        prepare();
        test_raw_signal signal = good_signal();
        uint8_t body[64];

        signal.sender = "org.freedesktop.DBus";
        signal.path = "/org/freedesktop/DBus";
        signal.interface = "org.freedesktop.DBus";
        signal.member = "NameLost";
        signal.destination = own;
        signal.body = body;
        signal.body_bytes = test_raw_string(own, body);
        attack(&signal);
        signal.path = "/org/freedesktop/DBus/Local";
        signal.interface = "org.freedesktop.DBus.Local";
        signal.member = "Disconnected";
        attack(&signal);
        check_unharmed(0);
}

TEST_ON_BUS(largeBodyIsHarmless)
{
        const uint32_t n_bytes = 8 << 20;
        uint8_t *body = calloc(1, n_bytes + 32);

        prepare();
        test_raw_signal signal = good_signal();
        size_t name_bytes = test_raw_string(NAME, body);
        name_bytes = (name_bytes + 3) & ~(size_t)3;
        memcpy(body + name_bytes, &n_bytes, sizeof n_bytes);
        signal.signature = "say";
        signal.body = body;
        signal.body_bytes = name_bytes + 4 + n_bytes;
        CHECK(test_raw_send(raw, &signal));
        CHECK(test_raw_sync(raw));
        WAIT_UNTIL_EQ(seen.n_posts, 1); /* extra arguments are allowed */
        check_unharmed(1);
        free(body);
}

TEST_MAIN()
