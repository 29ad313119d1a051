/* Communicates with child processes. */
#include "test-child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "test-private.h"
#include "test-spawn.h"

#define MAX_ARGUMENTS 32
#define LINE_BYTES 8192

struct test_child {
        pid_t pid;
        int to;
        int from;
        size_t n_read; /* bytes filled in `text` */
        size_t n_used; /* bytes of `text` already returned */
        char text[LINE_BYTES];
};

static char copy[256]; /* of this program; empty: none */

test_child *test_spawn_program(const char *const argv[])
{
        test_child *child = calloc(1, sizeof *child);
        int in[2], out[2];

        if (!child || pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
                test_broken("pipe: %s", strerror(errno));
        test_leave_to_exit(child);
        test_spawn_plan plan = {.argv = argv, .fds = {in[0], out[1], STDERR_FILENO}, .n_fds = 3};
        child->pid = test_spawn(&plan);
        close(in[0]);
        close(out[1]);
        child->to = in[1];
        child->from = out[0];
        signal(SIGPIPE, SIG_IGN);
        return child;
}

void test_roles_run_copy(const char *path)
{
        int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
        ssize_t n;

        do
                n = sendfile(to, from, NULL, 1 << 30);
        while (n > 0);
        if (n < 0 || fchmod(to, 0755) < 0) /* whatever the umask is */
                test_broken("cannot copy this program to %s: %s", path, strerror(errno));
        close(from);
        close(to);
        snprintf(copy, sizeof copy, "%s", path);
}

test_child *test_spawn_role(const char *role, ...)
{
        const char *argv[MAX_ARGUMENTS + 4] = {copy, "--role", role};
        size_t n = 3;
        char exe[4096] = "";
        va_list values;

        if (!copy[0]) {
                /* In the child, /proc/self/exe is setpriv. */
                if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0)
                        test_broken("/proc/self/exe: %s", strerror(errno));
                argv[0] = exe;
        }
        va_start(values, role);
        while (n < MAX_ARGUMENTS + 3 && (argv[n] = va_arg(values, const char *)))
                n++;
        va_end(values);
        return test_spawn_program(argv);
}

pid_t test_child_pid(const test_child *child)
{
        return child->pid;
}

/* Returns false at the end of the output. */
static bool child_fill(test_child *child, uint64_t deadline_us)
{
        struct pollfd wait = {.fd = child->from, .events = POLLIN};
        ssize_t n;

        if (child->n_used > 0) {
                memmove(child->text, child->text + child->n_used, child->n_read - child->n_used);
                child->n_read -= child->n_used;
                child->n_used = 0;
        }
        if (child->n_read == sizeof child->text)
                test_broken("a child wrote a line of more than %zu bytes", sizeof child->text);
        uint64_t now = test_now_us();
        int timeout_ms = deadline_us > now ? (int)((deadline_us - now) / 1000) + 1 : 0;
        if (poll(&wait, 1, timeout_ms) == 0)
                test_fail(__FILE__, __LINE__, "no line from child %d in time", (int)child->pid);
        n = read(child->from, child->text + child->n_read, sizeof child->text - child->n_read);
        if (n < 0)
                return errno == EINTR;
        child->n_read += (size_t)n;
        return n > 0;
}

/* Returns a line already read, or NULL. */
static char *child_take_line(test_child *child)
{
        char *start = child->text + child->n_used;
        char *end = memchr(start, '\n', child->n_read - child->n_used);

        if (!end)
                return NULL;
        *end = '\0';
        child->n_used = (size_t)(end - child->text) + 1;
        return start;
}

const char *test_child_read_line_or_end(test_child *child)
{
        uint64_t deadline = test_deadline_us();
        char *line;

        while (!(line = child_take_line(child)))
                if (!child_fill(child, deadline))
                        return NULL;
        return line;
}

const char *test_child_read_line(test_child *child)
{
        const char *line = test_child_read_line_or_end(child);

        if (!line)
                test_fail(__FILE__, __LINE__, "child %d ended instead of writing a line",
                          (int)child->pid);
        return line;
}

test_child *test_child_await(test_child *child, const char *line)
{
        CHECK_STREQ(test_child_read_line(child), line);
        return child;
}

void test_child_write_line(test_child *child, const char *line)
{
        char text[LINE_BYTES];
        int n = snprintf(text, sizeof text, "%s\n", line);

        if (write(child->to, text, (size_t)n) != n)
                test_fail(__FILE__, __LINE__, "child %d does not listen: %s", (int)child->pid,
                          strerror(errno));
}

const char *test_child_ask(test_child *child, const char *line)
{
        test_child_write_line(child, line);
        const char *answer = test_child_read_line_or_end(child);
        if (!answer)
                test_fail(__FILE__, __LINE__, "child %d ended when asked \"%s\"", (int)child->pid,
                          line);
        return answer;
}

void test_child_pause(test_child *child)
{
        test_stop_process(child->pid);
}

void test_child_resume(test_child *child)
{
        kill(child->pid, SIGCONT);
}

static void child_free(test_child *child)
{
        if (child->to >= 0)
                close(child->to);
        close(child->from);
        free(child);
}

int test_wait_for(pid_t pid)
{
        int status = test_reap(pid);

        if (status < 0)
                test_fail(__FILE__, __LINE__, "child %d does not end", (int)pid);
        return status;
}

int test_child_wait(test_child *child)
{
        close(child->to);
        child->to = -1;
        int status = test_wait_for(child->pid);
        child_free(child);
        return status;
}

test_child *test_child_kill(test_child *child)
{
        if (!child)
                return NULL;
        test_kill_and_reap(child->pid);
        child_free(child);
        return NULL;
}

int test_run_program(const char *const argv[], char *ret_output, unsigned long output_bytes)
{
        test_child *child = test_spawn_program(argv);
        unsigned long n = 0;
        const char *line;

        if (output_bytes > 0)
                ret_output[0] = '\0';
        while ((line = test_child_read_line_or_end(child)))
                if (n < output_bytes)
                        n += (unsigned long)snprintf(ret_output + n, output_bytes - n, "%s\n",
                                                     line);
        return test_child_wait(child);
}
