/* Kernel statistics of the process under test. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "test.h"

static unsigned count_entries(const char *directory)
{
        DIR *d = opendir(directory);
        unsigned n = 0;

        if (!d)
                test_broken("cannot read %s", directory);
        while (readdir(d))
                n++;
        closedir(d);
        return n - 2; /* . and .. */
}

unsigned test_n_fds(void)
{
        return count_entries("/proc/self/fd") - 1; /* the one that reads it */
}

unsigned test_n_fds_of(pid_t pid)
{
        char path[64];

        snprintf(path, sizeof path, "/proc/%d/fd", pid);
        return count_entries(path);
}

unsigned test_n_mappings_of(pid_t pid, const char *text)
{
        char path[64], line[4096];
        unsigned n = 0;
        FILE *f;

        snprintf(path, sizeof path, "/proc/%d/maps", pid);
        f = fopen(path, "re");
        if (!f)
                test_broken("cannot read %s", path);
        while (fgets(line, sizeof line, f))
                n += strstr(line, text) != NULL;
        fclose(f);
        return n;
}

unsigned test_n_threads(void)
{
        return count_entries("/proc/self/task");
}

uint64_t test_resident_bytes(void)
{
        FILE *f = fopen("/proc/self/statm", "re");
        unsigned long total, resident;

        if (!f || fscanf(f, "%lu %lu", &total, &resident) != 2)
                test_broken("cannot read /proc/self/statm");
        fclose(f);
        return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Totals of all other threads. */
typedef struct tasks {
        uint64_t n_sleeps;
        uint64_t n_switches; /* with those that others forced */
        bool are_asleep;
} tasks;

static void add_task(tasks *others, const char *task)
{
        char path[300], line[200], state;
        unsigned long n;
        FILE *f;

        snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
        f = fopen(path, "re");
        while (f && fgets(line, sizeof line, f)) {
                if (sscanf(line, "voluntary_ctxt_switches: %lu", &n) == 1) {
                        others->n_sleeps += n;
                        others->n_switches += n;
                }
                if (sscanf(line, "nonvoluntary_ctxt_switches: %lu", &n) == 1)
                        others->n_switches += n;
                if (sscanf(line, "State: %c", &state) == 1 && state != 'S')
                        others->are_asleep = false;
        }
        if (f)
                fclose(f);
}

static tasks look_at_others(void)
{
        DIR *d = opendir("/proc/self/task");
        tasks others = {.are_asleep = true};
        struct dirent *entry;

        if (!d)
                test_broken("cannot read /proc/self/task");
        while ((entry = readdir(d)))
                if (entry->d_name[0] != '.' && atoi(entry->d_name) != gettid())
                        add_task(&others, entry->d_name);
        closedir(d);
        return others;
}

uint64_t test_n_switches_of_others(void)
{
        return look_at_others().n_switches;
}

uint64_t test_n_sleeps_of_others(void)
{
        return look_at_others().n_sleeps;
}

bool test_others_rest(void)
{
        tasks before = look_at_others(), after;

        test_let_pass_ms(20);
        after = look_at_others();
        return before.are_asleep && after.are_asleep && after.n_switches == before.n_switches;
}

pthread_t test_start_thread(void *(*run)(void *), void *argument)
{
        pthread_t thread;

        CHECK_EQ(pthread_create(&thread, NULL, run, argument), 0);
        return thread;
}

pid_t test_fork(void)
{
        if (TEST_HAS_SANITIZER)
                WAIT_UNTIL(test_others_rest());
        return fork();
}

uint64_t test_cpu_us(void)
{
        struct rusage usage;

        getrusage(RUSAGE_SELF, &usage);
        return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
               (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}
