/* Posts start units of a real systemd. */
#include <sched.h>

#include "starts/systemd.h"

TEST_NO_BUS(aPostStartsEachUnitThatMatches)
{
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", "oneshot", NAME, "true");
        write_logging(&systemd, "two.service", "oneshot", NAME " com.example.more.", "false");
        systemd_begin(&systemd);
        agent_listen_hasty(&systemd);
        int token;

        CHECK_EQ(notify_register_check(NAME, &token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_set_state(token, 42), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
        WAIT_UNTIL_EQ(n_starts(&systemd, NAME " 2 42 \n"), 2);
        /* Two has failed, and is started for a prefix after its pause. */
        CHECK_EQ(notify_post("com.example.more.of.it"), NOTIFY_STATUS_OK);
        WAIT_UNTIL_EQ(n_starts(&systemd, "com.example.more.of.it "), 1);
        CHECK_EQ(n_starts(&systemd, ""), 3);
}

TEST_NO_BUS(aNameThatFitsTwiceStartsAUnitOnce)
{
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", "oneshot",
                      "com.example. com.example.photos. " NAME, "true");
        systemd_begin(&systemd);
        agent_listen_hasty(&systemd);

        for (int i = 1; i <= 3; i++) {
                CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
                WAIT_UNTIL_EQ(n_starts(&systemd, NAME), i);
        }
        test_let_pass_ms(1500); /* more than the pause of a hasty agent */
        CHECK_EQ(n_starts(&systemd, NAME), 3);
}

/* The table does not count the posts of a program without the library, if nobody else does. */
TEST_NO_BUS(aSignalOnTheBusStartsAUnit)
{
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", "oneshot", NAME " com.example.more.", "true");
        systemd_begin(&systemd);
        agent_listen_hasty(&systemd);
        static const char *const names[] = {NAME, "com.example.more.of.it", NAME};

        for (int i = 0; i < 3; i++) {
                const char *name = names[i];
                const char *member = FORMAT("org.darwinnotify.Darwin1.%s.Posted", name);

                CHECK_EQ(test_run_program(
                                 (const char *[]){"dbus-send", "--session", "--type=signal",
                                                  "/org/darwinnotify/Darwin1", member,
                                                  FORMAT("string:%s", name), NULL},
                                 NULL, 0),
                         0);
                WAIT_UNTIL_EQ(n_starts(&systemd, ""), i + 1);
                CHECK_EQ(n_starts(&systemd, name), i / 2 + 1);
        }
}

TEST_NO_BUS(aNameThatTheAgentPostsStartsAUnit)
{
        CHECK(geteuid() != 0 || unshare(CLONE_NEWUTS) == 0); /* before there are other threads */
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", "oneshot", "com.apple.system.hostname", "true");
        systemd_begin(&systemd);
        agent_listen(&systemd);

        CHECK_EQ(sethostname("elsewhere", 9), 0);
        WAIT_UNTIL_EQ(n_starts(&systemd, "com.apple.system.hostname 2 0 \n"), 1);
}

/* A name may contain anything but a NUL. */
TEST_NO_BUS(aStrangeNameIsNotTakenForAnotherVariable)
{
        static const char name[] = "com.example.more.\"$HOME`id`\\\nNOTIFY_STATE=7\n0 0 0 0 " NAME;
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", "oneshot", NAME " com.example.more.", "true");
        systemd_begin(&systemd);
        test_child *agent = agent_listen(&systemd);

        CHECK_EQ(notify_post(name), NOTIFY_STATUS_OK);
        WAIT_UNTIL_EQ(n_starts(&systemd, "com.example.more.\"$HOME`id`\\\n"), 1);
        WAIT_UNTIL_EQ(n_starts(&systemd, "NOTIFY_STATE=7\n"), 1);
        WAIT_UNTIL_EQ(n_starts(&systemd, "0 0 0 0 " NAME " 0 0 \n"), 1);
        WAIT_UNTIL(note_says(&systemd, "one.service", "done"));
        CHECK_EQ(agent_end(agent), 0);
        agent_listen(&systemd);
        CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
        WAIT_UNTIL_EQ(n_starts(&systemd, NAME), 1);
        CHECK_EQ(n_starts(&systemd, ""), 4);
}

/* --- While it runs --------------------------------------------------------------------------- */

TEST_NO_BUS(aPostWhileItRunsStartsItOnceMoreAfterAPause)
{
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", "oneshot", NAME, UNTIL_LET);
        systemd_begin(&systemd);
        agent_listen_hasty(&systemd);

        uint64_t began_us = test_now_us();
        CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
        WAIT_UNTIL_EQ(n_starts(&systemd, NAME), 1);
        for (int i = 0; i < 100; i++)
                CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
        let_end(&systemd);
        WAIT_UNTIL_EQ(n_starts(&systemd, NAME " 102 "), 1);
        CHECK(test_now_us() - began_us > 950000); /* ten seconds of the agent, nearly */
        let_end(&systemd);
        test_let_pass_ms(1500);
        CHECK_EQ(n_starts(&systemd, NAME), 2);
}

/* Starts a unit of a type five times, each for a post during the run before, when the note of the
 * start says what is typical of it. */
static void post_five_times(const char *type, const char *note)
{
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", type, NAME, UNTIL_LET);
        systemd_begin(&systemd);
        test_child *agent = agent_listen_hasty(&systemd);

        CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
        for (int i = 1; i <= 6; i++) {
                WAIT_UNTIL_EQ(n_starts(&systemd, NAME), i);
                WAIT_UNTIL(note_says(&systemd, "one.service", note));
                if (i < 6)
                        CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
                /* Only then has the agent seen that it runs. */
                test_let_pass_ms(300);
                let_end(&systemd);
        }
        kill(test_child_pid(agent), SIGTERM);
        int n_lines = 0;
        for (const char *line; (line = test_child_read_line_or_end(agent));)
                n_lines += strstr(line, "one.service was started 5 times in a row") != NULL;
        CHECK_EQ(n_lines, 1);
        CHECK_EQ(test_child_wait(agent), 0);
}

TEST_NO_BUS(aUnitThatPostsItsOwnNameIsReportedOnce)
{
        post_five_times("oneshot", "open");
}

TEST_NO_BUS(soIsOneWhoseStartJobEndsAtOnce)
{
        post_five_times("exec", "done");
}

TEST_MAIN()
