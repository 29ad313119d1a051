/* What the kernel says about the process under test. */
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

static uint64_t switches_of(const char *task)
{
        char path[300], line[200];
        unsigned long n;
        uint64_t sum = 0;
        FILE *f;

        snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
        f = fopen(path, "re");
        while (f && fgets(line, sizeof line, f))
                if (sscanf(line, "voluntary_ctxt_switches: %lu", &n) == 1 ||
                    sscanf(line, "nonvoluntary_ctxt_switches: %lu", &n) == 1)
                        sum += n;
        if (f)
                fclose(f);
        return sum;
}

uint64_t test_n_switches_of_others(void)
{
        DIR *d = opendir("/proc/self/task");
        struct dirent *entry;
        uint64_t sum = 0;

        if (!d)
                test_broken("cannot read /proc/self/task");
        while ((entry = readdir(d)))
                if (entry->d_name[0] != '.' && atoi(entry->d_name) != gettid())
                        sum += switches_of(entry->d_name);
        closedir(d);
        return sum;
}

uint64_t test_cpu_us(void)
{
        struct rusage usage;

        getrusage(RUSAGE_SELF, &usage);
        return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
               (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}
