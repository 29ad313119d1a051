/* Common D-Bus programs as posters. */
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

#define NAME "com.example.changed"
#define INTERFACE TEST_WIRE_PREFIX NAME

/* Skips if the program is not installed. */
static void check_poster(const char *const argv[])
{
        static tally seen = {0};

        tally_observe(dn_center_darwin(), NAME, &seen);
        int status = test_run_program(argv, NULL, 0);
        SKIP_IF(status == 127, FORMAT("%s is not installed", argv[0]));
        CHECK_EQ(status, 0);
        WAIT_UNTIL_EQ(seen.n_posts, 1);
        CHECK_EQ(test_run_program(argv, NULL, 0), 0);
        WAIT_UNTIL_EQ(seen.n_posts, 2);
}

TEST_ON_BUS(dbusSendPosts)
{
        const char *address = FORMAT("--bus=%s", test_bus_address(test_bus_begin()));

        check_poster((const char *[]){"dbus-send", address, "--type=signal", TEST_WIRE_PATH,
                                      INTERFACE "." TEST_WIRE_MEMBER, "string:" NAME, NULL});
}

TEST_ON_BUS(gdbusEmitPosts)
{
        test_bus_begin();

        check_poster((const char *[]){"gdbus", "emit", "--session", "--object-path", TEST_WIRE_PATH,
                                      "--signal", INTERFACE "." TEST_WIRE_MEMBER, "'" NAME "'",
                                      NULL});
}

TEST_ON_BUS(busctlEmitPosts)
{
        const char *address = FORMAT("--address=%s", test_bus_address(test_bus_begin()));

        check_poster((const char *[]){"busctl", address, "emit", TEST_WIRE_PATH, INTERFACE,
                                      TEST_WIRE_MEMBER, "s", NAME, NULL});
}

TEST_ON_BUS(unicastSignalsArePostsToo)
{
        test_peer *peer = test_peer_begin();
        static tally seen = {0};

        tally_observe(dn_center_darwin(), NAME, &seen);
        test_peer_post_to(peer, own_name(peer), INTERFACE, NAME);
        WAIT_UNTIL_EQ(seen.n_posts, 1);
}

TEST_ON_BUS(unicastSelfNamesAreIgnored)
{
        test_peer *peer = test_peer_begin();
        const char *own = own_name(peer);
        static tally seen = {0};

        fence_bus(peer); /* the bus's greeting also counts as ignored */
        tally_observe(dn_center_darwin(), "self.secret", &seen);
        uint64_t before = statistic(DN_STATISTIC_SIGNALS_IGNORED);
        test_peer_post_to(peer, own, TEST_WIRE_PREFIX "self.secret", "self.secret");
        fence_bus(peer);
        CHECK_EQ(seen.n_calls, 0);
        CHECK_EQ(statistic(DN_STATISTIC_SIGNALS_IGNORED), before + 1);
        post_ok(dn_center_darwin(), "self.secret");
        WAIT_UNTIL_EQ(seen.n_calls, 1);
}

TEST_MAIN()
