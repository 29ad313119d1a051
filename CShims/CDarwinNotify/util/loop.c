/* Runs sources on one thread of the library. */
#include "util/loop.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/descriptor.h"
#include "util/fork.h"
#include "util/lock.h"
#include "util/queue.h"
#include "util/thread.h"

/* How often a thread whose waker was closed looks for work. */
#define BROKEN_US (100 * DN__US_PER_MS)

/* Wakes a thread that polls.
 *
 * A pair of sockets, since its ends are recognizable: the host may close all descriptors and open
 * others with their numbers, which the library must neither write to nor read from. The pair is not
 * replaced: from then on the thread cannot be woken, and looks for work by itself. Not a pipe:
 * ringing one whose reader the host has closed would send SIGPIPE to the host's thread. */
typedef struct waker {
        int read_fd;
        int write_fd;
        dn__fork_guard *read_guard;
        dn__fork_guard *write_guard;
        _Atomic bool is_broken; /* an end of it was closed by others */
} waker;

struct dn__loop {
        dn__loop_options options;
        _Atomic(const dn__wake_target *) target;
        dn__wake_word own_word;
        dn__wake_target own_target;
        waker waker; /* of a loop that polls */
        _Atomic(dn__source *) attached;
        dn__source *sources[DN__LOOP_MAX_SOURCES]; /* owned by the thread once it has started */
        size_t n_sources;

        dn__lock lock;
        dn__queue queue DN__GUARDED_BY(&lock);
        bool is_started DN__GUARDED_BY(&lock);
        bool is_closing DN__GUARDED_BY(&lock);
};

/* What one turn waits for. The last descriptor is the wake-up descriptor. */
typedef struct turn {
        const dn__wake_target *target; /* that it began with */
        struct pollfd fds[DN__LOOP_MAX_SOURCES + 1];
        uint64_t until_us[DN__LOOP_MAX_SOURCES];
        uint64_t first_us;                   /* the earliest deadline */
        bool is_ready[DN__LOOP_MAX_SOURCES]; /* ready regardless of events */
        size_t n_sources;
} turn;

static _Thread_local const dn__loop *current;

bool dn__loop_is_current(const dn__loop *loop)
{
        return current == loop;
}

/* --- The waker -------------------------------------------------------------------------------- */

