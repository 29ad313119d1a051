/* Which names are valid, who may use them, which leave the process, and which are equal. */
#include "post/name.h"

#include "roles.h"
#include "tally.h"
#include "util/text.h"

/* --- Validity --------------------------------------------------------------------------------- */

static bool is_valid(const char *bytes)
{
        return dn__utf8_is_valid(bytes, strlen(bytes));
}

TEST_NO_BUS(charactersOfEveryLengthAreValid)
{
        static const char *const texts[] = {
                "plain", "\xc2\x80 \xdf\xbf",
                "\xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbd",
                "\xf0\x90\x80\x80 \xf4\x8f\xbf\xbd", "\xf0\x9f\x98\x80",
                "\xef\xb7\x8f", "\xef\xb7\xb0",
        };

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                CHECK(is_valid(texts[i]));
}

TEST_NO_BUS(bytesThatAreNoCharacterAreInvalid)
{
        static const char *const texts[] = {
                "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", /* overlong */
                "\xed\xa0\x80", "\xed\xbf\xbf", /* surrogates */
                "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf8\x88\x80\x80\x80", /* above Unicode */
                "\xef\xbf\xbe", "\xef\xbf\xbf", "\xef\xb7\x90", "\xef\xb7\xaf", /* noncharacters */
                "\xf0\x9f\xbf\xbe", "\xf4\x8f\xbf\xbf",
                "\x80", "a\xc3", "\xe2\x82", "\xe2\x28\xa1", "\xf0\x9f\x98", /* incomplete */
        };

        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
                if (is_valid(texts[i]))
                        test_fail(__FILE__, __LINE__, "text %zu is valid", i);
        CHECK(!dn__utf8_is_valid("\xf0\x9f\x98\x80", 3));
}

static dn__name name_of(const char *text)
{
        dn__name name;

        CHECK_EQ(dn__name_init(&name, text, DN__REACH_BEYOND), 0);
        return name;
}

TEST_NO_BUS(onlyTheSelfPrefixKeepsNamesInTheProcess)
{
        static const char *const crossing[] = {"self", "selfish.x", "Self.x", "self_x", "x.self."};

        CHECK_EQ(name_of("self.x").reach, DN__REACH_PROCESS);
        CHECK_EQ(name_of("self.").reach, DN__REACH_PROCESS);
        for (size_t i = 0; i < sizeof crossing / sizeof *crossing; i++)
                CHECK_EQ(name_of(crossing[i]).reach, DN__REACH_BEYOND);
}

/* --- Access ----------------------------------------------------------------------------------- */

#define USER 65534

enum { NOBODY, OBSERVERS, ALL }; /* what such a user may do with the name of a line */

static const struct {
        int allowed;
        const char *names[20];
} access_of_user[] = {
        {ALL, {"user.uid.65534", "user.uid.65534.x", "user.uid.65534.",
               "user.uid.65534.user.uid.0"}},
        {ALL, {"user.uid", "user.uid2.0", "user.uidx.0", "users.uid.0", "x.user.uid.0",
               "User.uid.0", "user.UID.0", "self.user.uid.0"}},
        {ALL, {"com.apple.system", "com.apple.systems.x", "com.apple.systemx", "com.apple.x",
               "com.Apple.system.x", "x.com.apple.system.x"}},
        {OBSERVERS, {"com.apple.system.x", "com.apple.system."}},
        {NOBODY, {"user.uid.655340", "user.uid.6553", "user.uid.0", "user.uid.6",
                  "user.uid.65535", "user.uid.0.x", "user.uid.6553.4", "user.uid.655340.x",
                  "user.uid.4294967295", "user.uid.", "user.uid.x", "user.uid.1x", "user.uid.-1",
                  "user.uid. 1", "user.uid..1", "user.uid.65534x", "user.uid.0xfffe",
                  "user.uid.065534"}},
};

TEST_NO_BUS(reservedNamesAreForTheirUserAndForRoot)
{
        for (size_t i = 0; i < sizeof access_of_user / sizeof *access_of_user; i++)
                for (const char *const *text = access_of_user[i].names; *text; text++) {
                        dn__name name = name_of(*text);
                        CHECK_EQ(dn__name_may_observe(&name, USER),
                                 access_of_user[i].allowed >= OBSERVERS);
                        CHECK_EQ(dn__name_may_post(&name, USER), access_of_user[i].allowed == ALL);
                        CHECK(name.is_reserved || access_of_user[i].allowed == ALL);
                        CHECK(dn__name_may_observe(&name, 0) && dn__name_may_post(&name, 0));
                }
        CHECK(name_of("user.uid.65534").is_reserved && !name_of("user.uidx").is_reserved);
}

/* --- Equality --------------------------------------------------------------------------------- */

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

/* By another process with the library, and by a program that knows only their interfaces. */
TEST(differentNamesAreKeptApart)
{
        test_peer *peer = test_peer_begin();
        static tally seen[N_DIFFERENT];

        for (size_t i = 0; i < N_DIFFERENT; i++)
                tally_observe(dn_center_darwin(), different[i], &seen[i]);
        check_each_hears_one("postDifferent", seen, N_DIFFERENT, peer);
        if (!test_peer_is_on_bus(peer))
                return;
        for (size_t i = 0; i < N_DIFFERENT; i++)
                test_peer_post(peer, different[i]);
        fence_bus(peer);
        for (size_t i = 0; i < N_DIFFERENT; i++)
                WAIT_UNTIL_EQ(seen[i].n_posts, 2);
}

TEST_MAIN()
