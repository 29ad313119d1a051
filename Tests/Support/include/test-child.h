/* Child processes that a test talks to over pipes, line by line.
 *
 * A child is killed when the process that spawned it ends, however that happens. */
#ifndef DN_TEST_CHILD_H
#define DN_TEST_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct test_child test_child;

/* Runs ROLE(role) of this same program; the arguments are strings, NULL at the end. */
__attribute__((sentinel)) test_child *test_spawn_role(const char *role, ...);
/* Runs a program of the PATH. */
test_child *test_spawn_program(const char *const argv[]);

pid_t test_child_pid(const test_child *child);

/* The next line of its standard output without the newline, NULL at the end; borrowed until the
 * next call. Fails the case when none comes in time. */
const char *test_child_read_line(test_child *child);
/* Reads lines, without waiting, until one contains the text; whether there was one. */
bool test_child_has_line(test_child *child, const char *text);
void test_child_write_line(test_child *child, const char *line);
/* Writes a line, then reads the answer. */
const char *test_child_ask(test_child *child, const char *line);

/* SIGSTOP; returns when it has stopped. */
void test_child_pause(test_child *child);
void test_child_resume(test_child *child);

/* Closes its standard input, waits for its end, frees. Its exit status, or 128 + signal. */
int test_child_wait(test_child *child);
/* SIGKILL, reaps, frees; returns NULL, which is allowed. */
test_child *test_child_kill(test_child *child);

/* Waits for a child of plain fork(): exit status, or 128 + signal. Fails the case when it does not
 * end in time. */
int test_wait_for(pid_t pid);

/* Runs a program to its end; its exit status. Standard output goes to `ret_output`, up to
 * `output_bytes` with the NUL; NULL, 0: nowhere. */
int test_run_program(const char *const argv[], char *ret_output, unsigned long output_bytes);

#endif
