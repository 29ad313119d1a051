/* Which names are considered equal. */
#include "roles.h"
#include "tally.h"
#include "test-bus.h"

/* They look alike to a reader, a database or a careless encoder, yet all differ. */
static const char *const different[] = {
        "caf\xc3\xa9", "cafe\xcc\x81",  "A",          "a",         "a.b",     "a.b.",
        ".a.b",        "a..b",          "com.x",      "com.x.y",   "a_b",     "a_2eb",
        "a_5fb",       "a b",           "a'b",        "a\"b",      "a\\b",    "a,b",
        "a=b",         "a*b",           "a\nb",       "1a",        "a1",      "_a",
        "_",           ".",             "..",         "a-b",       "_h",      "a/b",
        "%s%n",        "\xf0\x9f\x90\x9f", "type='signal',path='/'", "org.freedesktop.DBus",
};

#define N_DIFFERENT (sizeof different / sizeof *different)

ROLE(postDifferent)
{
        for (size_t i = 0; i < N_DIFFERENT; i++)
                if (dn_center_post(dn_center_darwin(), different[i], NULL, NULL, 0) < 0)
                        return 1;
        return 0;
}

TEST(differentNamesAreKeptApart)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        static tally seen[N_DIFFERENT] = {0};

        test_peer_watch(peer, TEST_WIRE_RULE);
        for (size_t i = 0; i < N_DIFFERENT; i++)
                tally_observe(dn_center_darwin(), different[i], &seen[i]);
        check_each_hears_one("postDifferent", seen, N_DIFFERENT, peer);
}

TEST_ON_BUS(foreignPostsOfDifferentNamesAreKeptApart)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        static tally seen[N_DIFFERENT] = {0};

        test_peer_watch(peer, TEST_WIRE_RULE);
        for (size_t i = 0; i < N_DIFFERENT; i++)
                tally_observe(dn_center_darwin(), different[i], &seen[i]);
        for (size_t i = 0; i < N_DIFFERENT; i++)
                test_peer_post(peer, different[i]);
        fence_bus(peer);
        for (size_t i = 0; i < N_DIFFERENT; i++)
                CHECK_EQ(seen[i].n_calls, 1);
}

/* 511 bytes, differing in the last. */
static void fill_long(char name[DN_NAME_MAX_BYTES + 1], char last)
{
        memset(name, 'n', DN_NAME_MAX_BYTES);
        name[DN_NAME_MAX_BYTES - 1] = last;
        name[DN_NAME_MAX_BYTES] = '\0';
}

TEST(longestNamesAreKeptApart)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        char one[DN_NAME_MAX_BYTES + 1], other[DN_NAME_MAX_BYTES + 1];
        static tally of_one = {0}, of_other = {0};

        fill_long(one, '1');
        fill_long(other, '2');
        test_peer_watch(peer, TEST_WIRE_RULE);
        tally_observe(dn_center_darwin(), one, &of_one);
        tally_observe(dn_center_darwin(), other, &of_other);
        post_elsewhere(one, 1, "return");
        WAIT_UNTIL_EQ(of_one.n_calls, 1);
        fence_bus(peer);
        CHECK_EQ(of_other.n_calls, 0);
        post_elsewhere(other, 1, "return");
        WAIT_UNTIL_EQ(of_other.n_calls, 1);
        CHECK_EQ(of_one.n_calls, 1);
}

static _Atomic uint64_t n_same_bytes;

static void compare_name(const dn_event *event, void *context)
{
        if (strcmp(event->name, context) == 0)
                n_same_bytes++;
}

TEST(namesOfEveryLengthArriveUnchanged)
{
        static const size_t lengths[] = {1, 229, 230, 231, 235, 236, 511};
        static char names[2 * sizeof lengths / sizeof *lengths][DN_NAME_MAX_BYTES + 1];
        test_bus_begin();
        const size_t n = sizeof lengths / sizeof *lengths;

        for (size_t i = 0; i < 2 * n; i++) { /* the second half needs three bytes each */
                memset(names[i], i < n ? 'a' : '-', lengths[i % n]);
                dn_handler handler = {.invoke = compare_name, .context = names[i]};
                CHECK_EQ(dn_center_observe(dn_center_darwin(), names[i], handler, NULL, NULL), 0);
        }
        for (size_t i = 0; i < 2 * n; i++)
                post_elsewhere(names[i], 1, "return");
        WAIT_UNTIL_EQ(n_same_bytes, 2 * n);
}

TEST_ON_BUS(refusedNamesDoNotAffectTheConnection)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        dn_center *center = dn_center_darwin();
        test_signal before, after;
        char long_name[DN_NAME_MAX_BYTES + 2] = "";

        memset(long_name, 'n', sizeof long_name - 1);
        test_peer_watch(peer, TEST_WIRE_RULE);
        post_ok(center, "good");
        test_peer_next(peer, &before);
        CHECK_EQ(dn_center_post(center, "", NULL, NULL, 0), -EINVAL);
        CHECK_EQ(dn_center_post(center, "\xff", NULL, NULL, 0), -EINVAL);
        CHECK_EQ(dn_center_post(center, "\xef\xbf\xbf", NULL, NULL, 0), -EINVAL);
        CHECK_EQ(dn_center_post(center, NULL, NULL, NULL, 0), -EINVAL);
        CHECK_EQ(dn_center_post(center, long_name, NULL, NULL, 0), -ENAMETOOLONG);
        post_ok(center, "good");
        test_peer_next(peer, &after); /* the very next one: nothing was sent for the refused ones */
        CHECK_STREQ(after.name, "good");
        CHECK_STREQ(after.sender, before.sender);
}

TEST_MAIN()
