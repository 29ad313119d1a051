/* Which units count, and what is said of those that do not. */
#include <sys/resource.h>

#include "starts/systemd.h"

/* Runs the agent with arguments; returns its status. */
static int report(const char *option, const char *json, char ret_output[1 << 20])
{
        return test_run_program((const char *[]){TEST_AGENT, option, json, NULL}, ret_output,
                                1 << 20);
}

static char output[1 << 20];

TEST_NO_BUS(mistakesAreReported)
{
        systemd systemd = systemd_prepare();
        write_section(&systemd, "bad.service", "Matchin=com.example.x");
        write_section(&systemd, "empty.service", "Matching=");
        write_section(&systemd, "other.service",
                      "# one\nMatching=self.x \\\n ; two\n com.example.y");
        write_section(&systemd, "bytes.service", "Matching=com.example.\xff");
        systemd_begin(&systemd);

        CHECK_EQ(report("--check", NULL, output), 1);
        CHECK(strstr(output, "bad.service: unknown key 'Matchin'\n"));
        CHECK(strstr(output, "empty.service: Matching= is missing\n"));
        CHECK(strstr(output, "other.service: self.x never leaves its process\n"));
        CHECK(strstr(output, "bytes.service: a line is not valid UTF-8\n"));
        CHECK_EQ(report("--list", "--json", output), 0);
        CHECK(strstr(output, "{\"unit\": \"other.service\", \"mistake\": \"self.x never leaves its "
                             "process\", \"matching\": [\"com.example.y\"]}"));
}

TEST_NO_BUS(unitsThatDoNotCountSayWhy)
{
        systemd systemd = systemd_prepare();
        const char *installed = "Matching=com.example.x\n[Install]\nWantedBy=basic.target";
        write_section(&systemd, "many@.service", "Matching=com.example.x");
        write_section(&systemd, "off.service", installed);
        write_section(&systemd, "on.service", installed);
        write_section(&systemd, "masked.service", "Matching=com.example.x");
        CHECK_EQ(mkdir(FORMAT("%s/basic.target.wants", systemd.units), 0700), 0);
        CHECK_EQ(symlink("../on.service", FORMAT("%s/basic.target.wants/on.service",
                                                 systemd.units)),
                 0);
        systemd_begin(&systemd);
        CHECK_EQ(mkdir(FORMAT("%s/systemd", systemd.runtime), 0700) == 0 || errno == EEXIST, 1);
        CHECK_EQ(mkdir(FORMAT("%s/.config/systemd/user.control", systemd.home), 0700), 0);
        CHECK_EQ(symlink("/dev/null", FORMAT("%s/.config/systemd/user.control/masked.service",
                                             systemd.home)),
                 0);

        CHECK_EQ(report("--check", NULL, output), 0);
        CHECK(strstr(output, "many@.service: not started: it is a template\n"));
        CHECK(strstr(output, "masked.service: not started: it is masked\n"));
        CHECK(strstr(output, "off.service: not started: it is disabled\n"));
        CHECK(!strstr(output, "on.service"));
        CHECK_EQ(report("--list", NULL, output), 0);
        CHECK(strstr(output, "unit masked.service\n    not started: it is masked\n"
                             "    com.example.x\n"));
        CHECK(strstr(output, "unit on.service\n    com.example.x\n"));
}

TEST_NO_BUS(theLastStartIsReported)
{
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", "oneshot", NAME, "true");
        systemd_begin(&systemd);
        agent_listen(&systemd);

        CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
        WAIT_UNTIL(n_starts(&systemd, NAME) && note_says(&systemd, "one.service", "done"));
        CHECK_EQ(report("--list", NULL, output), 0);
        const char *line = strstr(output, "unit one.service\n    " NAME "\n    last started 20");
        CHECK(line);
        CHECK(strstr(line, " by " NAME "\n"));
        CHECK_EQ(report("--list", "--json", output), 0);
        CHECK(strstr(output, "\"by\": \"" NAME "\"}"));
}

/* --- Changes --------------------------------------------------------------------------------- */

TEST_NO_BUS(unitsAreFollowed)
{
        systemd systemd = systemd_prepare();
        systemd_begin(&systemd);
        agent_spawn_hasty(&systemd.stage);

        write_logging(&systemd, "one.service", "oneshot", NAME, "true");
        systemd_reload();
        WAIT_UNTIL((notify_post(NAME), n_starts(&systemd, NAME) > 0));
        write_logging(&systemd, "one.service", "oneshot", "com.example.other", "true");
        systemd_reload();
        WAIT_UNTIL((notify_post("com.example.other"), n_starts(&systemd, "com.example.other") > 0));
}

/* Masked by a link, as systemctl does it. */
TEST_NO_BUS(aUnitThatIsMaskedMeanwhileIsNotStarted)
{
        systemd systemd = systemd_prepare();
        const char *path = FORMAT("%s/one.service", systemd.units);
        write_logging(&systemd, "one.service", "oneshot", NAME, UNTIL_LET);
        write_logging(&systemd, "two.service", "oneshot", "com.example.two", "true");
        systemd_begin(&systemd);
        agent_listen_hasty(&systemd);

        /* It is due again when it is masked. */
        CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
        WAIT_UNTIL_EQ(n_starts(&systemd, NAME), 1);
        CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
        CHECK_EQ(unlink(path), 0);
        CHECK_EQ(symlink("/dev/null", path), 0);
        write_logging(&systemd, "three.service", "oneshot", "com.example.three", "true");
        systemd_reload();
        WAIT_UNTIL((notify_post("com.example.three"), n_starts(&systemd, "com.example.three")));
        let_end(&systemd);
        test_let_pass_ms(1500); /* more than the pause of a hasty agent */
        CHECK_EQ(notify_post("com.example.two"), NOTIFY_STATUS_OK);
        WAIT_UNTIL_EQ(n_starts(&systemd, "com.example.two"), 1);
        CHECK_EQ(n_starts(&systemd, NAME), 1);
        /* When it counts again, it is started for what was posted. */
        CHECK_EQ(unlink(path), 0);
        write_logging(&systemd, "one.service", "oneshot", NAME, "true");
        systemd_reload();
        WAIT_UNTIL_EQ(n_starts(&systemd, NAME " 3 0 \n"), 1);
        CHECK_EQ(n_starts(&systemd, NAME), 2);
}

