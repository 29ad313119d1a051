/* The carrier through the shared table: posts reach the processes that share it, without a bus.
 *
 * A thread sleeps on the word of this process in the table, where others ring it (ring.c): the one
 * that runs the handlers while all of them run there, which spares a second wake-up; else one of
 * our own, since it must not wait for a handler. A mark only says that a name should be checked:
 * how often it was posted is counted in the table. */
#include "direct/direct.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "direct/ring.h"
#include "table/slot.h"
#include "util/cleanup.h"
#include "util/list.h"
#include "util/lock.h"
#include "util/throttle.h"

/* Lets the posts of a flood gather before the thread looks again.
 *
 * A receiver that looks at once finds one post, sleeps, and is woken for the next: each post then
 * costs its poster a system call. While the receiver naps with its word awake, posters only count
 * and mark.
 *
 * Many looks in a row may mean a flood, or a conversation in which each post answers the one
 * before, and which no nap must slow down. So the first nap is a short trial: if more than one
 * post comes meanwhile, nobody is waiting for each one. */
#define NAP_TRIAL_US 50
#define NAP_TRIALS_EVERY_US (100 * DN__US_PER_MS)

/* All zero: no look so far. */
typedef struct nap {
        dn__throttle looks;
        uint64_t until_us; /* the end of the last nap, or of the next one */
        uint64_t trial_us; /* the earliest time of the next trial */
        bool is_due;       /* nap before looking again */
        bool is_over;      /* no look has found a post since the last nap */
        bool was_flood;    /* many posts came during the last nap */
} nap;

/* Takes the marks for one of the threads that may sleep on the word. */
typedef struct receiver {
        dn__source source;
        struct direct *direct;
        dn__loop *loop;
        const dn__region *current; /* the region whose marks it takes */
        uint64_t seen_stale_count; /* of that region; the last value reported to the sink */
        uint64_t n_found;          /* new posts, by this look */
        nap nap;
} receiver;

typedef struct direct {
        dn__carrier carrier;
        dn__direct_options options;
        dn__loop *loop;
        receiver own;
        receiver attached; /* to a shared loop, while nothing needs our own thread */
        _Atomic unsigned n_users;     /* the owner, and the shared loop while it has `attached` */
        _Atomic(dn__loop *) sleeper;  /* sleeps on the word; NULL: none yet, or no longer */
        _Atomic(dn__region *) region; /* NULL: this process holds no names */
        _Atomic bool needs_own_thread;
        dn__lock lock; /* of changes to the three above, and to the loop of `attached` */
} direct;

dn__loop *dn__direct_get_loop(dn__carrier *carrier)
{
        return DN__CONTAINER(carrier, direct, carrier)->loop;
}

/* The last user ends our own thread, which then calls `closed`. */
static void release(direct *direct)
{
        if (atomic_fetch_sub(&direct->n_users, 1) == 1)
                (void)dn__loop_close(direct->loop);
}

/* --- Naps ------------------------------------------------------------------------------------ */

static void judge_nap(nap *nap, uint64_t n_posts, uint64_t now_us)
{
        nap->is_over = false;
        nap->was_flood = n_posts > 1;
        if (!nap->was_flood)
                nap->trial_us = now_us + NAP_TRIALS_EVERY_US;
}

/* Counts a look that found this many new posts, at least one. */
static void note_look(nap *nap, uint64_t n_posts)
{
        uint64_t now_us = dn__clock_now_us(), end_us;

        if (nap->is_over)
                judge_nap(nap, n_posts, now_us);
        end_us = dn__throttle_count(&nap->looks, now_us);
        if (!end_us)
                return;
        if (nap->was_flood && now_us < nap->until_us + DN__THROTTLE_SPAN_US) {
                nap->until_us = end_us;
                nap->is_due = true;
        } else if (now_us >= nap->trial_us) {
                nap->until_us = now_us + NAP_TRIAL_US;
                nap->is_due = true;
        }
}

static void take_nap(nap *nap)
{
        dn__clock_sleep_until(nap->until_us);
        nap->is_due = false;
        nap->is_over = true;
}

/* --- Receiving ------------------------------------------------------------------------------- */

/* The sink learns only once that the table is stale: it may take a while to find another. */
static bool is_newly_stale(const receiver *receiver, const dn__region *region, uint64_t stale_count)
{
        return stale_count % 2 &&
               (receiver->current != region || receiver->seen_stale_count != stale_count);
}

