/* Runs descriptors, deadlines and work on one thread. */
#include "util/loop.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"
#include "util/clock.h"
#include "util/list.h"
#include "util/thread.h"

static _Atomic unsigned n_closed;

static void count_close(void *context)
{
        CHECK(context == &n_closed);
        n_closed++;
}

static dn__loop *new_loop(bool polls)
{
        dn__loop_options options = {
                "dn-test", polls, .closed = count_close, .context = &n_closed
        };
        dn__loop *loop = NULL;

        CHECK_EQ(dn__loop_new(&options, &loop), 0);
        return loop;
}

static void close_and_wait(dn__loop *loop)
{
        unsigned n_before = n_closed;

        CHECK(!dn__loop_close(loop));
        WAIT_UNTIL_EQ(n_closed, n_before + 1);
        /* There is no hub here, whose exit handler would do it. */
        dn__thread_join_all();
}

/* --- a counting source ------------------------------------------------------------------------ */

typedef struct counter {
        dn__source source;
        dn__wait wait;
        _Atomic bool is_ready;
        _Atomic unsigned n_dispatched;
        uint64_t dispatched_us; /* the most recent time */
} counter;

static bool counter_prepare(dn__source *source, dn__wait *wait)
{
        counter *counter = DN__CONTAINER(source, struct counter, source);

        *wait = counter->wait;
        return !counter->is_ready;
}

static void counter_dispatch(dn__source *source)
{
        counter *counter = DN__CONTAINER(source, struct counter, source);
        eventfd_t count;

        counter->dispatched_us = dn__clock_now_us();
        counter->wait.until_us = DN__NEVER;
        counter->is_ready = false;
        if (counter->wait.fd < 0 || eventfd_read(counter->wait.fd, &count) == 0)
                counter->n_dispatched++;
}

static counter quiet_counter(void)
{
        static const dn__source_ops ops = { counter_prepare, counter_dispatch };

        return (counter){ .source.ops = &ops, .wait = { -1, 0, DN__NEVER } };
}

/* ---- work ------------------------------------------------------------------------------------ */

enum { N_THREADS = 8, N_WORKS = 5000 };

typedef struct piece {
        unsigned thread;
        unsigned number;
} piece;

static piece pieces[N_THREADS][N_WORKS];
static unsigned n_run[N_THREADS]; /* used by the loop's thread */
static dn__loop *working_loop;

static void run_piece(void *argument)
{
        piece *piece = argument;

        CHECK(dn__loop_is_current(working_loop));
        CHECK_EQ(piece->number, n_run[piece->thread]);
        n_run[piece->thread]++;
}

static void *enqueue_pieces(void *argument)
{
        piece *pieces = argument;

        for (unsigned i = 0; i < N_WORKS; i++) {
                CHECK_EQ(dn__loop_enqueue(working_loop, run_piece, &pieces[i]), 0);
                if (i % 256 == 0)
                        (void)usleep(50); /* lets the loop fall asleep occasionally */
        }
        return NULL;
}

static void run_works_of_many_threads(bool polls)
{
        pthread_t threads[N_THREADS];

        working_loop = new_loop(polls);
        for (unsigned i = 0; i < N_THREADS; i++) {
                for (unsigned j = 0; j < N_WORKS; j++)
                        pieces[i][j] = (piece){ i, j };
                threads[i] = test_start_thread(enqueue_pieces, pieces[i]);
        }
        for (unsigned i = 0; i < N_THREADS; i++)
                CHECK_EQ(pthread_join(threads[i], NULL), 0);
        close_and_wait(working_loop);
        for (unsigned i = 0; i < N_THREADS; i++) {
                CHECK_EQ(n_run[i], N_WORKS);
                n_run[i] = 0;
        }
}

TEST_NO_BUS(workOfEachThreadRunsInOrder)
{
        run_works_of_many_threads(false);
        run_works_of_many_threads(true);
}

static void add_more(void *argument)
{
        counter *counter = argument;

        if (!counter->n_dispatched)
                CHECK_EQ(dn__loop_enqueue(working_loop, add_more, counter), 0);
}

TEST_NO_BUS(workThatAddsMoreDoesNotStarveTheSources)
{
        static counter counter;

        counter = quiet_counter();
        counter.wait.fd = eventfd(0, EFD_NONBLOCK);
        working_loop = new_loop(true);
        dn__loop_add(working_loop, &counter.source);
        CHECK_EQ(dn__loop_enqueue(working_loop, add_more, &counter), 0);
        CHECK_EQ(eventfd_write(counter.wait.fd, 1), 0);
        WAIT_UNTIL_EQ(counter.n_dispatched, 1);
        close_and_wait(working_loop);
        close(counter.wait.fd);
}

