/* Posts start units of a real systemd. */
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <systemd/sd-bus.h>

#include "stage.h"

#define NAME "com.example.photos.changed"
#define PROGRAM "echo \"$NOTIFY_NAME $NOTIFY_GENERATION $NOTIFY_STATE $NOTIFY_MAY_HAVE_MISSED\" "

/* A manager of units, with its bus. */
typedef struct manager {
        stage stage;
        char runtime[PATH_MAX];
        char home[PATH_MAX];
        char log[PATH_MAX]; /* a line for each start */
} manager;

static void write_text(const char *path, const char *text)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

        CHECK(fd >= 0);
        CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        close(fd);
}

static void write_unit(const manager *manager, const char *name, const char *text)
{
        char path[PATH_MAX + 100];

        snprintf(path, sizeof path, "%s/.config/systemd/user/%s", manager->home, name);
        write_text(path, text);
}

/* A unit that writes a line into the log, then does something more. */
static void write_logging(const manager *manager, const char *name, const char *matching,
                          const char *more)
{
        char text[8192];

        snprintf(text, sizeof text,
                 "[Service]\nType=oneshot\nEnvironmentFile=-%%t/darwin-notify/%%n.env\n"
                 "ExecStart=sh -c '" PROGRAM ">>%s; %s'\n"
                 "[X-DarwinNotify]\nMatching=%s\n",
                 manager->log, more, matching);
        for (char *at = text; (at = strstr(at, "$NOTIFY")); at += 8) {
                memmove(at + 1, at, strlen(at) + 1); /* systemd would expand it */
        }
        write_unit(manager, name, text);
}

static manager prepare(void)
{
        manager manager = {.stage = {.fd = -1}};
        const char *probe = FORMAT("mount -t cgroup2 none /sys/fs/cgroup && "
                                   "mkdir /sys/fs/cgroup/probe.%d && rmdir /sys/fs/cgroup/probe.%d",
                                   (int)getpid(), (int)getpid());
        const char *const look[] = {"unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh",
                                    "-c", probe, NULL};

        SKIP_IF(access("/lib/systemd/systemd", X_OK) < 0, "systemd is not installed");
        SKIP_IF(geteuid() != 0 || test_run_program(look, NULL, 0) != 0,
                "this user may not run a systemd in control groups of its own");
        snprintf(manager.runtime, sizeof manager.runtime, "%s/run", test_directory());
        snprintf(manager.home, sizeof manager.home, "%s/home", test_directory());
        snprintf(manager.log, sizeof manager.log, "%s/log", test_directory());
        CHECK_EQ(mkdir(manager.runtime, 0700), 0);
        CHECK_EQ(mkdir(manager.home, 0700), 0);
        CHECK_EQ(mkdir(FORMAT("%s/.config", manager.home), 0700), 0);
        CHECK_EQ(mkdir(FORMAT("%s/.config/systemd", manager.home), 0700), 0);
        CHECK_EQ(mkdir(FORMAT("%s/.config/systemd/user", manager.home), 0700), 0);
        return manager;
}

static bool answers(void)
{
        sd_bus *bus = NULL;
        sd_bus_message *reply = NULL;
        bool is_there = sd_bus_open_user(&bus) >= 0 &&
                        sd_bus_set_method_call_timeout(bus, 1000000) >= 0 &&
                        sd_bus_call_method(bus, "org.freedesktop.systemd1",
                                           "/org/freedesktop/systemd1",
                                           "org.freedesktop.DBus.Peer", "Ping", NULL, &reply,
                                           NULL) >= 0;

        sd_bus_message_unref(reply);
        sd_bus_flush_close_unref(bus);
        return is_there;
}

static void begin(manager *manager)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};

        setenv("XDG_RUNTIME_DIR", manager->runtime, 1);
        setenv("HOME", manager->home, 1);
        setenv("DBUS_SESSION_BUS_ADDRESS", FORMAT("unix:path=%s/bus", manager->runtime), 1);
        setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent", 1);
        unsetenv("XDG_STATE_HOME");
        test_spawn_program((const char *[]){"unshare", "--mount", "--pid", "--fork",
                                            "--mount-proc", "--kill-child", TEST_MANAGER,
                                            manager->runtime, manager->home, NULL});
        WAIT_UNTIL(answers());
        snprintf(address.sun_path, sizeof address.sun_path, "%s/ready", test_directory());
        manager->stage.readiness = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        CHECK_EQ(bind(manager->stage.readiness, (struct sockaddr *)&address, sizeof address), 0);
        setenv("NOTIFY_SOCKET", address.sun_path, 1);
}

