/* Runs test cases in parallel, each with a time limit. */
#include "run.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CASE_LIMIT_MS 240000
#define SLOW_MS 4000
#define STATUS_SKIPPED 77

static uint64_t now_ms(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t case_limit_ms(void)
{
        const char *slow = getenv("DN_TEST_SLOW");
        int factor = slow ? atoi(slow) : 1;

        return (uint64_t)CASE_LIMIT_MS * (uint64_t)(factor > 1 ? factor : 1);
}

void run_plan_add(run_plan *plan, const char *program, const char *name, const char *broker)
{
        run_job *job;

        plan->jobs = realloc(plan->jobs, (plan->n_jobs + 1) * sizeof *plan->jobs);
        if (!plan->jobs)
                abort();
        job = &plan->jobs[plan->n_jobs++];
        *job = (run_job){.program = program, .broker = broker, .output_fd = -1};
        snprintf(job->name, sizeof job->name, "%s", name);
}

__attribute__((noreturn)) static void become_case(const run_job *job)
{
        const char *argv[] = {job->program, job->name, NULL};

        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (job->broker)
                setenv("DN_TEST_BROKER", job->broker, 1);
        int nothing = open("/dev/null", O_RDONLY);
        dup2(nothing, STDIN_FILENO);
        dup2(job->output_fd, STDOUT_FILENO);
        dup2(job->output_fd, STDERR_FILENO);
        syscall(SYS_close_range, 3U, ~0U, 0U);
        execv(job->program, (char *const *)argv);
        perror(job->program);
        _exit(127);
}

static void job_start(run_job *job)
{
        job->output_fd = memfd_create("output", MFD_CLOEXEC);
        job->began_ms = now_ms();
        fflush(stdout);
        job->pid = fork();
        if (job->pid < 0) {
                perror("fork");
                exit(1);
        }
        if (job->pid == 0)
                become_case(job);
        setpgid(job->pid, job->pid); /* in both processes, whichever runs first */
}

static void print_output(const run_job *job)
{
        char text[4096];
        ssize_t n;

        lseek(job->output_fd, 0, SEEK_SET);
        while ((n = read(job->output_fd, text, sizeof text)) > 0)
                fwrite(text, 1, (size_t)n, stdout);
}

static void print_job(const char *verdict, const run_job *job)
{
        const char *folder = strstr(job->program, "/tests/");

        printf("%s %s %s%s%s%s", verdict, folder ? folder + strlen("/tests/") : job->program,
               job->name, job->broker ? " [" : "", job->broker ? job->broker : "",
               job->broker ? "]" : "");
}

static void job_judge(run_job *job, int status, run_totals *totals)
{
        if (!job->overran && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
                totals->n_passed++;
        } else if (!job->overran && WIFEXITED(status) && WEXITSTATUS(status) == STATUS_SKIPPED) {
                totals->n_skipped++;
                print_job("SKIP", job);
                printf("\n");
                print_output(job);
        } else {
                totals->n_failed++;
                print_job("FAIL", job);
                if (job->overran)
                        printf(": over its time limit\n");
                else if (WIFSIGNALED(status))
                        printf(": %s\n", strsignal(WTERMSIG(status)));
                else
                        printf(": status %d\n", WEXITSTATUS(status));
                print_output(job);
        }
}

/* Anything a case left behind is killed with its process group. */
static void job_end(run_job *job, int status, run_totals *totals)
{
        kill(-job->pid, SIGKILL);
        job->pid = 0;
        job->took_ms = now_ms() - job->began_ms;
        job_judge(job, status, totals);
        close(job->output_fd);
}

/* Ends the jobs that have finished or run too long; returns how many. */
static size_t collect(run_plan *plan, run_totals *totals)
{
        size_t n_ended = 0;

        for (size_t i = 0; i < plan->n_jobs; i++) {
                run_job *job = &plan->jobs[i];
                int status;
                if (job->pid <= 0)
                        continue;
                if (!job->overran && now_ms() > job->began_ms + case_limit_ms()) {
                        job->overran = true;
                        kill(-job->pid, SIGKILL);
                }
                if (waitpid(job->pid, &status, WNOHANG) == job->pid) {
                        job_end(job, status, totals);
                        n_ended++;
                }
        }
        return n_ended;
}

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
        (void)signal;
        interrupted = 1;
}

/* Ends running cases and starts no more; the caller still cleans up. */
static void give_up(run_plan *plan, run_totals *totals)
{
        for (size_t i = 0; i < plan->n_jobs; i++)
                if (plan->jobs[i].pid > 0)
                        kill(-plan->jobs[i].pid, SIGKILL);
        printf("interrupted\n");
        totals->n_failed++;
}

void run_print_slow(const run_plan *plan)
{
        for (size_t i = 0; i < plan->n_jobs; i++)
                if (plan->jobs[i].took_ms >= SLOW_MS) {
                        print_job("slow", &plan->jobs[i]);
                        printf(": %.1f s\n", (double)plan->jobs[i].took_ms / 1000);
                }
}

void run_all(run_plan *plan, size_t n_parallel, run_totals *totals)
{
        const struct timespec pause = {.tv_nsec = 2000000};
        size_t n_started = 0, n_running = 0;

        signal(SIGINT, interrupt);
        signal(SIGTERM, interrupt);
        while (!interrupted && (n_started < plan->n_jobs || n_running > 0)) {
                while (n_started < plan->n_jobs && n_running < n_parallel) {
                        job_start(&plan->jobs[n_started++]);
                        n_running++;
                }
                size_t n_ended = collect(plan, totals);
                n_running -= n_ended;
                if (n_ended == 0)
                        nanosleep(&pause, NULL);
        }
        if (interrupted)
                give_up(plan, totals);
}
