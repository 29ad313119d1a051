/* The agent: its lock, its states, what it costs. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>

#include "mock.h"
#include "namespaces.h"
#include "test-peer.h"

#define UPOWER "org.freedesktop.UPower"
#define UPOWER_PATH "/org/freedesktop/UPower"
#define PLUGGED "com.apple.springboard.pluggedin"
#define LID "com.apple.system.powermanagement.clamshellstate"

static int run_agent(const char *option, char *ret_output, size_t output_bytes)
{
        return test_run_program((const char *[]){TEST_AGENT, option, NULL}, ret_output,
                                output_bytes);
}

TEST(aSecondAgentOfATableEndsWithStatus0)
{
        stage stage = stage_begin();
        test_child *agent = agent_start(&stage);
        test_child *second = agent_spawn();

        CHECK_STREQ(test_child_read_line(second), "notifyagent: another agent runs for this table");
        CHECK_EQ(test_child_wait(second), 0);
        CHECK_EQ(agent_end(agent), 0);
        stage_await_readiness(&stage); /* of the second */
        CHECK_EQ(agent_end(agent_start(&stage)), 0);
}

TEST(theMachineHasNoAgent)
{
        stage stage = stage_begin();

        (void)stage;
        setenv("DARWIN_NOTIFY_BUS", "system", 1);
        CHECK_EQ(run_agent(NULL, NULL, 0), 1);
        CHECK_EQ(run_agent("--list", NULL, 0), 1);
        CHECK_EQ(run_agent("--bogus", NULL, 0), 1);
        CHECK_EQ(run_agent("--json", NULL, 0), 1);
}

TEST(theListIsJSON)
{
        static char output[32768];
        stage stage = stage_begin();
        test_child *agent = agent_start(&stage);

        CHECK_EQ(test_run_program((const char *[]){TEST_AGENT, "--list", "--json", NULL}, output,
                                  sizeof output),
                 0);
        CHECK(strstr(output, FORMAT("{\"agent\": %d, ", (int)test_child_pid(agent))));
        CHECK(strstr(output, "\"source\": \"lid\""));
        CHECK(strstr(output, "\"present\": false, \"missing\": \"org.freedesktop.UPower on the "
                             "system bus\""));
        if (access(PYTHON, X_OK) == 0) {
                const char *path = FORMAT("%s/list.json", test_directory());
                write_file(path, output);
                CHECK_EQ(test_run_program((const char *[]){PYTHON, "-m", "json.tool", path, NULL},
                                          NULL, 0),
                         0);
        }
        CHECK_EQ(run_agent("--check", output, sizeof output), 0);
        CHECK(strstr(output, "lid: missing: org.freedesktop.UPower on the system bus\n"));
}

TEST_ON_BUS(theListIsPrintedAsMetrics)
{
        static char text[32768], samples[32768];
        const char *const look[] = {PYTHON, "-c", "import prometheus_client", NULL};
        const char *parse = "import sys\n"
                            "from prometheus_client.openmetrics import parser\n"
                            "for f in parser.text_string_to_metric_families(sys.argv[1]):\n"
                            "  for s in f.samples: print(s.name, *s.labels.values(), s.value)\n";

        SKIP_IF(access(PYTHON, X_OK) < 0 || test_run_program(look, NULL, 0) != 0,
                "python3-prometheus-client is not installed");
        stage stage = stage_begin();
        mock mock = mock_begin(&stage);
        mock_start(&mock, "upower", UPOWER);
        agent_start(&stage);
        CHECK_EQ(run_agent("--metrics", text, sizeof text), 0);
        CHECK_EQ(test_run_program((const char *[]){PYTHON, "-c", parse, text, NULL}, samples,
                                  sizeof samples),
                 0);
        CHECK(strstr(samples, "darwin_notify_agent_running 1"));
        CHECK(strstr(samples, "darwin_notify_agent_source_present mounts 1"));
        CHECK(strstr(samples, "darwin_notify_agent_source_present lid 1"));
        CHECK(strstr(samples, "darwin_notify_agent_source_present lock 0"));
        CHECK(strstr(samples, "darwin_notify_agent_state power " PLUGGED " 1"));
}

