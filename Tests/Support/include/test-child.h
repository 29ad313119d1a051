/* Child processes that a test communicates with over pipes, line by line.
 *
 * A child is killed when the process that spawned it ends for any reason. */
#pragma once

#include <sys/types.h>

typedef struct test_child test_child;

/* Runs ROLE(role) of this program; the arguments are strings, terminated by NULL. */
__attribute__((sentinel)) test_child *test_spawn_role(const char *role, ...);
/* Makes test_spawn_role() run a copy of this program, made at `path`: for a test that becomes
 * another user, who may not be able to enter the directory of the original. */
void test_roles_run_copy(const char *path);
/* Runs a program found in PATH. */
test_child *test_spawn_program(const char *const argv[]);

pid_t test_child_pid(const test_child *child);

/* Returns the next line of its standard output without the newline; borrowed until the next call.
 * Fails the case if none arrives in time, or if the child ends first. */
const char *test_child_read_line(test_child *child);
/* As test_child_read_line(), but returns NULL at the end of the output. */
const char *test_child_read_line_or_end(test_child *child);
/* Reads a line, which must be this one. Returns the child. */
test_child *test_child_await(test_child *child, const char *line);
void test_child_write_line(test_child *child, const char *line);
/* Writes a line, then reads the answer. */
const char *test_child_ask(test_child *child, const char *line);

/* SIGSTOP; returns when it has stopped. */
void test_child_pause(test_child *child);
void test_child_resume(test_child *child);

/* Closes its standard input, waits for it to end, and frees it. Returns its exit status, or 128 +
 * signal. */
int test_child_wait(test_child *child);
/* Kills with SIGKILL, reaps and frees; NULL is allowed. Returns NULL. */
test_child *test_child_kill(test_child *child);

/* Waits for a child of plain fork(); returns its exit status, or 128 + signal. Fails the case if it
 * does not end in time. */
int test_wait_for(pid_t pid);

/* Runs a program to completion and returns its exit status. Standard output goes to `ret_output`,
 * up to `output_bytes` including the NUL; NULL, 0 discards it. */
int test_run_program(const char *const argv[], char *ret_output, unsigned long output_bytes);