/* ---- sources --------------------------------------------------------------------------------- */

static void check_deadline(bool polls)
{
        dn__loop *loop = new_loop(polls);
        counter counter = quiet_counter();
        uint64_t until_us = dn__clock_after_us(30 * DN__US_PER_MS);

        counter.wait.until_us = until_us;
        dn__loop_add(loop, &counter.source);
        CHECK_EQ(dn__loop_start(loop), 0);
        WAIT_UNTIL_EQ(counter.n_dispatched, 1);
        close_and_wait(loop);
        CHECK(counter.dispatched_us >= until_us);
        CHECK_EQ(counter.n_dispatched, 1);
}

TEST_NO_BUS(deadlineIsKept)
{
        check_deadline(false);
        check_deadline(true);
}

static _Atomic unsigned n_prepared;

static void *ring(void *loop)
{
        dn__loop_wake(loop);
        return NULL;
}

/* As the loop is about to sleep for the first time, a descriptor becomes readable, and another
 * thread rings it. */
static bool prepare_and_ring(dn__source *source, dn__wait *wait)
{
        counter *counter = DN__CONTAINER(source, struct counter, source);

        if (n_prepared++ == 0) {
                CHECK_EQ(eventfd_write(counter->wait.fd, 1), 0);
                CHECK_EQ(pthread_join(test_start_thread(ring, working_loop), NULL), 0);
        }
        return counter_prepare(source, wait);
}

static void dispatch_and_count(dn__source *source)
{
        if (n_prepared == 1) /* the first turn after it */
                counter_dispatch(source);
}

TEST_NO_BUS(ringJustBeforeSleepDoesNotHideAReadableDescriptor)
{
        static const dn__source_ops ops = { prepare_and_ring, dispatch_and_count };
        counter counter = quiet_counter();

        counter.source.ops = &ops;
        counter.wait.fd = eventfd(0, EFD_NONBLOCK);
        working_loop = new_loop(true);
        dn__loop_add(working_loop, &counter.source);
        CHECK_EQ(dn__loop_start(working_loop), 0);
        WAIT_UNTIL(n_prepared > 1);
        CHECK_EQ(counter.n_dispatched, 1);
        close_and_wait(working_loop);
        close(counter.wait.fd);
}

/* --- an external word ------------------------------------------------------------------------- */

static dn__wake_word word;

static const dn__wake_target target = { .word = &word };

static _Atomic bool is_to_be_taken;

/* Another loop has taken the word that this one is about to sleep on, and looks for work. */
static bool prepare_and_take(dn__source *source, dn__wait *wait)
{
        if (is_to_be_taken) {
                is_to_be_taken = false;
                dn__loop_take_target(working_loop);
                dn__wake_begin(&word);
        }
        return counter_prepare(source, wait);
}

TEST_NO_BUS(doesNotSleepOnAWordThatWasTaken)
{
        static const dn__source_ops ops = { prepare_and_take, counter_dispatch };
        counter counter = quiet_counter();

        counter.source.ops = &ops;
        working_loop = new_loop(false);
        dn__loop_add(working_loop, &counter.source);
        dn__loop_set_target(working_loop, &target);
        is_to_be_taken = true;
        CHECK_EQ(dn__loop_start(working_loop), 0);
        WAIT_UNTIL(!is_to_be_taken);
        counter.is_ready = true;
        dn__loop_wake(working_loop);
        WAIT_UNTIL_EQ(counter.n_dispatched, 1);
        close_and_wait(working_loop);
}

/* --- the waker -------------------------------------------------------------------------------- */

/* Returns the number of one of the two descriptors that the loop has opened. */
static int open_loop(dn__loop **ret_loop, int which)
{
        bool was_open[64];
        int fd;

        for (fd = 0; fd < 64; fd++)
                was_open[fd] = fcntl(fd, F_GETFD) >= 0;
        *ret_loop = new_loop(true);
        for (fd = 0; fd < 64; fd++)
                if (!was_open[fd] && fcntl(fd, F_GETFD) >= 0 && which-- == 0)
                        return fd;
        return -1;
}

/* A process of its own: SIGPIPE would end it. */
static void close_an_end_and_ring(int which)
{
        counter counter = quiet_counter();
        dn__loop *loop;
        int fd = open_loop(&loop, which);

        counter.wait.until_us = dn__clock_after_us(0);
        dn__loop_add(loop, &counter.source);
        CHECK_EQ(dn__loop_start(loop), 0);
        WAIT_UNTIL_EQ(counter.n_dispatched, 1);
        CHECK_EQ(close(fd), 0);
        for (unsigned i = 2; i < 5; i++) {
                counter.is_ready = true;
                dn__loop_wake(loop);
                WAIT_UNTIL_EQ(counter.n_dispatched, i);
        }
        close_and_wait(loop);
}