static int waker_init(waker *waker)
{
        int fds[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
                return dn__descriptor_refused();
        waker->read_fd = fds[0];
        waker->write_fd = fds[1];
        waker->read_guard = dn__fork_guard_new(fds[0]);
        waker->write_guard = dn__fork_guard_new(fds[1]);
        return 0;
}

/* If it was closed, closing it has woken the thread. If there is no room, the thread has not read
 * yet, and will. The end of the writer needs no memory. */
static void waker_ring(const waker *waker)
{
        ssize_t n;

        if (atomic_load(&waker->is_broken) || !dn__fork_guard_is_intact(waker->write_guard))
                return;
        do
                n = send(waker->write_fd, "", 1, MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        if (n < 0 && errno != EAGAIN)
                (void)shutdown(waker->write_fd, SHUT_WR);
}

/* Takes the events that poll() reported. The end of a writer, closed or shut down, is one for
 * ever. */
static void waker_take(waker *waker, short events)
{
        char bytes[64];
        bool is_ring = events == POLLIN && dn__fork_guard_is_intact(waker->read_guard) &&
                       read(waker->read_fd, bytes, sizeof(bytes)) != 0;

        if (events && !is_ring)
                atomic_store(&waker->is_broken, true);
}

/* --- Creation --------------------------------------------------------------------------------- */

int dn__loop_new(const dn__loop_options *options, dn__loop **ret_loop)
{
        dn__loop *loop DN__FREES = calloc(1, sizeof(*loop));
        int r;

        if (!loop)
                return -ENOMEM;
        r = options->polls ? waker_init(&loop->waker) : 0;
        if (r < 0)
                return r;
        loop->options = *options;
        loop->own_target.word = &loop->own_word;
        atomic_init(&loop->target, &loop->own_target);
        dn__lock_init(&loop->lock);
        *ret_loop = DN__TAKE(loop);
        return 0;
}

static void loop_free(dn__loop *loop)
{
        dn__loop_options options = loop->options;

        if (options.polls) {
                (void)dn__fork_guard_close(loop->waker.read_guard, loop->waker.read_fd);
                (void)dn__fork_guard_close(loop->waker.write_guard, loop->waker.write_fd);
        }
        dn__queue_deinit(&loop->queue);
        dn__lock_deinit(&loop->lock);
        free(loop);
        if (options.closed)
                options.closed(options.context);
}

void dn__loop_add(dn__loop *loop, dn__source *source)
{
        assert(loop->n_sources < DN__LOOP_MAX_SOURCES);
        loop->sources[loop->n_sources++] = source;
}

void dn__loop_set_target(dn__loop *loop, const dn__wake_target *target)
{
        const dn__wake_target *previous;

        assert(!loop->options.polls);
        /* The previous word may be rung from now on for work that the loop has not seen: it looks
         * for work once more before it sleeps on the new one. */
        (void)dn__wake_set_rung(target->word);
        /* Under the lock, under which dn__loop_enqueue() rings. */
        dn__lock_acquire(&loop->lock);
        previous = atomic_exchange(&loop->target, target);
        dn__lock_release(&loop->lock);
        /* The thread may be asleep there. */
        dn__wake_ring(previous);
}

bool dn__loop_attach(dn__loop *loop, dn__source *source, const dn__wake_target *target)
{
        dn__source *none = NULL;

        assert(loop->n_sources < DN__LOOP_MAX_SOURCES);
        if (!atomic_compare_exchange_strong(&loop->attached, &none, source))
                return false;
        dn__loop_set_target(loop, target);
        return true;
}

void dn__loop_take_target(dn__loop *loop)
{
        dn__loop_set_target(loop, &loop->own_target);
}

void dn__loop_detach(dn__loop *loop)
{
        assert(dn__loop_is_current(loop));
        atomic_store(&loop->attached, NULL);
}

void dn__loop_wake(dn__loop *loop)
{
        const dn__wake_target *target = atomic_load(&loop->target);
        uint32_t rung;

        if (current == loop)
                return;
        if (!loop->options.polls) {
                dn__wake_ring(target);
        } else if ((rung = dn__wake_set_rung(target->word))) {
                waker_ring(&loop->waker);
                dn__wake_settle(target->word, rung);
        }
}

/* --- Thread ----------------------------------------------------------------------------------- */

/* Returns false when there is work to do immediately. */
static bool prepare_sources(dn__loop *loop, turn *turn)
{
        dn__source *attached = atomic_load(&loop->attached);
        bool is_idle = true;

        turn->first_us = DN__NEVER;
        turn->n_sources = loop->n_sources;
        if (attached)
                loop->sources[turn->n_sources++] = attached;
        for (size_t i = 0; i < turn->n_sources; i++) {
                dn__wait wait = { .fd = -1, .until_us = DN__NEVER };

                turn->is_ready[i] = !loop->sources[i]->ops->prepare(loop->sources[i], &wait);
                is_idle = is_idle && !turn->is_ready[i];
                assert(wait.fd < 0 || loop->options.polls);
                turn->fds[i] = (struct pollfd){ .fd = wait.fd, .events = wait.events };
                turn->until_us[i] = wait.until_us;
                turn->first_us = dn__clock_earlier(turn->first_us, wait.until_us);
        }
        return is_idle;
}

/* Returns false if nothing is known about the descriptors: the word was rung just before, or they
 * cannot be polled, for example after the host has lowered its limit of descriptors. Then the loop
 * looks at them by itself, but not all the time. */
static bool sleep_on_descriptors(dn__loop *loop, turn *turn)
{
        struct pollfd *wake = &turn->fds[turn->n_sources];
        bool is_broken = atomic_load(&loop->waker.is_broken);

        *wake = (struct pollfd){ is_broken ? -1 : loop->waker.read_fd, .events = POLLIN };
        if (is_broken)
                turn->first_us = dn__clock_earlier(turn->first_us, dn__clock_after_us(BROKEN_US));
        if (!dn__wake_fall_asleep(turn->target->word))
                return false;
        if (dn__clock_poll(turn->fds, turn->n_sources + 1, turn->first_us) < 0) {
                if (errno != EINTR)
                        dn__clock_sleep_until(dn__clock_after_us(BROKEN_US));
                return false;
        }
        waker_take(&loop->waker, wake->revents);
        return true;
}

/* Once another loop may sleep on the word, this one does not. If the attached source was detached
 * in this turn, its memory may be gone. */
static void sleep_on_word(dn__loop *loop, const turn *turn)
{
        uint32_t asleep = 0;

        if (atomic_load(&loop->target) == turn->target)
                asleep = dn__wake_fall_asleep(turn->target->word);
        if (asleep && atomic_load(&loop->target) == turn->target)
                (void)dn__wake_stay_asleep(turn->target, asleep, turn->first_us);
        else if (asleep)
                dn__wake_ring(turn->target);
}

/* A turn that did not sleep does not know which descriptors are ready: reading them costs no more
 * than polling. */
static void dispatch_sources(dn__loop *loop, const turn *turn, bool has_slept)
{
        uint64_t now_us = turn->first_us == DN__NEVER ? 0 : dn__clock_now_us();

        for (size_t i = 0; i < turn->n_sources; i++) {
                bool may_read = has_slept ? turn->fds[i].revents != 0 : turn->fds[i].fd >= 0;

                if (turn->is_ready[i] || may_read || turn->until_us[i] <= now_us)
                        loop->sources[i]->ops->dispatch(loop->sources[i]);
        }
}

/* Returns whether the work has added more. */
static bool run_queued(dn__loop *loop, bool *ret_is_closing)
{
        DN__AUTO_LOCK(&loop->lock);
        (void)dn__queue_run(&loop->queue, &loop->lock);
        *ret_is_closing = loop->is_closing;
        return loop->queue.n_items > 0;
}

void dn__loop_run_queued(dn__loop *loop)
{
        bool is_closing;

        assert(dn__loop_is_current(loop));
        (void)run_queued(loop, &is_closing);
}

static const dn__wake_target *begin(const dn__loop *loop)
{
        const dn__wake_target *target = atomic_load(&loop->target);

        dn__wake_begin(target->word);
        /* This may have erased a ring for the other loop, or its sleep, which no ring would end. */
        if (atomic_load(&loop->target) != target) { /* race: only if another loop has just got it */
                (void)dn__wake_set_rung(target->word);
                dn__wake_rouse(target);
        }
        return target;
}

static void run_turns(dn__loop *loop)
{
        bool has_more, is_closing, has_slept = false;
        turn turn = { 0 };

        for (;;) {
                turn.target = begin(loop);
                dispatch_sources(loop, &turn, has_slept);
                has_more = run_queued(loop, &is_closing);
                if (is_closing && !has_more && !atomic_load(&loop->attached))
                        return;
                has_slept = prepare_sources(loop, &turn) && !has_more;
                if (has_slept && loop->options.polls)
                        has_slept = sleep_on_descriptors(loop, &turn);
                else if (has_slept)
                        sleep_on_word(loop, &turn);
        }
}

static void loop_main(void *context)
{
        current = context;
        run_turns(context);
        current = NULL;
        loop_free(context);
}

/* --- Start and end ---------------------------------------------------------------------------- */

static int start(dn__loop *loop) DN__REQUIRES(&loop->lock)
{
        int r;

        r = dn__thread_start(loop->options.thread_name, loop_main, loop);
        loop->is_started = r == 0;
        return r;
}

int dn__loop_start(dn__loop *loop)
{
        DN__AUTO_LOCK(&loop->lock);
        return loop->is_started ? 0 : start(loop);
}

int dn__loop_enqueue(void *context, dn_work_fn work, void *argument)
{
        dn__loop *loop = context;
        bool is_first;
        int r;

        dn__lock_acquire(&loop->lock);
        is_first = loop->queue.n_items == 0;
        r = loop->is_started ? 0 : start(loop);
        if (r == 0)
                r = dn__queue_push(&loop->queue, (dn__queued_work){ work, argument });
        /* If other work is already waiting, the thread that queued the first one rings. Under the
         * lock, since the loop may have been kept only for this work. */
        if (r == 0 && is_first)
                dn__loop_wake(loop);
        dn__lock_release(&loop->lock);
        return r;
}

dn__loop *dn__loop_close(dn__loop *loop)
{
        bool is_started;

        if (!loop)
                return NULL;
        dn__lock_acquire(&loop->lock);
        loop->is_closing = true;
        is_started = loop->is_started;
        /* Under the lock, since its thread may free the loop once it is released. */
        dn__loop_wake(loop);
        dn__lock_release(&loop->lock);
        if (!is_started)
                loop_free(loop);
        return NULL;
}