static bool is_sleeper(const receiver *receiver)
{
        return atomic_load(&receiver->direct->sleeper) == receiver->loop;
}

static bool prepare_receiver(dn__source *source, dn__wait *wait)
{
        receiver *receiver = DN__CONTAINER(source, struct receiver, source);
        const dn__region *region = atomic_load(&receiver->direct->region);

        (void)wait;
        if (!is_sleeper(receiver))
                return receiver == &receiver->direct->own;
        if (receiver->nap.is_due)
                take_nap(&receiver->nap);
        return !region || (!dn__ring_is_marked(region) &&
                           !is_newly_stale(receiver, region, dn__region_get_stale_count(region)));
}

/* Delivers all posts that the table has counted for the name of a slot. */
static void bring(void *context, size_t slot_index)
{
        receiver *receiver = context;
        const direct *direct = receiver->direct;
        char text[DN__SLOT_NAME_BYTES];
        uint64_t n_posts = 0;
        dn__post post = {
                .generation = DN__POST_ALL_COUNTED,
                .region_id = receiver->current->id,
        };

        if (dn__slot_read_name(receiver->current, slot_index, text, &post.name))
                n_posts = direct->options.sink->received(direct->options.context, &post);
        receiver->n_found += n_posts;
}

static void take_posts(receiver *receiver, const dn__region *region)
{
        const direct *direct = receiver->direct;
        uint64_t stale_count = dn__region_get_stale_count(region);
        bool is_new = is_newly_stale(receiver, region, stale_count);

        receiver->current = region;
        receiver->seen_stale_count = stale_count;
        receiver->n_found = 0;
        dn__ring_take(region, bring, receiver);
        if (receiver->n_found)
                note_look(&receiver->nap, receiver->n_found);
        if (is_new)
                direct->options.sink->may_have_missed(direct->options.context);
}

/* The thread that takes the word away uses the loop, which may be closing, until it releases the
 * lock. */
static void detach(receiver *attached)
{
        dn__lock_acquire(&attached->direct->lock);
        dn__lock_release(&attached->direct->lock);
        dn__loop_detach(attached->loop);
        release(attached->direct);
}

static void dispatch_receiver(dn__source *source)
{
        receiver *receiver = DN__CONTAINER(source, struct receiver, source);
        const dn__region *region = atomic_load(&receiver->direct->region);

        if (is_sleeper(receiver)) {
                if (region)
                        take_posts(receiver, region);
        } else if (receiver == &receiver->direct->attached) {
                detach(receiver);
        }
}

static const dn__source_ops source_ops = { prepare_receiver, dispatch_receiver };

/* --- Posting --------------------------------------------------------------------------------- */

/* If the process has moved since the post was counted, the table that counted it is stale. */
static int direct_post(dn__carrier *carrier, dn__post *post)
{
        const direct *direct = DN__CONTAINER(carrier, struct direct, carrier);
        const dn__region *region = atomic_load(direct->options.table);
        dn__shm_slot *slot;

        if (!region)
                return DN_NOT_CONNECTED;
        slot = dn__slot_find(region, &post->name);
        if (!post->generation) {
                post->region_id = region->id;
                post->generation =
                        slot ? dn__slot_count_for_others(region, slot, &post->name) : 0;
        }
        if (slot && post->generation)
                dn__ring_holders(region, slot);
        return dn__region_is_stale(region) || post->region_id != region->id ? -ESTALE : 0;
}

/* --- The life of a carrier ------------------------------------------------------------------- */

/* Neither call has anything to do. A sandbox refuses with other errors. */
bool dn__direct_is_allowed(void)
{
        dn__wake_word word = 1;

        return syscall(SYS_futex, &word, FUTEX_WAKE_BITSET, 1, NULL, NULL,
                       FUTEX_BITSET_MATCH_ANY) >= 0 &&
               syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, NULL, NULL,
                       FUTEX_BITSET_MATCH_ANY) < 0 &&
               (errno == EAGAIN || errno == EINTR || errno == ENOMEM);
}

static bool attach_to(direct *direct, dn__loop *shared) DN__REQUIRES(&direct->lock)
{
        direct->attached.loop = shared;
        atomic_store(&direct->sleeper, shared);
        atomic_fetch_add(&direct->n_users, 1);
        if (dn__loop_attach(shared, &direct->attached.source,
                            &atomic_load(&direct->region)->target))
                return true;
        atomic_fetch_sub(&direct->n_users, 1);
        atomic_store(&direct->sleeper, NULL);
        return false;
}

