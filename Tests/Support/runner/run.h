/* The cases that are to run, with what came of them. */
#ifndef DN_RUN_H
#define DN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct run_job {
        const char *program;
        const char *broker; /* NULL: needs none */
        char name[256];
        pid_t pid; /* while it runs, also its process group */
        uint64_t deadline_ms;
        int output_fd; /* a file without a name */
        bool overran;
} run_job;

typedef struct run_plan {
        run_job *jobs;
        size_t n_jobs;
} run_plan;

typedef struct run_totals {
        size_t n_passed;
        size_t n_failed;
        size_t n_skipped;
} run_totals;

void run_plan_add(run_plan *plan, const char *program, const char *name, const char *broker);
/* Runs all, `n_parallel` at a time; prints what did not pass. */
void run_all(run_plan *plan, size_t n_parallel, run_totals *totals);

#endif