/* Returns the smallest number that is not a descriptor of a process. */
static rlim_t find_free_fd(pid_t pid)
{
        struct stat about;
        rlim_t fd = 0;

        while (lstat(FORMAT("/proc/%d/fd/%d", (int)pid, (int)fd), &about) == 0)
                fd++;
        return fd;
}

TEST_NO_BUS(unitsStayAsTheyAreWhileTheirFoldersCannotBeRead)
{
        systemd systemd = systemd_prepare();
        write_logging(&systemd, "one.service", "oneshot", NAME, "true");
        systemd_begin(&systemd);
        test_child *agent = agent_listen_hasty(&systemd);
        struct rlimit before, limit;

        CHECK_EQ(prlimit(test_child_pid(agent), RLIMIT_NOFILE, NULL, &before), 0);
        limit = (struct rlimit){find_free_fd(test_child_pid(agent)), before.rlim_max};
        CHECK_EQ(prlimit(test_child_pid(agent), RLIMIT_NOFILE, &limit, NULL), 0);
        write_logging(&systemd, "two.service", "oneshot", "com.example.two", "true");
        systemd_reload();
        while (!strstr(test_child_read_line(agent), "cannot read the units, will retry: Too many"))
                ;
        CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
        WAIT_UNTIL_EQ(n_starts(&systemd, ""), 1); /* without its environment */
        CHECK_EQ(prlimit(test_child_pid(agent), RLIMIT_NOFILE, &before, NULL), 0);
        WAIT_UNTIL((notify_post("com.example.two"), n_starts(&systemd, "com.example.two") > 0));
}

/* --- Many and strange files ------------------------------------------------------------------ */

/* The processor time of the programs that have ended; other work of the machine is no matter. */
static uint64_t children_us(void)
{
        struct rusage usage;

        CHECK_EQ(getrusage(RUSAGE_CHILDREN, &usage), 0);
        return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
               (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

TEST_NO_BUS(aThousandUnitsAreReadInASecond)
{
        systemd systemd = systemd_prepare();

        for (int i = 0; i < 1000; i++)
                write_section(&systemd, FORMAT("n%d.service", i),
                              FORMAT("Matching=com.example.n%d", i));
        write_logging(&systemd, "n999.service", "oneshot", "com.example.n999", "true");
        systemd_begin(&systemd);
        uint64_t shortest_us = UINT64_MAX;
        for (int i = 0; i < 3; i++) {
                uint64_t began_us = children_us();

                CHECK_EQ(report("--list", NULL, output), 0);
                if (strstr(output, "unit n999.service\n    com.example.n999\n") &&
                    children_us() - began_us < shortest_us)
                        shortest_us = children_us() - began_us;
        }
        printf("read in %u ms of a processor\n", (unsigned)(shortest_us / 1000));
        CHECK(shortest_us < 1000000 * test_slowness());
        agent_start(&systemd.stage);
        WAIT_UNTIL(note_says(&systemd, "n999.service", "done"));
        CHECK_EQ(notify_post("com.example.n999"), NOTIFY_STATUS_OK);
        WAIT_UNTIL_EQ(n_starts(&systemd, "com.example.n999 "), 1);
}

/* Neither an agent that waits for a pipe, nor one that reads a gigabyte. */
TEST_NO_BUS(strangeFilesDisturbNothing)
{
        systemd systemd = systemd_prepare();
        static const char name[] = "com.example.strange";
        write_section(&systemd, "good.service", FORMAT("Matching=%s", name));
        write_section(&systemd, "it's.service", FORMAT("Matching=%s", name));
        CHECK_EQ(mkdir(FORMAT("%s/folder.service", systemd.units), 0700), 0);
        CHECK_EQ(symlink("nowhere", FORMAT("%s/broken.service", systemd.units)), 0);
        CHECK_EQ(symlink("loop.service", FORMAT("%s/loop.service", systemd.units)), 0);
        systemd_begin(&systemd);
        /* systemd would wait for it. */
        CHECK_EQ(mkfifo(FORMAT("%s/pipe.service", systemd.units), 0600), 0);
        const char *huge = FORMAT("%s/huge.service", systemd.units);
        write_section(&systemd, "huge.service", FORMAT("Matching=%s", name));
        CHECK_EQ(truncate(huge, 1 << 30), 0);

        CHECK_EQ(report("--check", NULL, output), 1);
        CHECK(strstr(output, "huge.service: only the first MiB of the file is read\n"));
        CHECK_EQ(report("--list", NULL, output), 0);
        CHECK(strstr(output, "unit good.service\n    com.example.strange\n"));
        CHECK(!strstr(output, "it's"));
        CHECK(!strstr(output, "pipe.service"));
        CHECK(!strstr(output, "folder.service"));
}

TEST_MAIN()
