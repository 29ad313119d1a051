/* What dbus-monitor shows of a post. */
#include "roles.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

static const char *const names[] = {"com.example.changed", "com.example.my-app", "caf\xc3\xa9"};
static const char *const interfaces[] = {"com.example.changed", "com.example.my_2dapp",
                                         "caf_c3_a9"};

/* The lines of the next signal that is ours, without those before. */
static void read_head(test_child *monitor, char *ret_line, size_t line_bytes)
{
        const char *line;

        do {
                line = test_child_read_line(monitor);
                CHECK(line);
        } while (!strstr(line, "signal ") || !strstr(line, "org.darwinnotify"));
        snprintf(ret_line, line_bytes, "%s", line);
}

/* It prints what it sees only from some moment on; from the first probe that it shows. */
static test_child *start_monitor(test_bus *bus, test_peer *peer)
{
        const char *argv[] = {"dbus-monitor", "--address", test_bus_address(bus),
                              "path='" TEST_WIRE_PATH "'", NULL};
        test_child *monitor = test_spawn_program(argv);
        char line[1024];

        WAIT_UNTIL((test_peer_post(peer, "probe"), test_child_has_line(monitor, "probe")));
        test_peer_post(peer, "begin");
        do
                read_head(monitor, line, sizeof line);
        while (!strstr(line, ".begin;"));
        CHECK_STREQ(test_child_read_line(monitor), "   string \"begin\"");
        return monitor;
}

static void check_signal(test_child *monitor, const char *name, const char *interface)
{
        char head[1024], expected[512];
        const char *line;

        read_head(monitor, head, sizeof head);
        snprintf(expected, sizeof expected, " path=%s; interface=%s%s; member=%s", TEST_WIRE_PATH,
                 TEST_WIRE_PREFIX, interface, TEST_WIRE_MEMBER);
        CHECK(strstr(head, "destination=(null destination)"));
        CHECK(strstr(head, expected));
        CHECK_STREQ(strstr(head, " path="), expected);

        snprintf(expected, sizeof expected, "   string \"%s\"", name);
        CHECK_STREQ(test_child_read_line(monitor), expected);
        for (int i = 0; i < 2; i++) {
                line = test_child_read_line(monitor);
                CHECK(line && strncmp(line, "   uint64 ", 10) == 0);
        }
}

TEST(dbusMonitorShowsEachPostOnce)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        test_child *monitor = start_monitor(bus, peer);
        static tally seen = {0};

        tally_observe(dn_center_darwin(), names[0], &seen); /* makes no difference */
        for (int i = 0; i < 3; i++)
                post_ok(dn_center_darwin(), names[i]);
        post_ok(dn_center_darwin(), "end");
        for (int i = 0; i < 3; i++)
                check_signal(monitor, names[i], interfaces[i]);
        check_signal(monitor, "end", "end");
        test_child_kill(monitor);
        test_peer_close(peer);
        test_bus_stop(bus);
}

TEST_MAIN()
