/* Rings processes through the shared table, in every order of the steps.
 *
 * This runs the code itself, not a copy: it is compiled in here with atomic operations that are
 * steps and with a simulated system call. Each thread of the model is a coroutine. Before each step
 * a scheduler decides which thread continues or dies. All decisions are tried in turn, except those
 * that lead to a state seen before. */
#undef _FORTIFY_SOURCE /* treats a jump to another stack as an error */
#include <errno.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "test.h"

#include "stepped-ring.h"

/* --- The machine --------------------------------------------------------------------------- */

enum { RECEIVER, POSTER_A, POSTER_B, HEIR, NEIGHBOR = HEIR, MAX_THREADS };

#define MAX_STEPS 400
#define STACK_BYTES (64 << 10)

typedef enum state { READY, ASLEEP, WAITING, ENDED, KILLED } state;

typedef struct model_thread {
        ucontext_t context; /* at the start */
        jmp_buf position;   /* to resume from: much faster */
        bool has_begun;
        void (*run)(void);
        state state;
        bool may_die;
        uint64_t operation; /* the next step */
        uint64_t history;   /* of the values read and still known */
        const volatile void *sleeps_on;
        uint32_t sleeps_with;
        unsigned char stack[STACK_BYTES];
} model_thread;

static model_thread threads[MAX_THREADS];
static size_t n_threads, current;
static unsigned n_deaths;
static jmp_buf scheduler;

static dn__shm_table *table;
static const volatile void *words[64]; /* that several threads may touch */
static size_t n_words;

/* Two slots whose marks are in different words under one summary. */
enum { SLOT_A = 5, SLOT_B = 70, N_SLOTS_USED = 2 };

#define RECEIVING 1   /* the entry of the receiver and its heir */
#define NEIGHBORING 2 /* that of another receiver, in the same block */

static dn__region of_receiver = { .process = RECEIVING }, of_poster = { .process = 0 };
static dn__region of_neighbor = { .process = NEIGHBORING };
static uint64_t seen[N_SLOTS_USED];      /* by the entry's process; 0: it holds no such name */
static uint64_t seen_by_neighbor[N_SLOTS_USED];
static uint64_t completed[N_SLOTS_USED]; /* the highest generation of a completed post */
static const size_t slot_of[] = { SLOT_A, SLOT_B };

static uint64_t mix(uint64_t hash, uint64_t value)
{
        hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
        return hash ^ (hash >> 29);
}

static void note(uint64_t value)
{
        threads[current].history = mix(threads[current].history, value + 1);
}

/* For most words, a thread remembers the value it read only until its next step, which depends on
 * it: the location of that step is recorded anyway. Other values are compared or kept. */
static void note_if_kept(const volatile void *address, uint64_t value)
{
        bool is_wake = address == &table->processes[RECEIVING].wake ||
                       address == &table->processes[NEIGHBORING].wake;

        if (address == &table->blocks[0].n_rings)
                note(value);

        for (size_t i = 0; i < N_SLOTS_USED; i++)
                if (address == &table->slots[slot_of[i]].holders[0])
                        note(value);
        /* The poster's first read of the word is not kept, nor is the one that begins a turn. */
        if (is_wake && current != POSTER_A && current != POSTER_B)
                note(value);
}

/* Nobody needs the number that a ring was given. */
static void note_unless_a_ring(const volatile void *address, uint64_t value)
{
        if (address != &table->blocks[0].n_rings)
                note(value);
}

/* The thread knows nothing more. */
static void forget_all_but(uint64_t value)
{
        threads[current].history = mix(1, value);
}

static void go_to_scheduler(void)
{
        if (!_setjmp(threads[current].position))
                _longjmp(scheduler, 1);
}

static __attribute__((noinline, noreturn)) void go_to_thread(model_thread *thread)
{
        if (thread->has_begun)
                _longjmp(thread->position, 1);
        thread->has_begun = true;
        setcontext(&thread->context);
        abort();
}

static void step(const volatile void *address, int operation)
{
        for (size_t i = 0; i < n_words; i++) {
                if (words[i] != address)
                        continue;
                threads[current].operation = (uint64_t)operation << 8 | i;
                go_to_scheduler();
                return;
        }
}

static long pretend(long number, const volatile void *word, int operation, uint32_t value,
                    uint32_t bits)
{
        CHECK_EQ(number, SYS_futex);
        step(word, __COUNTER__);
        if (operation == FUTEX_WAKE_BITSET) {
                for (size_t i = 0; i < n_threads; i++)
                        if (threads[i].state == ASLEEP && threads[i].sleeps_on == word &&
                            threads[i].sleeps_with & bits)
                                threads[i].state = READY;
                return 0;
        }
        if (*(const volatile uint32_t *)word != value) {
                errno = EAGAIN;
                return -1;
        }
        threads[current].state = ASLEEP;
        threads[current].sleeps_on = word;
        threads[current].sleeps_with = bits;
        note(ASLEEP);
        go_to_scheduler();
        return 0;
}

