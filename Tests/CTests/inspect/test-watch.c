/* Every post on a bus. */
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "roles.h"
#include "tally.h"
#include "test-bus.h"
#include "test-peer.h"
#include "watch.h"

static uint64_t wall_clock_us(void)
{
        struct timespec now;

        clock_gettime(CLOCK_REALTIME, &now);
        return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

TEST_ON_BUS(postsAreReportedInOrderWithAllDetails)
{
        test_peer *peer = test_peer_begin();
        static const char *const names[] = {"a", "caf\xc3\xa9", "a", "end"};
        static tally seen = {0};
        static watch watch = {0};
        uint64_t before_us = wall_clock_us();
        test_signal signal;

        tally_observe(dn_center_darwin(), "a", &seen); /* counted, unlike the others */
        watch_start(&watch, NULL, NULL);
        for (size_t i = 0; i < 4; i++)
                post_ok(dn_center_darwin(), names[i]);
        CHECK_EQ(watch_join(&watch), ENDED);
        CHECK_EQ(watch.n_records, 4);
        for (size_t i = 0; i < 4; i++) {
                record *found = &watch.records[i];
                test_peer_next(peer, &signal);
                CHECK_STREQ(found->center, "darwin");
                CHECK_STREQ(found->name, names[i]);
                CHECK_STREQ(found->sender, signal.sender);
                CHECK_EQ(found->pid, getpid());
                CHECK_STREQ(found->program, own_program());
                CHECK_EQ(found->generation, signal.generation);
                CHECK_EQ(found->region, signal.region);
                CHECK(found->time_us >= before_us && found->time_us <= wall_clock_us());
                before_us = found->time_us;
        }
        CHECK_EQ(watch.records[2].generation, watch.records[0].generation + 1);
        CHECK(watch.records[0].region != 0);
        CHECK_EQ(watch.records[1].generation, 0);
}

TEST_ON_BUS(aPrefixComparesBytes)
{
        test_bus *bus = test_bus_begin();
        static const char *const names[] = {"com.exam", "com.example", "net.com.example",
                                            "com.examplE.x", "com.example.x", "Com.example.x",
                                            "com.examples"};
        static watch watch = {0}, all = {0};

        watch_start(&watch, test_bus_address(bus), "com.example");
        watch_start(&all, test_bus_address(bus), "");
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                post_ok(dn_center_darwin(), names[i]);
        post_ok(dn_center_darwin(), "com.example/fence");
        post_ok(dn_center_darwin(), "end");
        CHECK_EQ(watch_join(&all), ENDED);
        CHECK_EQ(all.n_records, sizeof names / sizeof *names + 2);
        WAIT_UNTIL_EQ(watch.n_records, 4);
        CHECK_STREQ(watch.records[0].name, "com.example");
        CHECK_STREQ(watch.records[1].name, "com.example.x");
        CHECK_STREQ(watch.records[2].name, "com.examples");
        CHECK_STREQ(watch.records[3].name, "com.example/fence");
}

TEST_ON_BUS(postsOfTheDistributedCenterComeWithWhatTheyCarry)
{
        test_bus_begin();
        static watch seen;
        dn_dict_builder *builder = dn_dict_builder_new();

        watch_start(&seen, NULL, NULL);
        await_bus(dn_center_distributed());
        dn_dict_builder_set_string(builder, "title", "Naima");
        AUTO_DICT *user_info = finish(builder);
        CHECK_EQ(dn_center_post(dn_center_distributed(), "N", "player", user_info, 0), 0);
        CHECK_EQ(dn_center_post(dn_center_distributed(), "N", NULL, NULL, 0), 0);
        WAIT_UNTIL_EQ(seen.n_records, 2);
        CHECK_EQ(dn_center_post(dn_center_darwin(), "end", NULL, NULL, 0), 0);
        CHECK_EQ(watch_join(&seen), ENDED);
        check_from(&seen.records[0], "N", getpid());
        CHECK_STREQ(seen.records[0].center, "distributed");
        CHECK_STREQ(seen.records[0].object, "player");
        CHECK_STREQ(seen.records[0].user_info, "{\"title\": \"Naima\"}");
        CHECK_EQ(seen.records[0].number, 1);
        CHECK_STREQ(seen.records[1].object, "");
        CHECK_STREQ(seen.records[1].user_info, "");
        CHECK_EQ(seen.records[1].number, 2);
        CHECK_STREQ(seen.records[2].center, "darwin");
}

TEST_ON_BUS(foreignPostsAreNotCounted)
{
        test_peer *peer = test_peer_open(test_bus_address(test_bus_begin()));
        static watch watch = {0};

        watch_start(&watch, NULL, NULL);
        test_peer_post(peer, "foreign");
        test_peer_post_full(peer, TEST_WIRE_PREFIX "full", "full", 12, 34);
        test_peer_post(peer, "end");
        CHECK_EQ(watch_join(&watch), ENDED);
        CHECK_EQ(watch.n_records, 3);
        check_from(&watch.records[0], "foreign", getpid());
        CHECK_STREQ(watch.records[0].sender, test_peer_unique_name(peer));
        CHECK_EQ(watch.records[0].generation, 0);
        CHECK_EQ(watch.records[0].region, 0);
        CHECK_EQ(watch.records[1].generation, 12);
        CHECK_EQ(watch.records[1].region, 34);
}

TEST_ON_BUS(otherSignalsAreNotReported)
{
        test_peer *peer = test_peer_open(test_bus_address(test_bus_begin()));
        static watch watch = {0};

        watch_start(&watch, NULL, NULL);
        test_peer_post(peer, "self.secret");
        post_ok(dn_center_darwin(), "self.secret");
        test_peer_post_name(peer, TEST_WIRE_PREFIX "other", "name");
        test_peer_post_values(peer, TEST_WIRE_PATH, TEST_WIRE_PREFIX "x", "Removed", "s", "x");
        test_peer_post_values(peer, TEST_WIRE_PATH, TEST_WIRE_PREFIX "x", TEST_WIRE_MEMBER, "u", 1);
        test_peer_post_values(peer, TEST_WIRE_PATH, "org.freedesktop.DBus", "NameOwnerChanged",
                              "sss", ":1.9999", "", ":1.9999");
        test_peer_post(peer, "end");
        CHECK_EQ(watch_join(&watch), ENDED);
        CHECK_EQ(watch.n_records, 1);
        CHECK_STREQ(watch.records[0].name, "end");
}

static int return_context(void *context)
{
        return *(int *)context;
}

static unsigned n_destroyed;

static void note_destroyed(void *context)
{
        n_destroyed++;
}

static int must_not_be_called(const dn_post_record *record, void *context)
{
        test_fail(__FILE__, __LINE__, "called");
}

TEST_ON_BUS(readyCallbackCanStop)
{
        test_bus_begin();
        int result = 5;
        dn_watcher watcher = {.ready = return_context, .post = must_not_be_called,
                              .context = &result, .destroy = note_destroyed};
        unsigned n_fds = test_n_fds();

        CHECK_EQ(dn_watch_posts(NULL, NULL, &watcher), 5);
        CHECK_EQ(n_destroyed, 1);
        result = -EAGAIN;
        CHECK_EQ(dn_watch_posts(NULL, NULL, &watcher), -EINVAL);
        CHECK_EQ(test_n_fds(), n_fds);
}

/* The host may lower its limit of descriptors, and then none can be polled. */
TEST_ON_BUS(descriptorsThatCannotBePolledAreLookedAtNowAndThen)
{
        struct rlimit before, none;
        static watch watch = {0};

        test_bus_begin();
        watch_start(&watch, NULL, NULL);
        post_ok(dn_center_darwin(), "begin");
        CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
        none = before;
        none.rlim_cur = 0;
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
        uint64_t before_us = test_cpu_us();
        test_let_pass_ms(500);
        CHECK(test_cpu_us() - before_us < 100000 * (uint64_t)test_slowness());
        post_ok(dn_center_darwin(), "end");
        CHECK_EQ(watch_join(&watch), ENDED);
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_ON_BUS(busWithoutRoomForRulesIsAnError)
{
        test_bus_limits limits = {.max_match_rules = TEST_BUS_NOTHING};
        test_bus *bus = test_bus_start(NULL, &limits);
        dn_watcher watcher = {.post = must_not_be_called};

        CHECK_EQ(dn_watch_posts(test_bus_address(bus), NULL, &watcher), -ENOBUFS);
}

TEST_NO_BUS(withoutABusItFails)
{
        static const char *const buses[] = {"none", "other:", "unix:path=/nonexistent/bus", NULL};
        dn_watcher watcher = {.ready = return_context, .post = must_not_be_called};
        unsigned n_fds = test_n_fds();
        int silent;

        for (size_t i = 0; i < sizeof buses / sizeof *buses; i++)
                CHECK_EQ(dn_watch_posts(buses[i], NULL, &watcher), -ENOTCONN);
        silent = use_silent_bus();
        uint64_t before_us = test_now_us();
        CHECK_EQ(dn_watch_posts(NULL, NULL, &watcher), -ENOTCONN);
        CHECK(test_now_us() - before_us < TEST_STUCK_US);
        close(silent);
        CHECK_EQ(test_n_fds(), n_fds);
}

TEST_MAIN()
