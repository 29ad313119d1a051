/* The carrier through the shared table: posts reach the processes that share it, without a bus.
 *
 * A separate thread sleeps on the word of this process in the table, where others ring it (ring.c).
 * A mark only says that a name should be checked: how often it was posted is counted in the
 * table. */
#include "carrier/direct/direct.h"

#include <errno.h>
#include <stdlib.h>

#include "carrier/direct/marks.h"
#include "carrier/direct/nap.h"
#include "carrier/direct/ring.h"
#include "carrier/direct/storm.h"
#include "shm/slot.h"
#include "util/list.h"

/* What costs about as much as a wake-up: looking at this many names that were not posted, or taking
 * this many marks of slots without a name. Checking the table costs as much as several. */
#define N_LOOKS_PER_WAKE 8
#define N_MARKS_PER_WAKE 2048
#define N_WAKES_PER_CHECK 8

/* What the thread has done since it last asked what to wait for. */
typedef struct turn {
        uint64_t n_finds;  /* names with new posts */
        uint64_t n_looks;  /* at other names */
        uint64_t n_marks;
        uint64_t n_checks; /* whether others have left the table */
} turn;

typedef struct dn__direct {
        dn__carrier carrier;
        dn__source source;
        dn__loop *loop;
        _Atomic(dn__region *) region;

        /* Of the thread: */
        const dn__region *current; /* the region whose marks it takes */
        const dn__region *left;    /* the region that the sink was told others left */
        uint64_t n_found;          /* new posts, by this look */
        dn__nap nap;
        turn turn;
        dn__storm storm;
} dn__direct;

static dn__direct *direct_of(dn__carrier *carrier)
{
        return DN__CONTAINER(carrier, dn__direct, carrier);
}

dn__loop *dn__direct_get_loop(dn__carrier *carrier)
{
        return direct_of(carrier)->loop;
}

/* --- Receiving ------------------------------------------------------------------------------- */

/* Whoever rings in vain, or marks names that were not posted, gets a bounded share of the time. */
static void account_for_turn(dn__direct *direct)
{
        turn turn = direct->turn;
        bool has_worked = dn__loop_has_worked(direct->loop), is_vain = !turn.n_finds && !has_worked;

        direct->turn = (struct turn){ 0 };
        dn__storm_note(&direct->storm, turn.n_finds + has_worked,
                       is_vain + turn.n_looks / N_LOOKS_PER_WAKE + turn.n_marks / N_MARKS_PER_WAKE +
                               turn.n_checks * N_WAKES_PER_CHECK);
}

static bool prepare_direct(dn__source *source, dn__wait *wait)
{
        dn__direct *direct = DN__CONTAINER(source, dn__direct, source);
        const dn__region *region = atomic_load(&direct->region);

        (void)wait;
        dn__nap_take(&direct->nap);
        account_for_turn(direct);
        return !region || (!dn__ring_is_marked(region) &&
                           (direct->left == region || !dn__region_was_left(region)));
}

/* Tells the sink once: it may take a while until there is another table. */
static void look_whether_left(dn__direct *direct, const dn__region *region)
{
        if (!dn__region_was_left(region)) {
                direct->left = NULL;
        } else if (direct->left != region) {
                direct->left = region;
                direct->turn.n_checks++;
                direct->carrier.sink->may_have_missed(direct->carrier.context);
        }
}

/* Delivers all posts that the table has counted for the name of a slot. */
static void bring(void *context, size_t slot_index)
{
        dn__direct *direct = context;
        char text[DN__SLOT_NAME_BYTES];
        uint64_t n_posts = 0;
        dn__post post = {
                .generation = UINT64_MAX,
                .region = direct->current->id,
        };

        if (dn__slot_read_name(direct->current, slot_index, text, &post.name))
                n_posts = direct->carrier.sink->received(direct->carrier.context, &post);
        direct->n_found += n_posts;
        if (n_posts)
                direct->turn.n_finds++;
        else
                direct->turn.n_looks++;
}