static void inherit(void);

static void main_of_thread(void)
{
        threads[current].run();
        threads[current].state = ENDED;
        go_to_scheduler();
}

static void begin_thread(size_t i)
{
        model_thread *thread = &threads[i];

        thread->state = thread->run == inherit ? WAITING : READY;
        thread->history = 0;
        thread->operation = 0;
        thread->has_begun = false;
        getcontext(&thread->context);
        thread->context.uc_stack.ss_sp = thread->stack;
        thread->context.uc_stack.ss_size = sizeof(thread->stack);
        thread->context.uc_link = NULL;
        makecontext(&thread->context, main_of_thread, 0);
}

static uint64_t hash_of_state(void)
{
        uint64_t hash = n_deaths;

        for (size_t i = 0; i < n_words; i++)
                hash = mix(mix(hash, *(const volatile uint32_t *)words[i]),
                           ((const volatile uint32_t *)words[i])[1]);
        for (size_t i = 0; i < n_threads; i++)
                hash = mix(mix(mix(hash, threads[i].history), threads[i].operation),
                           threads[i].state);
        for (size_t i = 0; i < N_SLOTS_USED; i++)
                hash = mix(mix(mix(hash, seen[i]), completed[i]), seen_by_neighbor[i]);
        return hash ? hash : 1;
}

#include "schedules.h"

/* --- Receivers and posters ----------------------------------------------------------------- */

static void look(void *context, size_t index)
{
        uint64_t *seen = context;

        for (size_t i = 0; i < N_SLOTS_USED; i++)
                if (slot_of[i] == index && seen[i])
                        seen[i] = dn__slot_get_generation(&table->slots[index]);
}

static void hold(size_t i)
{
        (void)atomic_fetch_or(&table->slots[slot_of[i]].holders[0], UINT64_C(1) << RECEIVING);
        seen[i] = dn__slot_get_generation(&table->slots[slot_of[i]]);
}

/* As the library's loop: begins, dispatches, prepares, sleeps. */
static void receive_in(const dn__region *region, uint64_t *seen)
{
        dn__wake_target target = dn__shm_target(table, region->process);
        uint32_t asleep;

        for (;;) {
                forget_all_but(0);
                dn__wake_begin(target.word);
                take_marks(region, look, seen);
                if (!dn__ring_is_marked(region) && (asleep = dn__wake_fall_asleep(target.word)))
                        (void)dn__wake_stay_asleep(&target, asleep, DN__NEVER);
        }
}

static void receive(void)
{
        receive_in(&of_receiver, seen);
}

static void receive_beside(void)
{
        receive_in(&of_neighbor, seen_by_neighbor);
}

static void hold_and_receive(void)
{
        hold(0);
        receive();
}

static void inherit(void)
{
        seen[0] = seen[1] = 0;
        clear_entry(table, RECEIVING);
        hold(1);
        receive();
}

static void complete(size_t i, uint64_t generation)
{
        if (generation > completed[i])
                completed[i] = generation;
}

static void post(size_t i, uint64_t n_posts)
{
        dn__shm_slot *slot = &table->slots[slot_of[i]];
        uint64_t generation;

        forget_all_but(n_posts);
        generation = dn__slot_count_post(slot);
        dn__ring_holders(&of_poster, slot);
        complete(i, generation);
}

/* As for many holders: they are woken together. */
static void post_to_all(void)
{
        dn__shm_slot *slot = &table->slots[slot_of[0]];
        uint32_t holders = 1 << RECEIVING | (threads[NEIGHBOR].run ? 1 << NEIGHBORING : 0);
        uint64_t generation;

        forget_all_but(0);
        generation = dn__slot_count_post(slot);
        for (uint32_t rest = holders; rest; rest &= rest - 1)
                mark(table, (unsigned)__builtin_ctz(rest), slot);
        ring_block(table, 0, holders);
        complete(0, generation);
}

static void post_twice(void)
{
        post(0, 0);
        post(0, 1);
}

static void post_once(void)
{
        post(0, 0);
}

static void post_both(void)
{
        post(0, 0);
        post(1, 1);
}

static void post_nothing(void)
{
}

static void share(const volatile void *word)
{
        CHECK(n_words < sizeof(words) / sizeof(words[0]));
        words[n_words++] = word;
}

static void begin(void)
{
        dn__shm_process *process;

        if (!table) {
                table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
                CHECK(table != MAP_FAILED);
        }
        of_receiver.table = of_neighbor.table = of_poster.table = table;
        process = &table->processes[RECEIVING];
        n_words = 0;
        share(&process->wake);
        share(&process->marked[0]);
        share(&table->blocks[0].n_rings);
        for (size_t i = 0; i < N_SLOTS_USED; i++) {
                share(&table->slots[slot_of[i]].generation);
                share(&table->slots[slot_of[i]].holders[0]);
                share(&table->marks[RECEIVING][slot_of[i] / 64]);
                atomic_store_explicit(&table->tags[slot_of[i]], 1, IN_ORDER);
        }
        for (size_t i = 0; i < n_words; i++)
                memset((void *)(uintptr_t)words[i], 0, sizeof(uint64_t));
        for (size_t i = 0; i < N_SLOTS_USED; i++) {
                table->slots[slot_of[i]].generation = 1;
                seen[i] = seen_by_neighbor[i] = completed[i] = 0;
        }
        table->n_processes_used = 2;
}