/* First makes the shared loop release the word. The attached receiver still reads the marks at that
 * point. Once it is no longer the sleeper it detaches, and a ring that the shared loop then cleared
 * would be lost. */
static void set_sleeper(direct *direct, dn__loop *sleeper) DN__REQUIRES(&direct->lock)
{
        dn__loop *previous = atomic_load(&direct->sleeper);
        dn__loop *shared = previous == direct->loop ? NULL : previous;

        if (shared)
                dn__loop_take_target(shared);
        atomic_store(&direct->sleeper, sleeper);
        if (shared)
                dn__loop_wake(shared);
}

static void sleep_on_own_thread(direct *direct) DN__REQUIRES(&direct->lock)
{
        set_sleeper(direct, direct->loop);
        dn__loop_set_target(direct->loop, &atomic_load(&direct->region)->target);
}

static int direct_start(dn__carrier *carrier, uint64_t *deadline_us)
{
        direct *direct = DN__CONTAINER(carrier, struct direct, carrier);
        dn__loop *shared = direct->options.get_shared_loop();
        int r;

        (void)deadline_us;
        DN__AUTO_LOCK(&direct->lock);
        if (atomic_load(&direct->sleeper))
                return 0;
        if (atomic_load(&direct->needs_own_thread))
                shared = NULL;
        r = dn__loop_start(shared ? shared : direct->loop);
        /* Even before there is a table: later a failure could not be reported. */
        if (r < 0 || !atomic_load(&direct->region) || (shared && attach_to(direct, shared)))
                return r;
        r = dn__loop_start(direct->loop);
        if (r == 0)
                sleep_on_own_thread(direct);
        return r;
}

static int direct_use_own_thread(dn__carrier *carrier)
{
        direct *direct = DN__CONTAINER(carrier, struct direct, carrier);
        int r;

        if (atomic_load(&direct->needs_own_thread))
                return 0;
        r = dn__loop_start(direct->loop);
        if (r < 0)
                return r;
        DN__AUTO_LOCK(&direct->lock);
        atomic_store(&direct->needs_own_thread, true);
        if (atomic_load(&direct->sleeper))
                sleep_on_own_thread(direct);
        return 0;
}

/* An attached receiver finds that it is not the sleeper, and detaches. */
static void direct_close(dn__carrier *carrier)
{
        direct *direct = DN__CONTAINER(carrier, struct direct, carrier);

        dn__lock_acquire(&direct->lock);
        set_sleeper(direct, NULL);
        dn__lock_release(&direct->lock);
        release(direct);
}

static void loop_closed(void *context)
{
        direct *direct = context;

        direct->options.sink->closed(direct->options.context);
}

static void direct_free(dn__carrier *carrier)
{
        direct *direct = DN__CONTAINER(carrier, struct direct, carrier);

        dn__lock_deinit(&direct->lock);
        free(direct);
}

void dn__direct_set_region(dn__carrier *carrier, dn__region *region)
{
        direct *direct = DN__CONTAINER(carrier, struct direct, carrier);
        dn__loop *sleeper;

        DN__AUTO_LOCK(&direct->lock);
        atomic_store(&direct->region, region);
        sleeper = atomic_load(&direct->sleeper);
        if (sleeper)
                dn__loop_set_target(sleeper, &region->target);
}

static const dn__carrier_ops direct_ops = {
        .start = direct_start,
        .use_own_thread = direct_use_own_thread,
        .post = direct_post,
        .close = direct_close,
        .free = direct_free,
};

int dn__direct_new(const dn__direct_options *options, dn__carrier **ret_carrier)
{
        direct *direct DN__FREES = calloc(1, sizeof(*direct));
        dn__loop_options loop = {
                .thread_name = "dn-direct",
                .closed = loop_closed,
                .context = direct,
        };
        int r;

        if (!direct)
                return -ENOMEM;
        r = dn__loop_new(&loop, &direct->loop);
        if (r < 0)
                return r;
        direct->carrier.ops = &direct_ops;
        direct->options = *options;
        direct->own = (receiver){ { &source_ops }, direct, .loop = direct->loop };
        direct->attached = (receiver){ { &source_ops }, direct, .loop = NULL };
        atomic_init(&direct->n_users, 1);
        dn__lock_init(&direct->lock);
        dn__loop_add(direct->loop, &direct->own.source);
        *ret_carrier = &DN__TAKE(direct)->carrier;
        return 0;
}