/* Counts the lines of the log that begin with a text. */
static int n_starts(const manager *manager, const char *begin)
{
        FILE *stream = fopen(manager->log, "re");
        char line[1024];
        int n = 0;

        while (stream && fgets(line, sizeof line, stream))
                n += strncmp(line, begin, strlen(begin)) == 0;
        if (stream)
                fclose(stream);
        return n;
}

/* Until then, an agent that is killed starts the unit again. */
static bool is_confirmed(const manager *manager, const char *unit)
{
        FILE *stream = fopen(FORMAT("%s/.local/state/notifyagent/%s", manager->home, unit), "re");
        char word[8] = "";

        CHECK(stream && fscanf(stream, "%7s", word) == 1);
        fclose(stream);
        return strcmp(word, "done") == 0;
}

static void reload(void)
{
        sd_bus *bus = NULL;

        CHECK(sd_bus_open_user(&bus) >= 0);
        CHECK(sd_bus_call_method(bus, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                                 "org.freedesktop.systemd1.Manager", "Reload", NULL, NULL,
                                 NULL) >= 0);
        sd_bus_flush_close_unref(bus);
}

TEST_NO_BUS(aPostStartsEachUnitThatMatches)
{
        manager manager = prepare();
        write_logging(&manager, "one.service", NAME, "true");
        write_logging(&manager, "two.service", NAME " com.example.more.", "false");
        begin(&manager);
        agent_start(&manager.stage);
        int token;

        CHECK_EQ(notify_register_check(NAME, &token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_set_state(token, 42), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
        WAIT_UNTIL_EQ(n_starts(&manager, NAME " "), 2);
        WAIT_UNTIL_EQ(n_starts(&manager, NAME " 2 42 \n"), 2);
        /* Two has failed, and is started by a prefix after its pause. */
        CHECK_EQ(notify_post("com.example.more.of.it"), NOTIFY_STATUS_OK);
        WAIT_UNTIL_EQ(n_starts(&manager, "com.example.more.of.it "), 1);
        CHECK_EQ(n_starts(&manager, ""), 3);
}

TEST_NO_BUS(postsWhileNoAgentRunsStartTheUnitOnce)
{
        manager manager = prepare();
        write_logging(&manager, "one.service", NAME, "true");
        begin(&manager);
        test_child *agent = agent_start(&manager.stage);

        CHECK_EQ(agent_end(agent), 0);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
        agent = agent_start(&manager.stage);
        WAIT_UNTIL_EQ(n_starts(&manager, NAME " 4 0 \n"), 1);
        WAIT_UNTIL(is_confirmed(&manager, "one.service"));
        CHECK_EQ(agent_end(agent), 0);
        agent_start(&manager.stage);
        test_let_pass_ms(500);
        CHECK_EQ(n_starts(&manager, ""), 1);
}

TEST_NO_BUS(anotherTableStartsTheUnitOnce)
{
        manager manager = prepare();
        write_logging(&manager, "one.service", NAME, "true");
        begin(&manager);
        agent_start(&manager.stage);
        int token;

        CHECK_EQ(notify_register_check("com.example.other", &token), NOTIFY_STATUS_OK);
        test_remove_tree(FORMAT("%s/darwin-notify", manager.runtime));
        WAIT_UNTIL((notify_post("com.example.other"), n_starts(&manager, NAME) == 1));
        FILE *stream = fopen(manager.log, "re");
        char line[200] = "";
        CHECK(stream && fgets(line, sizeof line, stream));
        fclose(stream);
        CHECK_STREQ(strrchr(line, ' '), " 1\n"); /* something may have been missed */
}

TEST_NO_BUS(aPostWhileItRunsStartsItOnceMoreAfterAPause)
{
        manager manager = prepare();
        write_logging(&manager, "one.service", NAME, "sleep 2");
        begin(&manager);
        agent_start(&manager.stage);

        CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
        WAIT_UNTIL_EQ(n_starts(&manager, NAME), 1);
        uint64_t began_us = test_now_us();
        for (int i = 0; i < 100; i++)
                CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
        WAIT_UNTIL_EQ(n_starts(&manager, NAME), 2);
        CHECK(test_now_us() - began_us > 9000000);
        test_let_pass_ms(3000);
        CHECK_EQ(n_starts(&manager, NAME), 2);
}

TEST_NO_BUS(aKilledAgentLosesNoStart)
{
        manager manager = prepare();
        write_logging(&manager, "one.service", NAME, "true");
        begin(&manager);
        enum { N = 15 };
        int token;

        CHECK_EQ(notify_register_check(NAME, &token), NOTIFY_STATUS_OK);
        test_child_kill(agent_start(&manager.stage));
        for (int i = 0; i < N; i++) {
                test_child *agent = agent_start(&manager.stage);

                CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
                test_let_pass_ms((unsigned)(i * 3 % 20)); /* it is killed at any step */
                test_child_kill(agent);
                agent = agent_start(&manager.stage);
                WAIT_UNTIL(n_starts(&manager, FORMAT(NAME " %d ", i + 2)) > 0);
                test_child_kill(agent);
        }
        CHECK(n_starts(&manager, "") <= 3 * N);
}

/* Returns when it has ended, by SIGKILL. A systemd that does not expect it may connect to the
 * socket of the dead bus, and wait for an answer instead of starting the bus. */
static void kill_bus(void)
{
        sd_bus *bus = NULL;
        sd_bus_message *call = NULL;

        WAIT_UNTIL(answers());
        CHECK(sd_bus_open_user(&bus) >= 0);
        CHECK(sd_bus_message_new_method_call(bus, &call, "org.freedesktop.systemd1",
                                             "/org/freedesktop/systemd1",
                                             "org.freedesktop.systemd1.Manager",
                                             "RestartUnit") >= 0);
        CHECK(sd_bus_message_append(call, "ss", "dbus.service", "replace") >= 0);
        CHECK(sd_bus_message_set_expect_reply(call, 0) >= 0);
        CHECK(sd_bus_send(bus, call, NULL) >= 0);
        sd_bus_message_unref(call);
        WAIT_UNTIL(sd_bus_process(bus, NULL) < 0);
        sd_bus_close_unref(bus);
}

/* Counts the starts for what the unit had been started for before. */
static int n_doubled(const manager *manager, int n_posts)
{
        int n = 0;

        for (int i = 0; i <= n_posts; i++) {
                int n_same = n_starts(manager, FORMAT(NAME " %d ", i + 1));

                n += n_same > 1 ? n_same - 1 : 0;
        }
        return n;
}

/* For ten seconds, both are killed at any step. */
TEST_NO_BUS(aKilledBusLosesNoStart)
{
        manager manager = prepare();
        write_logging(&manager, "one.service", NAME, "true");
        begin(&manager);
        uint64_t end_us = test_now_us() + 10000000;
        int token, n_posts = 0, n_kills = 0;

        CHECK_EQ(notify_register_check(NAME, &token), NOTIFY_STATUS_OK);
        test_child *agent = agent_start(&manager.stage);
        for (; n_posts < 3 || test_now_us() < end_us; n_posts++) {
                CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
                test_let_pass_ms((unsigned)(n_posts * 7 % 30));
                kill_bus();
                if (n_posts % 2 == 0) {
                        test_child_kill(agent);
                        agent = agent_start(&manager.stage);
                }
                WAIT_UNTIL(n_starts(&manager, FORMAT(NAME " %d ", n_posts + 2)) > 0);
                WAIT_UNTIL(is_confirmed(&manager, "one.service"));
                test_child_kill(agent); /* one that lives on would pause */
                agent = agent_start(&manager.stage);
                n_kills += n_posts % 2 == 0 ? 3 : 2;
        }
        printf("%d posts, %d kills, %d starts doubled\n", n_posts, n_kills,
               n_doubled(&manager, n_posts));
        CHECK(n_doubled(&manager, n_posts) <= n_kills);
}

TEST_NO_BUS(mistakesAreReported)
{
        static char output[16384];
        manager manager = prepare();
        write_unit(&manager, "bad.service",
                   "[Service]\nExecStart=true\n[X-DarwinNotify]\nMatchin=com.example.x\n");
        write_unit(&manager, "other.service",
                   "[Service]\nExecStart=true\n[X-DarwinNotify]\n"
                   "# one\nMatching=self.x \\\n ; two\n com.example.y\n");
        write_unit(&manager, "many@.service",
                   "[Service]\nExecStart=true\n[X-DarwinNotify]\nMatching=com.example.x\n");
        write_unit(&manager, "off.service", "[Service]\nExecStart=true\n"
                                            "[Install]\nWantedBy=basic.target\n"
                                            "[X-DarwinNotify]\nMatching=com.example.x\n");
        begin(&manager);

        CHECK_EQ(test_run_program((const char *[]){TEST_AGENT, "--check", NULL}, output,
                                  sizeof output), 1);
        CHECK(strstr(output, "bad.service: unknown key 'Matchin'\n"));
        CHECK(strstr(output, "other.service: self.x never leaves its process\n"));
        CHECK(strstr(output, "many@.service: not started: it is a template\n"));
        CHECK(strstr(output, "off.service: not started: it is disabled\n"));
        CHECK_EQ(test_run_program((const char *[]){TEST_AGENT, "--list", "--json", NULL}, output,
                                  sizeof output), 0);
        CHECK(strstr(output, "{\"unit\": \"other.service\", \"mistake\": \"self.x never leaves its "
                             "process\", \"matching\": [\"com.example.y\"]}"));
}

TEST_NO_BUS(unitsAreFollowed)
{
        manager manager = prepare();
        begin(&manager);
        agent_start(&manager.stage);

        write_logging(&manager, "one.service", NAME, "true");
        reload();
        WAIT_UNTIL((notify_post(NAME), n_starts(&manager, NAME) > 0));
        /* Masked by a link, as systemctl does it. */
        const char *path = FORMAT("%s/.config/systemd/user/one.service", manager.home);
        CHECK_EQ(unlink(path), 0);
        CHECK_EQ(symlink("/dev/null", path), 0);
        reload();
        test_let_pass_ms(500);
        int n = n_starts(&manager, NAME);
        CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
        test_let_pass_ms(11000);
        CHECK_EQ(n_starts(&manager, NAME), n);
}

/* The processor time of the programs that have ended; other work of the machine is no matter. */
static uint64_t children_us(void)
{
        struct rusage usage;

        CHECK_EQ(getrusage(RUSAGE_CHILDREN, &usage), 0);
        return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
               (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static bool is_started(const manager *manager, const char *unit)
{
        FILE *stream = fopen(FORMAT("%s/.local/state/notifyagent/%s", manager->home, unit), "re");
        char cause[64] = "";
        bool is_read = stream && fscanf(stream, "%*s %*s %63s", cause) == 1;

        if (stream)
                fclose(stream);
        return is_read && strncmp(cause, "com.example.", 12) == 0;
}

TEST_NO_BUS(aThousandUnitsAreReadInASecond)
{
        static char output[1 << 20];
        manager manager = prepare();
        char text[512];

        for (int i = 0; i < 1000; i++) {
                snprintf(text, sizeof text,
                         "[Service]\nExecStart=true\n[X-DarwinNotify]\nMatching=com.example.n%d\n",
                         i);
                write_unit(&manager, FORMAT("n%d.service", i), text);
        }
        begin(&manager);
        uint64_t shortest_us = UINT64_MAX;
        for (int i = 0; i < 3; i++) {
                uint64_t began_us = children_us();

                CHECK_EQ(test_run_program((const char *[]){TEST_AGENT, "--list", NULL}, output,
                                          sizeof output), 0);
                if (strstr(output, "unit n999.service\n    com.example.n999\n") &&
                    children_us() - began_us < shortest_us)
                        shortest_us = children_us() - began_us;
        }
        CHECK(shortest_us < 1000000 * test_slowness());
        agent_start(&manager.stage);
        /* Until it is known, it is not started. */
        WAIT_UNTIL((notify_post("com.example.n999"), is_started(&manager, "n999.service")));
}

TEST_MAIN()
