/* A process that is stopped or killed before each step of moving to another table, one after the
 * other: the others post without waiting for it, and everybody hears what is posted.
 *
 * This runs the library itself. Its steps are the system calls and locks of the thread that moves;
 * test-table-model.c tries every order of the steps of several processes. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "center/table.h"
#include "member.h"
#include "roles.h"
#include "shm.h"
#include "table-file.h"
#include "test-bus.h"

static _Thread_local unsigned n_steps, last_step; /* 0: this thread does not move */

static void step(void)
{
        if (last_step && ++n_steps == last_step)
                raise(SIGSTOP);
}

/* Overrides functions of libc. */
#define STEP(result, name, parameters, ...)                                                        \
        result name parameters                                                                     \
        {                                                                                          \
                static result(*original) parameters;                                               \
                                                                                                   \
                if (!original)                                                                     \
                        *(void **)&original = dlsym(RTLD_NEXT, #name);                             \
                step();                                                                            \
                return original(__VA_ARGS__);                                                      \
        }

STEP(int, pthread_mutex_lock, (pthread_mutex_t *mutex), mutex)
STEP(int, lstat, (const char *path, struct stat *status), path, status)
STEP(int, fstat, (int fd, struct stat *status), fd, status)
STEP(int, close, (int fd), fd)
STEP(int, fallocate, (int fd, int mode, off_t offset, off_t n), fd, mode, offset, n)
STEP(int, linkat, (int from, const char *old, int to, const char *new, int flags), from, old, to,
     new, flags)
STEP(int, madvise, (void *memory, size_t n, int advice), memory, n, advice)
STEP(int, munmap, (void *memory, size_t n), memory, n)
STEP(void *, mmap, (void *at, size_t n, int protection, int flags, int fd, off_t offset), at, n,
     protection, flags, fd, offset)

/* Answers "N" by moving, stopped once: before step N, or at the end. Then it says how many steps
 * there were. */
ROLE(mover)
{
        static tally seen;
        dn__hub *hub;
        char line[64];

        tally_observe(dn_center_darwin(), args[0], &seen);
        hub = dn__hub_find(dn_center_darwin());
        printf("ready\n");
        while (fgets(line, sizeof line, stdin)) {
                if (strcmp(line, "posts\n") == 0) {
                        printf("%llu\n", (unsigned long long)seen.n_posts);
                        continue;
                }
                n_steps = 0;
                last_step = (unsigned)strtoul(line, NULL, 10);
                dn__table_look(hub, false);
                if (n_steps < last_step)
                        raise(SIGSTOP);
                last_step = 0;
                printf("%u\n", n_steps);
        }
        return 0;
}

static test_child *spawn_mover(void)
{
        return test_child_await(test_spawn_role("mover", "N", NULL), "ready");
}

static void stop_before(test_child *mover, unsigned step)
{
        int status;

        test_child_write_line(mover, FORMAT("%u", step));
        CHECK_EQ(waitpid(test_child_pid(mover), &status, WUNTRACED), test_child_pid(mover));
        CHECK(WIFSTOPPED(status));
}

/* This process posts; without a bus it looks first, or it may not be heard. */
static void post_and_hear(test_child *member, bool is_on_bus)
{
        uint64_t before = posts_of(member);

        if (!is_on_bus)
                forget_look(dn_center_darwin());
        post_ok(dn_center_darwin(), "N");
        WAIT_UNTIL(posts_of(member) > before);
}

/* One process stays, one moves. Returns whether the move has more steps. */
static bool check_step(test_child *stays, test_child **mover, unsigned n, bool is_on_bus)
{
        uint64_t before = posts_of(*mover);
        unsigned n_taken;

        remove_table();
        stop_before(*mover, n);
        post_and_hear(stays, is_on_bus);
        look_later(stays);
        post_by(stays, "other"); /* it moves, first or second */
        post_and_hear(stays, is_on_bus);
        test_child_resume(*mover);
        n_taken = (unsigned)atoi(test_child_read_line(*mover));
        WAIT_UNTIL(posts_of(*mover) > before);
        post_and_hear(*mover, is_on_bus);
        remove_table();
        stop_before(*mover, n);
        *mover = test_child_kill(*mover);
        *mover = spawn_mover();
        look_later(stays);
        post_by(stays, "other");
        post_and_hear(stays, is_on_bus);
        post_and_hear(*mover, is_on_bus);
        return n <= n_taken;
}

static void check_all_steps(bool is_on_bus)
{
        unsigned n = 1;

        SKIP_IF(TEST_HAS_SANITIZER, "a sanitizer has functions of libc of its own");
        test_child *stays = spawn_member("N"), *mover = spawn_mover();
        while (check_step(stays, &mover, n, is_on_bus))
                n++;
        CHECK(n > 20);
        test_child_kill(mover);
        end_member(stays);
}

TEST_NO_BUS(aProcessMayBeStoppedAtEachStepWithoutABus)
{
        test_bus_use_none();
        check_all_steps(false);
}

TEST_ON_BUS(aProcessMayBeStoppedAtEachStepOnABus)
{
        test_bus_begin();
        check_all_steps(true);
}

TEST_MAIN()
