/* A host that closes all descriptors, known or not, as daemons do. */
#include <darwinnotify/inspect.h>
#include <errno.h>
#include <fcntl.h>
#include <notify.h>
#include <notify_private.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "notify-tally.h"

#define MAX_FDS 256

static tally heard, bystander;

/* Called by the leak sanitizer. A connection whose descriptor was closed is given up. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
        return "leak:sd_bus_new\n";
}

/* --- the files of the host -------------------------------------------------------------------- */

enum { N_FOREIGN = 20 };

typedef struct foreign {
        int file;
        int pipe[2];
        int sockets[2];
} foreign;

static foreign others[N_FOREIGN];

/* All kinds, with the numbers that the library had. */
static void open_others(const char *directory)
{
        for (int i = 0; i < N_FOREIGN; i++) {
                CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, others[i].sockets), 0);
                CHECK_EQ(pipe2(others[i].pipe, O_NONBLOCK), 0);
                others[i].file = open(FORMAT("%s/other-%d", directory, i),
                                      O_RDWR | O_CREAT | O_EXCL, 0600);
                CHECK(others[i].file >= 0);
        }
}

static bool is_readable(int fd)
{
        struct pollfd wait = {.fd = fd, .events = POLLIN};

        return poll(&wait, 1, 0) > 0;
}

/* They are open, and nothing was written into them, except perhaps a post into a socket. */
static void check_others(void)
{
        struct stat status;

        for (int i = 0; i < N_FOREIGN && others[i].file; i++) {
                CHECK_EQ(fstat(others[i].file, &status), 0);
                CHECK(S_ISREG(status.st_mode));
                CHECK_EQ(status.st_size, 0);
                CHECK_EQ(status.st_blocks, 0);
                CHECK(!is_readable(others[i].pipe[0]));
                CHECK_EQ(write(others[i].pipe[1], "", 1), 1);
                CHECK_EQ(write(others[i].sockets[1], "", 1), 1);
                CHECK(is_readable(others[i].pipe[0]) && is_readable(others[i].sockets[0]));
        }
}

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
        if (DN_HAS_BUS)
                tally_observe_soon(dn_center_distributed(), "other", &bystander);
        token = add_callback("file", &bystander);
        CHECK_EQ(notify_monitor_file(token, path, 0), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_file_descriptor("piped", &fd, 0, &token), NOTIFY_STATUS_OK);
}

/* Argument: a directory for the files that get the numbers. */
ROLE(closeAll)
{
        CHECK_EQ(n_args, 1);
        use_everything();
        CHECK_EQ(syscall(SYS_close_range, 3U, ~0U, 0U), 0);
        open_others(args[0]);
        printf("closed\n");
        serve();
        check_others();
        CHECK_EQ(dn_center_post(dn_center_darwin(), "piped", NULL, NULL, 0), 0);
        return 0;
}

#if DN_HAS_BUS
static void ignore_outcome(const dn_outcome *outcome, void *context)
{
}

/* Argument: what to do before anybody else has noticed it. */
ROLE(closeAllAndGoOn)
{
        const dn_call_plan plan = {.service = "org.example.None", .kind = "org.example.None.Ask"};
        const dn_call_handler handler = {.ended = ignore_outcome};
        dn_center *center = dn_center_darwin();

        tally_observe_soon(center, "in", &heard);
        WAIT_UNTIL(dn_center_is_on_bus(center) == 1);
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        post_ok(center, "out");
        CHECK_EQ(syscall(SYS_close_range, 3U, ~0U, 0U), 0);
        if (strcmp(args[0], "call") == 0) {
                CHECK_EQ(dn_call_begin(center, &plan, &handler, NULL, NULL), -ENOTCONN);
        } else { /* the bus may have read the post */
                int r = dn_flush(TEST_DEADLINE_US);
                CHECK(r == 0 || r == -ENOTCONN);
        }
        WAIT_UNTIL(dn_center_is_on_bus(center) == 1);
        return 0;
}

TEST_ON_BUS(aFlushAndACallNoticeThatTheirDescriptorWasClosed)
{
        test_bus_begin();
        CHECK_EQ(test_child_wait(test_spawn_role("closeAllAndGoOn", "flush", NULL)), 0);
        CHECK_EQ(test_child_wait(test_spawn_role("closeAllAndGoOn", "call", NULL)), 0);
}

