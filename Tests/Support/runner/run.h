/* The cases to run and their results. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct run_job {
        const char *program;
        const char *broker; /* or "none"; NULL: the case starts its own */
        char name[256];
        pid_t pid; /* while running; also its process group */
        uint64_t began_ms;
        uint64_t took_ms;
        int output_fd; /* an unnamed file */
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
/* Runs all cases, `n_parallel` at a time; prints the cases that did not pass. */
void run_all(run_plan *plan, size_t n_parallel, run_totals *totals);
/* Prints the cases that took long. */
void run_print_slow(const run_plan *plan);
