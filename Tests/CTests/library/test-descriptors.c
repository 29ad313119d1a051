/* A host that closes all descriptors, as daemons do, also those that it does not know. */
#include <fcntl.h>
#include <notify.h>
#include <notify_private.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "foreign.h"
#include "notify-tally.h"
#include "roles.h"

static tally heard, bystander;

/* --- one process ------------------------------------------------------------------------------ */

/* Answers each line with the number of posts that it has heard; "post NAME" posts. */
static void serve(void)
{
        char line[128];

        while (fgets(line, sizeof line, stdin)) {
                line[strcspn(line, "\n")] = '\0';
                if (strncmp(line, "post ", 5) == 0)
                        post_soon(dn_center_darwin(), line + 5);
                printf("%llu\n", (unsigned long long)heard.n_posts);
        }
}

static void use_everything(void)
{
        char path[] = "/";
        int token, fd = -1;

        tally_observe_soon(dn_center_darwin(), "in", &heard);
        tally_observe_soon(dn_center_distributed(), "other", &bystander);
        token = add_callback("file", &bystander);
        CHECK_EQ(notify_monitor_file(token, path, 0), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_file_descriptor("piped", &fd, 0, &token), NOTIFY_STATUS_OK);
}

/* Arguments: whether to open others ("reopen"), and their directory. */
ROLE(closeAll)
{
        CHECK_EQ(n_args, 2);
        use_everything();
        close_all();
        if (strcmp(args[0], "reopen") == 0)
                open_others(args[1]);
        printf("closed\n");
        serve();
        check_others();
        CHECK_EQ(dn_center_post(dn_center_darwin(), "piped", NULL, NULL, 0), 0);
        return 0;
}

static uint64_t ask(test_child *child, const char *line)
{
        return strtoull(test_child_ask(child, line), NULL, 10);
}

static void skip_races(void)
{
        if (TEST_HAS_THREAD_SANITIZER)
                SKIP("it takes the closing of descriptors that others use for a race");
}

static void check_conversation(const char *how)
{
        skip_races();
        test_bus *bus = test_bus_begin();
        tally seen = {0};
        dn_observer *observer = tally_observe(dn_center_darwin(), "out", &seen);
        test_child *child = test_spawn_role("closeAll", how, test_directory(), NULL);

        CHECK_STREQ(test_child_read_line(child), "closed");
        for (uint64_t i = 1; i <= 20; i++) {
                post_ok(dn_center_darwin(), "in");
                WAIT_UNTIL_EQ(ask(child, "?"), i);
                (void)ask(child, "post out");
                WAIT_UNTIL_EQ(seen.n_posts, i);
        }
        CHECK_EQ(test_child_wait(child), 0);
        tally_drop(observer);
        test_bus_stop(bus);
}

TEST(processThatHasClosedAllDescriptorsGoesOn)
{
        check_conversation("close");
}

TEST(nothingIsWrittenToFilesThatHaveTheNumbersNow)
{
        check_conversation("reopen");
}

/* What other D-Bus programs post and hear goes over a connection, a new one. */
static void check_bus(const char *how)
{
        skip_races();
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        test_child *child;
        test_signal seen;

        test_peer_watch(peer, TEST_WIRE_RULE);
        child = test_spawn_role("closeAll", how, test_directory(), NULL);
        CHECK_STREQ(test_child_read_line(child), "closed");
        WAIT_UNTIL_EQ(test_peer_n_connections(peer, test_child_pid(child)), 2);
        WAIT_UNTIL((test_peer_post(peer, "in"), test_peer_sync(peer), ask(child, "?") > 0));
        (void)ask(child, "post out");
        do
                test_peer_next(peer, &seen);
        while (strcmp(seen.name, "out") != 0);
        CHECK_EQ(test_child_wait(child), 0);
        test_peer_close(peer);
        test_bus_stop(bus);
}

TEST_ON_BUS(busIsFoundAgain)
{
        check_bus("close");
}

TEST_ON_BUS(busIsFoundAgainBesideForeignFiles)
{
        check_bus("reopen");
}

TEST(processThatHasClosedAllDescriptorsRestsAndHoldsItsNames)
{
        static test_bus *volatile bus; /* its pipes will be closed: it ends with this process */
        uint64_t n_before;

        skip_races();
        bus = test_bus_begin();
        use_everything();
        close_all();
        for (int i = 1; i <= 3; i++) {
                post_soon(dn_center_darwin(), "in");
                WAIT_UNTIL_EQ(heard.n_posts, i);
        }
        (void)add_check("new");
        test_let_pass_ms(1000);
        n_before = test_n_switches_of_others();
        test_let_pass_ms(1000);
        CHECK(test_n_switches_of_others() - n_before < 100);
        CHECK(bus);
}

/* --- a daemon --------------------------------------------------------------------------------- */

static void become_daemon(void)
{
        if (fork() > 0)
                _exit(0);
        (void)setsid();
        if (fork() > 0)
                _exit(0);
        CHECK_EQ(syscall(SYS_close_range, 0U, ~0U, 0U), 0);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(open("/dev/null", O_RDWR), i);
}

/* It used the library before, and answers one post. */
ROLE(daemon)
{
        use_everything();
        become_daemon();
        tally_observe_soon(dn_center_darwin(), "question", &heard);
        post_soon(dn_center_darwin(), "ready");
        WAIT_UNTIL_EQ(heard.n_posts, 1);
        post_soon(dn_center_darwin(), "answer");
        (void)dn_flush(TEST_DEADLINE_US);
        _exit(0);
}

TEST(daemonTalksAfterItHasForkedAndClosedEverything)
{
        test_bus *bus = test_bus_begin();
        tally ready = {0}, answered = {0};

        if (TEST_HAS_SANITIZER)
                SKIP("with a sanitizer a fork waits until the other threads rest");
        tally_drop(tally_observe(dn_center_darwin(), "unused", &ready));
        dn_observer *first = tally_observe(dn_center_darwin(), "ready", &ready);
        dn_observer *second = tally_observe(dn_center_darwin(), "answer", &answered);
        CHECK_EQ(test_child_wait(test_spawn_role("daemon", NULL)), 0);
        WAIT_UNTIL_EQ(ready.n_posts, 1);
        post_ok(dn_center_darwin(), "question");
        WAIT_UNTIL_EQ(answered.n_posts, 1);
        tally_drop(first);
        tally_drop(second);
        test_bus_stop(bus);
}

TEST_MAIN()