static void dispatch_direct(dn__source *source)
{
        dn__direct *direct = DN__CONTAINER(source, dn__direct, source);

        direct->current = atomic_load(&direct->region);
        if (!direct->current)
                return;
        direct->n_found = 0;
        direct->turn.n_marks = dn__marks_take(direct->current, bring, direct);
        dn__nap_note(&direct->nap, direct->n_found);
        look_whether_left(direct, direct->current);
}

static const dn__source_ops source_ops = { prepare_direct, dispatch_direct };

/* --- The operations -------------------------------------------------------------------------- */

static int direct_start(dn__carrier *carrier, uint64_t *deadline_us)
{
        (void)carrier;
        (void)deadline_us;
        return 0;
}

/* The post is counted. If nobody holds its name, there is nobody to reach. */
static int direct_send(dn__carrier *carrier, const dn__post *post)
{
        dn__direct *direct = direct_of(carrier);

        if (!atomic_load(&direct->region))
                return -ENOTCONN;
        if (post->slot)
                dn__ring_holders(post->table, post->slot);
        return 0;
}

/* Holding the slot is enough. */
static int direct_watch(dn__carrier *carrier, const dn__name *name, dn__watch **ret_watch)
{
        dn__direct *direct = direct_of(carrier);

        (void)name;
        *ret_watch = NULL;
        if (!atomic_load(&direct->region))
                return 0;
        return dn__loop_start(direct->loop);
}

static int direct_await_watch(dn__carrier *carrier, dn__watch *watch, uint64_t *deadline_us)
{
        (void)carrier;
        (void)watch;
        (void)deadline_us;
        return -ENOTCONN; /* others know whether there is a slot */
}

static void direct_unwatch(dn__carrier *carrier, dn__watch *watch)
{
        (void)carrier;
        (void)watch;
}

static int direct_flush(dn__carrier *carrier, uint64_t deadline_us)
{
        (void)carrier;
        (void)deadline_us;
        return 0;
}

static int direct_take_untaken(dn__carrier *carrier)
{
        (void)carrier;
        return 0;
}

static void direct_linger(dn__carrier *carrier)
{
        (void)carrier;
}

static dn__carrier_counts direct_get_counts(dn__carrier *carrier)
{
        (void)carrier;
        return (dn__carrier_counts){ 0 };
}

/* Other processes come and go unnoticed. */
static bool direct_is_connected(dn__carrier *carrier)
{
        (void)carrier;
        return false;
}

static void direct_close(dn__carrier *carrier)
{
        (void)dn__loop_close(direct_of(carrier)->loop);
}

static void direct_free(dn__carrier *carrier)
{
        free(direct_of(carrier));
}

static const dn__carrier_ops direct_ops = {
        .start = direct_start,
        .send = direct_send,
        .watch = direct_watch,
        .await_watch = direct_await_watch,
        .unwatch = direct_unwatch,
        .flush = direct_flush,
        .take_untaken = direct_take_untaken,
        .linger = direct_linger,
        .get_counts = direct_get_counts,
        .is_connected = direct_is_connected,
        .close = direct_close,
        .free = direct_free,
};

static void loop_closed(void *context)
{
        dn__direct *direct = context;

        direct->carrier.sink->closed(direct->carrier.context);
}

int dn__direct_new(const dn__sink *sink, void *context, dn__carrier **ret_carrier)
{
        dn__direct *direct = calloc(1, sizeof(*direct));
        dn__loop_options options = {
                .thread_name = "dn-direct",
                .closed = loop_closed,
                .context = direct,
        };
        int r;

        if (!direct)
                return -ENOMEM;
        *direct = (dn__direct){
                .carrier = { &direct_ops, sink, context },
                .source.ops = &source_ops,
        };
        r = dn__loop_new(&options, &direct->loop);
        if (r < 0) {
                free(direct);
                return r;
        }
        dn__loop_add(direct->loop, &direct->source);
        *ret_carrier = &direct->carrier;
        return 0;
}

void dn__direct_set_region(dn__carrier *carrier, dn__region *region)
{
        dn__direct *direct = direct_of(carrier);

        atomic_store(&direct->region, region);
        dn__loop_set_word(direct->loop, &region->table->processes[region->process].wake);
}
