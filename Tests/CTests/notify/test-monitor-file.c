/* Tokens that report changes of a file. */
#include <fcntl.h>

#include "piped.h"

#define N "monitor"

static char path[300];

static void touch(void)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

        CHECK(fd >= 0);
        CHECK_EQ(write(fd, "x", 1), 1);
        CHECK_EQ(close(fd), 0);
}

static test_bus *begin(void)
{
        test_bus *bus = test_bus_begin();

        snprintf(path, sizeof path, "%s/watched", test_directory());
        touch();
        return bus;
}

static void monitor(int token)
{
        CHECK_EQ(notify_monitor_file(token, path, 0), NOTIFY_STATUS_OK);
}

TEST(callbackHearsOnlyOfItsOwnFile)
{
        begin();
        static tally seen = {0}, other = {0};
        int token = add_callback(N, &seen), other_token = add_callback(N, &other);

        monitor(token);
        CHECK(is_changed(token));
        CHECK(is_changed(other_token));
        touch();
        WAIT_UNTIL(seen.n_calls >= 1);
        CHECK_EQ(seen.n_posts, token);
        CHECK(is_changed(token));
        fence_executor();
        CHECK_EQ(other.n_calls, 0);
        CHECK(!is_changed(other_token));
        post(N);
        WAIT_UNTIL_EQ(other.n_calls, 1);
        CHECK(is_changed(other_token));
}

/* A change is a separate delivery: it is not merged with waiting ones. */
TEST(fileChangeDoesNotConsumeADescriptorsPost)
{
        begin();
        static tally blocking = {.blocks = true};
        const dn_executor *executor = dn_executor_inline();
        int fd = UNTOUCHED, token = add_piped(N, &fd);

        monitor(token);
        add_callback_on("block", &blocking, executor);
        post("block");
        WAIT_UNTIL_EQ(blocking.n_calls, 1); /* no pipe is written before that returns */
        for (int i = 0; i < 5; i++)
                post(N);
        CHECK(is_changed(token));
        for (int i = 0; i < 2; i++) { /* the second one comes after the first was handled */
                touch();
                WAIT_UNTIL(is_changed(token));
        }
        blocking.blocks = false;
        WAIT_UNTIL(n_waiting(fd) >= 5 * 4);
        CHECK_EQ(n_waiting(fd) % 4, 0);
        CHECK(n_waiting(fd) <= 7 * 4);
}

TEST_ON_BUS(otherProcessesAreNotNotified)
{
        test_bus *bus = begin();
        test_peer *peer = test_peer_open_watching(bus);
        static tally seen = {0};

        monitor(add_callback(N, &seen));
        touch();
        WAIT_UNTIL(seen.n_calls >= 1);
        post("end");
        test_peer_expect(peer, "end");
}

TEST(suspendedTokenIsNotifiedOnceAfterwards)
{
        begin();
        static tally seen = {0};
        int token = add_callback(N, &seen);

        monitor(token);
        CHECK(is_changed(token));
        CHECK_EQ(notify_suspend(token), NOTIFY_STATUS_OK);
        for (int i = 0; i < 3; i++) {
                touch();
                WAIT_UNTIL(is_changed(token));
        }
        post(N);
        fence_executor();
        CHECK_EQ(seen.n_calls, 0);
        CHECK_EQ(notify_resume(token), NOTIFY_STATUS_OK);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        fence_executor();
        CHECK_EQ(seen.n_calls, 1);
}

TEST(invalidRequestsAreRefused)
{
        begin();
        static char relative[] = "watched";
        int token = add_check(N), other_token;

        CHECK_EQ(notify_monitor_file(token, NULL, 0), NOTIFY_STATUS_INVALID_REQUEST);
        CHECK_EQ(notify_monitor_file(token, relative, 0), NOTIFY_STATUS_INVALID_REQUEST);
        int own = add_check("self.x");
        unsigned n_threads = test_n_threads();
        CHECK_EQ(notify_monitor_file(own, path, 0), NOTIFY_STATUS_INVALID_REQUEST);
        CHECK_EQ(test_n_threads(), n_threads); /* none that waits for changes */
        monitor(token);
        CHECK_EQ(notify_monitor_file(token, path, 0), NOTIFY_STATUS_INVALID_REQUEST);
        monitor(add_check(N)); /* same name, different token */
        other_token = add_check(N);
        CHECK(is_changed(token));
        CHECK(is_changed(other_token));
        CHECK(!is_changed(token));
        touch();
        WAIT_UNTIL(is_changed(token)); /* the refused calls did not affect it */
        CHECK(!is_changed(other_token));
}

TEST(aNameOfTheServiceReportsItsFile)
{
        begin();
        static tally seen = {0};
        int deleted, only_name;

        (void)add_callback(FORMAT("com.apple.system.notify.service.path:%s", path), &seen);
        deleted = add_check(FORMAT("com.apple.system.notify.service.path:0x1:%s", path));
        only_name = add_check("com.apple.system.notify.service.path:1:watched");
        CHECK(is_changed(deleted) && is_changed(only_name));
        touch();
        WAIT_UNTIL(seen.n_calls >= 1);
        CHECK(!is_changed(deleted) && !is_changed(only_name));
        CHECK_EQ(unlink(path), 0);
        WAIT_UNTIL(is_changed(deleted));
}

TEST_MAIN()