static int ignore_post(const dn_post_record *record, void *context)
{
        return 0;
}

/* Argument: a directory for the files that get the numbers. */
ROLE(closeAllOfAWatch)
{
        const dn_watcher watcher = {.post = ignore_post};
        dn_watch *watch;

        CHECK_EQ(dn_watch_open(NULL, NULL, &watcher, &watch), 0);
        CHECK_EQ(dn_watch_process(watch), 0);
        CHECK_EQ(syscall(SYS_close_range, 3U, ~0U, 0U), 0);
        open_others(args[0]);
        CHECK_EQ(dn_watch_process(watch), -ENOTCONN);
        CHECK(!dn_watch_close(watch));
        check_others();
        return 0;
}

TEST_ON_BUS(aWatchWhoseDescriptorsWereClosedHasLostItsBus)
{
        test_bus_begin();
        CHECK_EQ(test_child_wait(test_spawn_role("closeAllOfAWatch", test_directory(), NULL)), 0);
}
#endif

static uint64_t ask(test_child *child, const char *line)
{
        return strtoull(test_child_ask(child, line), NULL, 10);
}

TEST(filesThatHaveTheNumbersOfClosedDescriptorsAreLeftAlone)
{
        if (TEST_HAS_THREAD_SANITIZER)
                SKIP("it takes the closing of descriptors that others use for a race");
        test_bus_begin();
        tally seen = {0};
        dn_observer *observer = tally_observe(dn_center_darwin(), "out", &seen);
        test_child *child = test_child_await(
                test_spawn_role("closeAll", test_directory(), NULL), "closed");
        for (uint64_t i = 1; i <= 20; i++) {
                post_ok(dn_center_darwin(), "in");
                WAIT_UNTIL_EQ(ask(child, "?"), i);
                (void)ask(child, "post out");
                WAIT_UNTIL_EQ(seen.n_posts, i);
        }
        CHECK_EQ(test_child_wait(child), 0);
        tally_drop(observer);
}

/* --- what it costs ---------------------------------------------------------------------------- */

static _Atomic unsigned n_looks; /* of any thread at a socket */

__attribute__((visibility("default"))) int fstat(int fd, struct stat *status)
{
        int r = (int)syscall(SYS_fstat, fd, status);

        n_looks += r == 0 && S_ISSOCK(status->st_mode);
        return r;
}

/* Few enough not to gather. */
TEST_ON_BUS(aPostDoesNotLookWhetherItsDescriptorWasClosed)
{
        test_bus_begin();
        post_soon(dn_center_darwin(), "N");
        post_soon(dn_center_darwin(), "N"); /* after which it asks whether it is native */
        WAIT_UNTIL_EQ(dn_flush(TEST_DEADLINE_US), 0);
        WAIT_UNTIL_EQ(statistic(DN_STATISTIC_SIGNALS_SENT), 2);
        for (unsigned n_before, n_after = 0, i = 0; n_after != 0 || i == 0; i++) {
                test_let_pass_ms(20);
                n_before = n_looks;
                post_soon(dn_center_darwin(), "N");
                n_after = n_looks - n_before;
                CHECK(i < 100);
        }
}

/* --- a child ---------------------------------------------------------------------------------- */

TEST(everyDescriptorClosesAtAnExecAndInAForkedChild)
{
        test_bus_begin();
        bool is_known[MAX_FDS];
        unsigned n_ours = 0;
        pid_t pid;

        for (int fd = 0; fd < MAX_FDS; fd++)
                is_known[fd] = fcntl(fd, F_GETFD) >= 0;
        use_everything();
        for (int fd = 0; fd < MAX_FDS; fd++) {
                if (is_known[fd] || fcntl(fd, F_GETFD) < 0)
                        continue;
                n_ours++;
                CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        }
        CHECK(n_ours > 2);
        pid = test_fork();
        if (pid == 0) {
                n_ours = 0;
                for (int fd = 0; fd < MAX_FDS; fd++)
                        n_ours += !is_known[fd] && fcntl(fd, F_GETFD) >= 0;
                _exit((int)n_ours);
        }
        CHECK_EQ(test_wait_for(pid), 2); /* the pipe that was given to the host */
}

TEST_MAIN()