/* --- The lock -------------------------------------------------------------------------------- */

/* Returns its path, or NULL if there is none. */
static const char *find_lock(const stage *stage)
{
        static char path[PATH_MAX];
        const char *directory = FORMAT("%s/darwin-notify", test_bus_directory(stage->bus));
        DIR *stream = opendir(directory);
        struct dirent *entry;
        bool is_found = false;

        while (stream && !is_found && (entry = readdir(stream))) {
                snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
                is_found = strncmp(entry->d_name, "agent-", 6) == 0;
        }
        if (stream)
                closedir(stream);
        return is_found ? path : NULL;
}

/* An agent that starts while another process has the lock exits. */
TEST(aReportDoesNotTakeTheLock)
{
        stage stage = stage_begin();
        int token;

        CHECK_EQ(notify_register_check("com.example.any", &token), NOTIFY_STATUS_OK);
        CHECK_EQ(run_agent("--check", NULL, 0), 0);
        CHECK(!find_lock(&stage)); /* taking it would make it */
}

TEST(aLockThatCannotBeTakenIsReported)
{
        static char output[32768];
        stage stage = stage_begin();

        CHECK_EQ(agent_end(agent_start(&stage)), 0);
        const char *lock = find_lock(&stage);
        CHECK(lock && unlink(lock) == 0 && mkdir(lock, 0700) == 0);
        CHECK_EQ(run_agent("--check", output, sizeof output), 1);
        CHECK(strstr(output, "lock: Is a directory\n"));
        test_child *agent = agent_spawn();
        CHECK_STREQ(test_child_read_line(agent),
                    FORMAT("notifyagent: cannot take the lock %s: Is a directory", lock));
        CHECK_EQ(test_child_wait(agent), 2);
}

/* --- Reserved names -------------------------------------------------------------------------- */

TEST_ON_BUS(reservedNamesAreInTheTableAlone)
{
        enter_namespaces(CLONE_NEWUTS);
        stage stage = stage_begin();
        test_peer *peer = test_peer_open_watching(stage.bus);
        agent_start(&stage);
        int name = stage_hear(&stage, "com.apple.system.hostname");

        CHECK_EQ(sethostname("elsewhere", 9), 0);
        stage_expect(&stage, name);
        CHECK_EQ(notify_post("com.example.after"), NOTIFY_STATUS_OK);
        test_peer_expect(peer, "com.example.after");
        test_peer_close(peer);
}

/* --- States ---------------------------------------------------------------------------------- */

static void remove_directory_of_table(const stage *stage)
{
        test_remove_tree(FORMAT("%s/darwin-notify", test_bus_directory(stage->bus)));
}

TEST_ON_BUS(statesAreRightAfterTheTableHasChanged)
{
        stage stage = stage_begin();
        mock mock = mock_begin(&stage);
        mock_start(&mock, "upower", UPOWER);
        mock_set(&mock, UPOWER, UPOWER_PATH, UPOWER, "LidIsClosed", "b", 1);
        test_child *agent = agent_start(&stage);
        int plugged = stage_hear(&stage, PLUGGED), lid = stage_hear(&stage, LID);

        for (int i = 0; i < 3; i++) {
                WAIT_UNTIL_EQ(state_of(plugged), 1);
                WAIT_UNTIL_EQ(state_of(lid), 1);
                remove_directory_of_table(&stage);
                /* The lock is taken anew with the table, which is missed at one of some posts. */
                WAIT_UNTIL((notify_post("com.example.move"), find_lock(&stage)));
                test_child *second = agent_spawn();
                CHECK_EQ(test_child_wait(second), 0);
                stage_await_readiness(&stage);
        }
        int late;
        CHECK_EQ(notify_register_check(LID, &late), NOTIFY_STATUS_OK);
        CHECK_EQ(state_of(late), 1);
        CHECK_EQ(agent_end(agent), 0);
}

