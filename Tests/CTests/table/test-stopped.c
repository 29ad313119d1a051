/* A process that is stopped before each step of making, finding, entering and leaving a table, one
 * after the other: the others post without waiting for it, and hear each other.
 *
 * This runs the code itself, compiled in here with steps before its system calls and before the
 * atomic operations that change something. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "roles.h"
#include "table-file.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/fork.h"
#include "util/hash.h"
#include "util/wake.h"

static unsigned n_steps, last_step; /* 0: none is the last */

static void step(void)
{
        if (++n_steps == last_step)
                raise(SIGSTOP);
}

static void close_in_step(const int *fd)
{
        if (*fd < 0)
                return;
        step();
        (void)close(*fd);
}

#define STEP(call) (step(), call)
#define openat(...) STEP(openat(__VA_ARGS__))
#define open(...) STEP(open(__VA_ARGS__))
#define close(fd) STEP(close(fd))
#undef DN__CLOSES
#define DN__CLOSES DN__CLEANUP(close_in_step)
#define mkdir(...) STEP(mkdir(__VA_ARGS__))
#define ftruncate(...) STEP(ftruncate(__VA_ARGS__))
#define fallocate(...) STEP(fallocate(__VA_ARGS__))
#define pwrite(...) STEP(pwrite(__VA_ARGS__))
#define fchmod(...) STEP(fchmod(__VA_ARGS__))
#define linkat(...) STEP(linkat(__VA_ARGS__))
#define unlinkat(...) STEP(unlinkat(__VA_ARGS__))
#define renameat(...) STEP(renameat(__VA_ARGS__))
#define fcntl(...) STEP(fcntl(__VA_ARGS__))
#define mmap(...) STEP(mmap(__VA_ARGS__))
#define munmap(...) STEP(munmap(__VA_ARGS__))
#define madvise(...) STEP(madvise(__VA_ARGS__))
#undef atomic_store
#define atomic_store(at, value) (step(), atomic_store_explicit(at, value, memory_order_seq_cst))
#undef atomic_compare_exchange_strong
#define atomic_compare_exchange_strong(at, expected, value)                                        \
        STEP(atomic_compare_exchange_strong_explicit(at, expected, value, memory_order_seq_cst,    \
                                                     memory_order_seq_cst))
#undef atomic_fetch_or
#define atomic_fetch_or(at, bits)                                                                  \
        STEP(atomic_fetch_or_explicit(at, bits, memory_order_seq_cst))

#define dn__directory_next steps_directory_next
#define dn__directory_is_public steps_directory_is_public
#define dn__directory_is_usable steps_directory_is_usable
#define dn__directory_open steps_directory_open
#define dn__file_find steps_file_find
#define dn__file_make steps_file_make
#define dn__file_has_directory steps_file_has_directory
#define dn__file_is_sound steps_file_is_sound
#define dn__claim_take steps_claim_take
#define dn__claim_is_taken steps_claim_is_taken
#define dn__region_find steps_region_find
#define dn__region_enter steps_region_enter
#define dn__region_close steps_region_close
#define dn__region_reserve steps_region_reserve
#define dn__region_set_stale steps_region_set_stale
#define dn__region_own_pid steps_region_own_pid
#define dn__region_clear_stale steps_region_clear_stale
#define dn__region_leave steps_region_leave
#define dn__region_process_is_alive steps_region_process_is_alive
#define dn__slot_find steps_slot_find
#define dn__slot_count_for_others steps_slot_count_for_others
#define dn__slot_read_name steps_slot_read_name
#define dn__slot_hold steps_slot_hold
#define dn__slot_release steps_slot_release

#undef DN__SHM_MAGIC
#include "table/directory.c"
#include "table/file.c"
#undef PREFIX
#undef N_ATTEMPTS
#include "table/region.c"
#include "table/slot.c"

#undef close
#include "member.h"
#include "shm.h"

/* --- The process that is stopped ------------------------------------------------------------ */

/* Not a constant: compilers check the code for longer ones against it. */
static const char *volatile key = "none";

static void enter_and_leave(void)
{
        dn__region *region;

        if (region_open(key, &region) < 0)
                return;
        (void)hold(region, "N");
        dn__region_set_stale(region);
        dn__region_leave(region);
        (void)dn__region_close(region);
}

/* Returns a process that is stopped before its step `n`, or 0 if there are fewer. */
static pid_t stop_before(unsigned n)
{
        int status;
        pid_t pid;

        last_step = n;
        n_steps = 0;
        pid = test_fork();
        if (pid == 0) {
                enter_and_leave();
                _exit(0);
        }
        last_step = 0;
        CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
        CHECK(WIFSTOPPED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
        return WIFSTOPPED(status) ? pid : 0;
}

static void end(pid_t pid)
{
        CHECK_EQ(kill(pid, SIGKILL), 0);
        CHECK_EQ(test_wait_for(pid), 128 + SIGKILL);
}

/* --- The others ----------------------------------------------------------------------------- */

/* A call that waits sleeps: a set that is never released would cost a hundred times as much. */
#define MAX_SLEEPS 50

static void post_without_waiting(const char *name)
{
        struct rusage before, after;

        CHECK_EQ(getrusage(RUSAGE_THREAD, &before), 0);
        CHECK_EQ(dn_center_post(dn_center_darwin(), name, NULL, NULL, 0), 0);
        CHECK_EQ(getrusage(RUSAGE_THREAD, &after), 0);
        CHECK(after.ru_nvcsw - before.ru_nvcsw < MAX_SLEEPS);
}

/* One with an own name: the stopped process may have the set of N. */
static test_child *check_that_a_new_observer_hears(void)
{
        test_child *child = spawn_observer("new", NULL);
        forget_look(dn_center_darwin());
        post_without_waiting("new");
        WAIT_UNTIL_EQ(child_posts(child, 0), 1);
        return child;
}

static void write_file(const char *name)
{
        (void)mkdir(table_directory(), 0700);
        FILE *file = fopen(FORMAT("%s/%s", table_directory(), name), "w");
        CHECK(file && fputs("no table", file) >= 0 && fclose(file) == 0);
}

/* The maker finds something else at the path of the table, and what others have left. */
TEST_NO_BUS(aMakerMayBeStoppedAtEachStep)
{
        char name[NAME_BYTES + PATH_MAX];
        unsigned n = 1;
        pid_t pid;

        test_bus_use_none();
        CHECK_EQ(dn__fork_init(), 0);
        format_path("", "none", name);
        do {
                write_file(name + 1);
                write_file(".table-0123456789abcdef");
                pid = stop_before(n++);
                test_child *observer = check_that_a_new_observer_hears();
                CHECK_EQ(test_child_wait(observer), 0);
                if (pid)
                        end(pid);
                test_remove_tree(table_directory());
        } while (pid);
        CHECK(n > 40);
}

TEST_NO_BUS(aGuestMayBeStoppedAtEachStep)
{
        unsigned n = 1;
        uint64_t n_posts = 0;
        pid_t pid;

        test_bus_use_none();
        CHECK_EQ(dn__fork_init(), 0);
        test_child *observer = spawn_observer("N", NULL);
        do {
                pid = stop_before(n++);
                n_posts++;
                post_without_waiting("N");
                WAIT_UNTIL_EQ(child_posts(observer, 0), n_posts);
                test_child *late = check_that_a_new_observer_hears();
                CHECK_EQ(test_child_wait(late), 0);
                if (pid)
                        end(pid);
        } while (pid);
        CHECK(n > 30);
        CHECK_EQ(test_child_wait(observer), 0);
}

TEST_MAIN()