static bool prepare_and_count(dn__source *source, dn__wait *wait)
{
        n_prepared++;
        return counter_prepare(source, wait);
}

/* Returns whether the loop is not asked for anything for a while. */
static bool is_quiet(void)
{
        unsigned n_before = n_prepared;

        test_let_pass_ms(100);
        return n_prepared == n_before;
}

TEST_NO_BUS(anyNumberOfRingsBeforeTheThreadRunsWakesItOnce)
{
        static const dn__source_ops ops = { prepare_and_count, counter_dispatch };
        counter counter = quiet_counter();
        dn__loop *loop = new_loop(true);

        counter.source.ops = &ops;
        counter.is_ready = true;
        dn__loop_add(loop, &counter.source);
        for (int i = 0; i < 10000; i++)
                dn__loop_wake(loop);
        CHECK_EQ(dn__loop_start(loop), 0);
        WAIT_UNTIL_EQ(counter.n_dispatched, 1);
        WAIT_UNTIL(is_quiet());
        counter.is_ready = true;
        dn__loop_wake(loop);
        WAIT_UNTIL_EQ(counter.n_dispatched, 2);
        close_and_wait(loop);
}

/* The library does so itself if it cannot write. Then the loop looks for work by itself, but not
 * all the time. */
TEST_NO_BUS(theEndOfTheWriterWakesTheThreadOnce)
{
        static const dn__source_ops ops = { prepare_and_count, counter_dispatch };
        counter counter = quiet_counter();
        uint64_t begin_us;
        dn__loop *loop;
        int fd = open_loop(&loop, 1);
        unsigned n_before;

        counter.source.ops = &ops;
        dn__loop_add(loop, &counter.source);
        CHECK_EQ(dn__loop_start(loop), 0);
        CHECK_EQ(shutdown(fd, SHUT_WR), 0);
        counter.is_ready = true;
        WAIT_UNTIL_EQ(counter.n_dispatched, 1);
        begin_us = dn__clock_now_us();
        n_before = n_prepared;
        test_let_pass_ms(500);
        CHECK(n_prepared - n_before <= (dn__clock_now_us() - begin_us) / 100000 + 2);
        close_and_wait(loop);
}

/* Linux polls no more descriptors than the process may have at the moment. */
TEST_NO_BUS(descriptorsThatCannotBePolledAreLookedAtNowAndThen)
{
        static const dn__source_ops ops = { prepare_and_count, counter_dispatch };
        const struct rlimit few = { 1, 4096 }, enough = { 4096, 4096 };
        counter counter = quiet_counter();
        dn__loop *loop = new_loop(true);
        uint64_t begin_us;

        counter.source.ops = &ops;
        counter.wait.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        counter.wait.events = POLLIN;
        dn__loop_add(loop, &counter.source);
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
        begin_us = dn__clock_now_us();
        CHECK_EQ(dn__loop_start(loop), 0);
        CHECK_EQ(eventfd_write(counter.wait.fd, 1), 0);
        WAIT_UNTIL_EQ(counter.n_dispatched, 1);
        test_let_pass_ms(500);
        CHECK(n_prepared <= (dn__clock_now_us() - begin_us) / 100000 + 3);
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &enough), 0); /* a sanitizer looks for leaks */
        close_and_wait(loop);
        (void)close(counter.wait.fd);
}

TEST_NO_BUS(ringingAfterTheHostHasClosedAnEndSendsNoSignal)
{
        close_an_end_and_ring(0);
        close_an_end_and_ring(1);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void close_from_within(void *argument)
{
        CHECK(!dn__loop_close(argument));
}

/* A sanitizer or an emulator may start a thread of its own together with our first one. */
static unsigned n_threads_once_one_has_run(void)
{
        dn__loop *loop = new_loop(false);

        CHECK_EQ(dn__loop_start(loop), 0);
        close_and_wait(loop);
        n_closed = 0;
        return test_n_threads();
}

TEST_NO_BUS(loopCanBeClosedFromWithin)
{
        unsigned n_threads = n_threads_once_one_has_run(), n_fds = test_n_fds();

        /* Whoever enqueues the work must not use the loop afterwards. */
        for (unsigned i = 1; i <= 60; i++) {
                dn__loop *loop = new_loop(i % 2);

                CHECK_EQ(dn__loop_enqueue(loop, close_from_within, loop), 0);
                WAIT_UNTIL_EQ(n_closed, i);
        }
        dn__thread_join_all();
        WAIT_UNTIL(test_n_threads() <= n_threads);
        CHECK_EQ(test_n_fds(), n_fds);
}

TEST_MAIN()