/* After the last post of a name every holder has looked at it. */
static void check_heard(void)
{
        for (size_t i = 0; i < N_SLOTS_USED; i++)
                if ((seen[i] && seen[i] < completed[i]) ||
                    (seen_by_neighbor[i] && seen_by_neighbor[i] < completed[i]))
                        test_fail(__FILE__, __LINE__, "post %llu of %zu was not heard",
                                  (unsigned long long)completed[i], i);
}

/* --- The models ---------------------------------------------------------------------------- */

static void begin_posters(void (*receiver)(void), void (*first)(void), void (*second)(void))
{
        begin();
        n_threads = 3;
        threads[RECEIVER].run = receiver;
        threads[POSTER_A].run = first;
        threads[POSTER_B].run = second;
        threads[NEIGHBOR].run = NULL;
        for (size_t i = 0; i < MAX_THREADS; i++)
                threads[i].may_die = false;
}

/* The receiver holds the name already. */
static void begin_two_posters(void)
{
        begin_posters(receive, post_twice, post_once);
        table->slots[SLOT_A].holders[0] = UINT64_C(1) << RECEIVING;
        seen[0] = 1;
}

static void begin_with_registration(void)
{
        begin_posters(hold_and_receive, post_twice, post_nothing);
}

static void begin_with_dying_poster(void)
{
        begin_two_posters();
        threads[POSTER_A].run = post_once;
        threads[POSTER_B].may_die = true;
}

static void end_posters(void)
{
        CHECK_EQ(threads[RECEIVER].state, ASLEEP);
        CHECK(seen[0] != 0);
        check_heard();
}

TEST_NO_BUS(postIsHeardInEveryOrderOfTheSteps)
{
        static const model model = { begin_two_posters, end_posters, 0 };

        run_all(&model);
}

TEST_NO_BUS(postDuringARegistrationIsHeardOrPrecedesIt)
{
        static const model model = { begin_with_registration, end_posters, 0 };

        run_all(&model);
}

TEST_NO_BUS(postIsHeardEvenIfAnotherPosterDiesAtAnyStep)
{
        static const model model = { begin_with_dying_poster, end_posters, 1 };

        run_all(&model);
}

static void begin_neighbors(void (*first)(void), void (*second)(void))
{
        begin_posters(receive, first, second);
        n_threads = 4;
        threads[NEIGHBOR].run = receive_beside;
        share(&table->processes[NEIGHBORING].wake);
        share(&table->processes[NEIGHBORING].marked[0]);
        share(&table->marks[NEIGHBORING][SLOT_A / 64]);
        for (size_t i = n_words - 3; i < n_words; i++)
                memset((void *)(uintptr_t)words[i], 0, sizeof(uint64_t));
        table->n_processes_used = 3;
        table->slots[SLOT_A].holders[0] = 1 << RECEIVING | 1 << NEIGHBORING;
        seen[0] = seen_by_neighbor[0] = 1;
}

static void begin_with_two_who_are_woken_together(void)
{
        begin_neighbors(post_to_all, post_nothing);
}

static void begin_with_dying_poster_to_all(void)
{
        begin_with_dying_poster();
        threads[POSTER_B].run = post_to_all;
}

static void end_neighbors(void)
{
        CHECK_EQ(threads[RECEIVER].state, ASLEEP);
        CHECK_EQ(threads[NEIGHBOR].state, ASLEEP);
        check_heard();
}

TEST_NO_BUS(aPostThatWakesAllTogetherIsHeardInEveryOrderOfTheSteps)
{
        static const model model = { begin_with_two_who_are_woken_together, end_neighbors, 0 };

        run_all(&model);
}

TEST_NO_BUS(aPostIsHeardEvenIfAnotherDiesWhileItWakesAllTogether)
{
        static const model model = { begin_with_dying_poster_to_all, end_posters, 1 };

        run_all(&model);
}

static void begin_with_heir(void)
{
        begin_posters(hold_and_receive, post_both, post_nothing);
        n_threads = 4;
        threads[RECEIVER].may_die = true;
        threads[HEIR].run = inherit;
}

/* The heir holds only the second name. */
static void end_with_heir(void)
{
        CHECK_EQ(threads[POSTER_A].state, ENDED);
        if (n_deaths > 0)
                CHECK(threads[HEIR].state == ASLEEP && seen[0] == 0 && seen[1] != 0);
        check_heard();
}

TEST_NO_BUS(receiverThatDiesAtAnyStepLeavesNothingToItsHeir)
{
        static const model model = { begin_with_heir, end_with_heir, 1 };

        run_all(&model);
}

TEST_MAIN()