TEST_ON_BUS(aNewAgentCorrectsTheStatesOfOneThatWasKilled)
{
        stage stage = stage_begin();
        mock mock = mock_begin(&stage);
        mock_start(&mock, "upower", UPOWER);
        int plugged = stage_hear(&stage, PLUGGED);
        test_child *agent = agent_start(&stage);
        WAIT_UNTIL_EQ(state_of(plugged), 1);
        while (stage_next(&stage, 100))
                ;

        test_child_kill(agent);
        mock_set(&mock, UPOWER, UPOWER_PATH, UPOWER, "OnBattery", "b", 1);
        CHECK_EQ(state_of(plugged), 1); /* the test holds it */
        agent_start(&stage);
        stage_expect(&stage, plugged);
        CHECK_EQ(state_of(plugged), 0);
}

TEST_ON_BUS(aServiceIsFollowedAsSoonAsItAppears)
{
        stage stage = stage_begin();
        mock mock = mock_begin(&stage);
        agent_start(&stage);
        int plugged = stage_hear(&stage, PLUGGED);

        for (int i = 0; i < 3; i++) {
                test_child *upower = mock_start(&mock, "upower", UPOWER);

                WAIT_UNTIL_EQ(state_of(plugged), 1);
                mock_set(&mock, UPOWER, UPOWER_PATH, UPOWER, "OnBattery", "b", 1);
                WAIT_UNTIL_EQ(state_of(plugged), 0);
                test_child_kill(upower);
                WAIT_UNTIL(!mock_owns(&mock, UPOWER));
        }
}

/* --- What it costs --------------------------------------------------------------------------- */

/* Sums a value over the threads of a process. */
static uint64_t sum_of_threads(pid_t pid, const char *key)
{
        DIR *threads = opendir(FORMAT("/proc/%d/task", (int)pid));
        struct dirent *entry;
        uint64_t sum = 0;
        char line[256];

        CHECK(threads);
        while ((entry = readdir(threads))) {
                FILE *status = fopen(FORMAT("/proc/%d/task/%s/status", (int)pid, entry->d_name),
                                     "re");

                while (status && fgets(line, sizeof line, status))
                        if (strncmp(line, key, strlen(key)) == 0)
                                sum += strtoull(line + strlen(key), NULL, 10);
                if (status)
                        fclose(status);
        }
        closedir(threads);
        return sum;
}

static uint64_t private_dirty_kib(pid_t pid)
{
        FILE *rollup = fopen(FORMAT("/proc/%d/smaps_rollup", (int)pid), "re");
        uint64_t kib = 0;
        char line[256];

        while (rollup && fgets(line, sizeof line, rollup))
                if (strncmp(line, "Private_Dirty:", 14) == 0)
                        kib = strtoull(line + 14, NULL, 10);
        if (rollup)
                fclose(rollup);
        return kib;
}

/* docs/agent.md measures a minute. */
TEST_ON_BUS(anAgentWithNothingToSayDoesNotWakeUp)
{
        SKIP_IF(TEST_HAS_THREAD_SANITIZER, "this sanitizer has a thread of its own that wakes up");
        enter_namespaces(CLONE_NEWNET | CLONE_NEWUTS);
        stage stage = stage_begin();
        cover_etc();
        test_child *agent = agent_start(&stage);
        pid_t pid = test_child_pid(agent);

        /* The kernel reports host names of other namespaces too: another test may set one. */
        WAIT_UNTIL(({
                uint64_t before = sum_of_threads(pid, "voluntary_ctxt_switches:");
                test_let_pass_ms(6000);
                sum_of_threads(pid, "voluntary_ctxt_switches:") == before;
        }));
        CHECK(TEST_HAS_SANITIZER || private_dirty_kib(pid) <= 4096);
}

TEST_MAIN()
