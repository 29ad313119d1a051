/* Starts a process that does not outlive this one. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define TEST_SPAWN_MAX_FDS 4

typedef struct test_spawn_plan {
        const char *const *argv;
        const char *const *environment; /* NULL stands for that of this process */
        int fds[TEST_SPAWN_MAX_FDS]; /* fds[i] becomes i in the child; -1 is /dev/null */
        size_t n_fds;                /* at least 3; everything else is closed */
} test_spawn_plan;

/* The child gets SIGKILL when this process ends, whichever thread started it. */
pid_t test_spawn(const test_spawn_plan *plan);
/* Waits for its end and returns its exit status, or 128 + signal; -1 at the deadline, leaving it
 * running. */
int test_reap(pid_t pid);
void test_kill_and_reap(pid_t pid);
void test_stop_process(pid_t pid); /* SIGSTOP; returns when it has stopped */
