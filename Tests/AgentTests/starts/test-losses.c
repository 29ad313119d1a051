/* No start of a unit is lost, whatever ends meanwhile. */
#include "starts/systemd.h"

/* --- The agent ------------------------------------------------------------------------------- */

TEST_NO_BUS(postsWhileNoAgentRunsStartTheUnitOnce)
{
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", "oneshot", NAME, "true");
        systemd_begin(&systemd);
        test_child *agent = agent_listen(&systemd);

        CHECK_EQ(agent_end(agent), 0);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
        agent = agent_listen(&systemd);
        WAIT_UNTIL_EQ(n_starts(&systemd, NAME " 4 0 \n"), 1);
        WAIT_UNTIL(note_says(&systemd, "one.service", "done"));
        CHECK_EQ(agent_end(agent), 0);
        agent_listen(&systemd);
        test_let_pass_ms(500);
        CHECK_EQ(n_starts(&systemd, ""), 1);
}

/* Those that a program has registered are counted. */
TEST_NO_BUS(postsBelowAPrefixWhileNoAgentRunsStartTheUnit)
{
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", "oneshot", "com.example.more.", "true");
        systemd_begin(&systemd);
        test_child *agent = agent_listen(&systemd);
        int token;

        CHECK_EQ(agent_end(agent), 0);
        CHECK_EQ(notify_register_check("com.example.more.of.it", &token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_post("com.example.more.of.it"), NOTIFY_STATUS_OK);
        agent = agent_listen(&systemd);
        WAIT_UNTIL_EQ(n_starts(&systemd, "com.example.more.of.it 2 0 \n"), 1);
}

TEST_NO_BUS(anotherTableStartsTheUnitOnce)
{
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", "oneshot", NAME, "true");
        systemd_begin(&systemd);
        agent_listen(&systemd);
        int token;

        CHECK_EQ(notify_register_check("com.example.other", &token), NOTIFY_STATUS_OK);
        test_remove_tree(FORMAT("%s/darwin-notify", systemd.runtime));
        WAIT_UNTIL((notify_post("com.example.other"), n_starts(&systemd, NAME " 1 0 1\n") == 1));
        CHECK_EQ(n_starts(&systemd, ""), 1);
}

/* The agent writes the environment between the note and the start. */
static const char *block(const systemd *systemd)
{
        static char path[PATH_MAX + 32];

        snprintf(path, sizeof path, "%s/darwin-notify/.env", systemd->runtime);
        CHECK_EQ(mkfifo(path, 0600), 0);
        return path;
}

TEST_NO_BUS(aKillBetweenTheNoteAndTheStartRepeatsIt)
{
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", "oneshot", NAME, "true");
        systemd_begin(&systemd);
        test_child *agent = agent_listen(&systemd);
        const char *barrier = block(&systemd);

        CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
        WAIT_UNTIL(note_says(&systemd, "one.service", "open"));
        test_child_kill(agent);
        CHECK_EQ(unlink(barrier), 0);
        CHECK_EQ(n_starts(&systemd, ""), 0);
        agent_listen(&systemd);
        WAIT_UNTIL_EQ(n_starts(&systemd, NAME " 2 0 \n"), 1);
}

TEST_NO_BUS(whatIsRepeatedStillSaysThatPostsMayHaveBeenMissed)
{
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", "oneshot", NAME, "true");
        systemd_begin(&systemd);
        test_child_kill(agent_listen(&systemd));

        test_remove_tree(FORMAT("%s/darwin-notify", systemd.runtime));
        CHECK_EQ(mkdir(FORMAT("%s/darwin-notify", systemd.runtime), 0700), 0);
        const char *barrier = block(&systemd);
        test_child *agent = agent_spawn();
        WAIT_UNTIL(note_says(&systemd, "one.service", "missed"));
        test_child_kill(agent);
        CHECK_EQ(unlink(barrier), 0);
        agent_listen(&systemd);
        WAIT_UNTIL_EQ(n_starts(&systemd, NAME " 1 0 1\n"), 1);
}

/* --- Kills at any step ----------------------------------------------------------------------- */

/* Counts the starts for what the unit had been started for before. */
static int n_doubled(const systemd *systemd, int n_posts)
{
        int n = 0;

        for (int i = 0; i <= n_posts; i++) {
                int n_same = n_starts(systemd, FORMAT(NAME " %d ", i + 1));

                n += n_same > 1 ? n_same - 1 : 0;
        }
        return n;
}

TEST_NO_BUS(aKilledAgentLosesNoStart)
{
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", "oneshot", NAME, "true");
        systemd_begin(&systemd);
        enum { N = 15 };
        int token;

        CHECK_EQ(notify_register_check(NAME, &token), NOTIFY_STATUS_OK);
        test_child_kill(agent_listen(&systemd));
        for (int i = 0; i < N; i++) {
                test_child *agent = agent_listen(&systemd);

                CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
                test_let_pass_ms((unsigned)(i * 3 % 20));
                test_child_kill(agent);
                agent = agent_listen(&systemd);
                WAIT_UNTIL(n_starts(&systemd, FORMAT(NAME " %d ", i + 2)) > 0);
                test_child_kill(agent);
        }
        printf("%d kills, %d starts doubled\n", 2 * N, n_doubled(&systemd, N));
        CHECK(n_doubled(&systemd, N) <= 2 * N);
}

/* Returns when it has ended, by SIGKILL. A systemd that does not expect it may connect to the
 * socket of the dead bus, and wait for an answer instead of starting the bus. */
static void kill_bus(void)
{
        sd_bus_message *call = NULL;

        WAIT_UNTIL(systemd_answers());
        sd_bus *bus = systemd_connect();
        CHECK(sd_bus_message_new_method_call(bus, &call, SYSTEMD, SYSTEMD_PATH, SYSTEMD_INTERFACE,
                                             "RestartUnit") >= 0);
        CHECK(sd_bus_message_append(call, "ss", "dbus.service", "replace") >= 0);
        CHECK(sd_bus_message_set_expect_reply(call, 0) >= 0);
        CHECK(sd_bus_send(bus, call, NULL) >= 0);
        sd_bus_message_unref(call);
        WAIT_UNTIL(sd_bus_process(bus, NULL) < 0);
        sd_bus_close_unref(bus);
}

/* For ten seconds, both are killed. */
TEST_NO_BUS(aKilledBusLosesNoStart)
{
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", "oneshot", NAME, "true");
        systemd_begin(&systemd);
        uint64_t end_us = test_now_us() + 10000000;
        int token, n_posts = 0, n_kills = 0;

        CHECK_EQ(notify_register_check(NAME, &token), NOTIFY_STATUS_OK);
        test_child *agent = agent_listen(&systemd);
        for (; n_posts < 3 || test_now_us() < end_us; n_posts++) {
                CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
                test_let_pass_ms((unsigned)(n_posts * 7 % 30));
                kill_bus();
                if (n_posts % 2 == 0) {
                        test_child_kill(agent);
                        agent = agent_listen(&systemd);
                }
                WAIT_UNTIL(n_starts(&systemd, FORMAT(NAME " %d ", n_posts + 2)) > 0);
                WAIT_UNTIL(note_says(&systemd, "one.service", "done"));
                test_child_kill(agent); /* one that lives on would pause */
                agent = agent_listen(&systemd);
                n_kills += n_posts % 2 == 0 ? 3 : 2;
        }
        printf("%d posts, %d kills, %d starts doubled\n", n_posts, n_kills,
               n_doubled(&systemd, n_posts));
        CHECK(n_doubled(&systemd, n_posts) <= n_kills);
}

/* --- systemd --------------------------------------------------------------------------------- */

TEST_NO_BUS(postsWhileSystemdIsDownStartTheUnitOnce)
{
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", "oneshot", NAME, "true");
        systemd_begin(&systemd);
        agent_listen(&systemd);

        test_child_kill(systemd.manager);
        WAIT_UNTIL(!systemd_answers());
        for (int i = 0; i < 3; i++)
                CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
        systemd_spawn(&systemd);
        WAIT_UNTIL_EQ(n_starts(&systemd, NAME " 4 0 \n"), 1);
        CHECK_EQ(n_starts(&systemd, ""), 1);
}

static void start_unit(const char *unit, const char *mode)
{
        sd_bus *bus = systemd_connect();

        CHECK(sd_bus_call_method(bus, SYSTEMD, SYSTEMD_PATH, SYSTEMD_INTERFACE, "StartUnit", NULL,
                                 NULL, "ss", unit, mode) >= 0);
        sd_bus_flush_close_unref(bus);
}

static bool has_property(const char *path, const char *interface, const char *property,
                         const char *expected)
{
        sd_bus *bus = systemd_connect();
        char *value = NULL;
        bool is_equal = sd_bus_get_property_string(bus, SYSTEMD, path, interface, property, NULL,
                                                   &value) >= 0 &&
                        strcmp(value, expected) == 0;

        free(value);
        sd_bus_flush_close_unref(bus);
        return is_equal;
}

/* Returns the only child of a process, in any namespace. */
static pid_t find_child(pid_t parent)
{
        FILE *stream = fopen(FORMAT("/proc/%d/task/%d/children", (int)parent, (int)parent), "re");
        int child = 0;

        CHECK(stream && fscanf(stream, "%d", &child) == 1);
        fclose(stream);
        return child;
}

/* For longer than an answer is waited for. */
TEST_NO_BUS(aSystemdThatHangsIsAskedAgain)
{
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", "oneshot", NAME, "true");
        systemd_begin(&systemd);
        pid_t pid = find_child(find_child(test_child_pid(systemd.manager)));

        CHECK_EQ(kill(pid, SIGSTOP), 0);
        agent_spawn_hasty(&systemd.stage);
        test_let_pass_ms(4000);
        CHECK_EQ(kill(pid, SIGCONT), 0);
        WAIT_UNTIL((notify_post(NAME), n_starts(&systemd, NAME) > 0));
}

/* It refuses to start anything while it stops. */
TEST_NO_BUS(aRefusedStartIsTriedAgain)
{
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", "oneshot", NAME, "true");
        write_unit(&systemd, "slow.service",
                   "[Unit]\nAfter=dbus.service dbus.socket\n"
                   "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=true\n"
                   "ExecStop=sh -c '" UNTIL_LET "'\n");
        systemd_begin(&systemd);
        agent_listen(&systemd);
        start_unit("slow.service", "replace");
        WAIT_UNTIL(has_property(SYSTEMD_PATH "/unit/slow_2eservice", SYSTEMD ".Unit",
                                "ActiveState", "active"));

        start_unit("exit.target", "replace-irreversibly");
        WAIT_UNTIL(has_property(SYSTEMD_PATH, SYSTEMD_INTERFACE, "SystemState", "stopping"));
        CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
        WAIT_UNTIL(note_says(&systemd, "one.service", "open"));
        test_let_pass_ms(300); /* for the answer */
        let_end(&systemd);
        (void)test_child_wait(systemd.manager);
        CHECK_EQ(n_starts(&systemd, ""), 0);
        systemd_spawn(&systemd);
        WAIT_UNTIL_EQ(n_starts(&systemd, NAME " 2 0 \n"), 1);
}

TEST_MAIN()
