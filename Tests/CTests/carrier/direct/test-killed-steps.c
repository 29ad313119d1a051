/* A receiver or a poster that is killed before each of its atomic steps, one after the other: what
 * it leaves in the table keeps nobody from hearing or posting.
 *
 * This runs the code itself in processes of their own, compiled in here with atomic operations that
 * are steps. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "steps.h"

/* A system call is a step, too. */
#define syscall(number, word, operation, value, until, a, b)                                       \
        (step(word, __LINE__), real_syscall(number, word, operation, value, until, a, b))
#define dn__wake_rouse steps_wake_rouse
#define dn__wake_sleep steps_wake_sleep
#define dn__ring_holders steps_ring_holders
#define dn__ring_all steps_ring_all
#define dn__ring_watch steps_ring_watch
#define dn__ring_unwatch steps_ring_unwatch
#define dn__ring_is_marked steps_ring_is_marked
#define dn__ring_take steps_ring_take
#define dn__slot_find steps_slot_find
#define dn__slot_count_for_others steps_slot_count_for_others
#define dn__slot_read_name steps_slot_read_name
#define dn__slot_hold steps_slot_hold
#define dn__slot_release steps_slot_release
#define dn__slot_carry_post steps_slot_carry_post
#define dn__slot_is_fresh steps_slot_is_fresh
#define dn__slot_keep steps_slot_keep
#define dn__slot_carry steps_slot_carry

static long real_syscall(long number, const volatile void *word, int operation, uint32_t value,
                         const void *until, const void *second, unsigned mask);

#include "carrier/direct/ring.c"
#include "shm/slot.c"
#include "util/wake.c"

#undef syscall

#include "shm.h"
#include "test-child.h"
#include "util/hash.h"

#define NAME "killed"
#define N_POSTS 3
#define N_LEAST_STEPS 20 /* or else they are not counted */

static unsigned n_steps, last_step; /* 0: none is the last */

static void step(const volatile void *address, int place)
{
        (void)address;
        (void)place;
        n_steps++;
        if (last_step && n_steps == last_step)
                raise(SIGKILL);
}

static void note(uint64_t value)
{
        (void)value;
}

static void note_if_kept(const volatile void *address, uint64_t value)
{
        (void)address;
        (void)value;
}

static long real_syscall(long number, const volatile void *word, int operation, uint32_t value,
                         const void *until, const void *second, unsigned mask)
{
        return syscall(number, word, operation, value, until, second, mask);
}

/* --- The processes ------------------------------------------------------------------------- */

/* What they tell each other. */
typedef struct shared {
        _Atomic bool is_ready;      /* the process that may be killed has registered */
        _Atomic uint64_t n_heard;   /* by the witness: the last generation */
        _Atomic uint64_t n_counted; /* the generation of the last post */
} shared;

static shared *common;

static dn__region *enter(void)
{
        dn__region *region;

        CHECK_EQ(dn__fork_init(), 0);
        CHECK_EQ(dn__region_open("none", &region), 0);
        return region;
}

static dn__shm_slot *take_name(dn__region *region)
{
        dn__shm_slot *slot = dn__slot_hold(region, dn__hash64(NAME, strlen(NAME)), NAME,
                                           strlen(NAME));

        CHECK(slot);
        return slot;
}

static void post_name(dn__region *region)
{
        dn__post post = {.name = {.text = NAME, .n_bytes = strlen(NAME),
                                  .hash = dn__hash64(NAME, strlen(NAME))}};

        dn__slot_count_for_others(region, &post);
        if (!post.slot)
                return;
        atomic_store_explicit(&common->n_counted, post.generation, memory_order_seq_cst);
        dn__ring_holders(region, post.slot);
}

static void look(void *context, size_t slot_index)
{
        (void)slot_index;
        *(bool *)context = true;
}

/* Hears the name until its generation is at least `last`, as the direct carrier does. Returns the
 * generation. */
static uint64_t hear_until(dn__region *region, dn__shm_slot *slot, uint64_t last)
{
        dn__wake_word *word = &region->table->processes[region->process].wake;
        uint64_t generation = atomic_load(&slot->generation);

        while (generation < last) {
                bool is_marked = false;
                dn__wake_begin(word);
                dn__ring_take(region, look, &is_marked);
                if (is_marked)
                        generation = atomic_load(&slot->generation);
                if (generation < last && !dn__ring_is_marked(region))
                        (void)dn__wake_sleep(word, DN__WAKE_SHARED, DN__NEVER);
        }
        return generation;
}

static pid_t start(void (*run)(void))
{
        pid_t pid = fork();

        if (pid != 0)
                return pid;
        run();
        _exit(0);
}

/* --- Those that are killed ----------------------------------------------------------------- */

static void receive(void)
{
        dn__region *region = enter();
        dn__shm_slot *slot = take_name(region);
        uint64_t generation = atomic_load(&slot->generation);

        atomic_store_explicit(&common->is_ready, true, memory_order_seq_cst);
        (void)hear_until(region, slot, generation + N_POSTS);
        dn__slot_release(region, slot);
}

static void post_to_all(void)
{
        dn__region *region = enter();

        atomic_store_explicit(&common->is_ready, true, memory_order_seq_cst);
        for (int i = 0; i < N_POSTS; i++)
                post_name(region);
}

/* --- The witnesses ------------------------------------------------------------------------- */

static dn__region *own;

/* Hears all that is posted until it is killed. */
static void witness(void)
{
        dn__region *region = enter();
        dn__shm_slot *slot = take_name(region);
        uint64_t generation = atomic_load(&slot->generation);

        for (;;) {
                atomic_store_explicit(&common->n_heard, generation, memory_order_seq_cst);
                generation = hear_until(region, slot, generation + 1);
        }
}

static uint64_t get_heard(void)
{
        return atomic_load_explicit(&common->n_heard, memory_order_seq_cst);
}

static void check_that_the_witness_hears(void)
{
        post_name(own);
        WAIT_UNTIL(get_heard() >= common->n_counted);
}

/* Runs a process that is killed before its step `n`, while we post for it until it is gone.
 * Returns whether it came that far. */
static bool kill_before(void (*run)(void), unsigned n, bool posts)
{
        int status;

        common->is_ready = false;
        last_step = n;
        n_steps = 0;
        pid_t pid = start(run);
        last_step = 0;
        WAIT_UNTIL((posts && common->is_ready ? post_name(own) : (void)0,
                    waitpid(pid, &status, WNOHANG) == pid));
        CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
        return WIFSIGNALED(status);
}

static void check_every_step(void (*run)(void), bool posts)
{
        unsigned n = 1;

        common = mmap(NULL, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                      0);
        CHECK(common != MAP_FAILED);
        own = open_region("none");
        pid_t watcher = start(witness);
        WAIT_UNTIL(get_heard() > 0);
        check_that_the_witness_hears();
        for (; kill_before(run, n, posts); n++)
                check_that_the_witness_hears();
        CHECK(n > N_LEAST_STEPS);
        /* Whoever comes next in the entry of the dead hears, too. */
        CHECK(!kill_before(receive, 0, true));
        check_that_the_witness_hears();
        kill(watcher, SIGKILL);
        CHECK_EQ(test_wait_for(watcher), 128 + SIGKILL);
        dn__region_close(own);
}

TEST_NO_BUS(aReceiverMayBeKilledBeforeEachStep)
{
        check_every_step(receive, true);
}

TEST_NO_BUS(aPosterMayBeKilledBeforeEachStep)
{
        check_every_step(post_to_all, false);
}

TEST_MAIN()
