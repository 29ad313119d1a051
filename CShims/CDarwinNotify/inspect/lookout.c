/* Reports when names are marked in the table that other processes use, and moves on when the table
 * is replaced.
 *
 * A thread sleeps on the word of the entry, where posters ring, and rings a bell for the reader.
 * The reader takes the marks: until then the thread has nothing more to report. */
#include "inspect/lookout.h"

#include "carrier/direct/carry.h"
#include "carrier/direct/marks.h"
#include "carrier/direct/ring.h"
#include "util/clock.h"
#include "util/list.h"

/* Taking this many marks costs the reader about as much as a wake-up; checking the table costs as
 * much as several. */
#define N_MARKS_PER_WAKE 16
#define N_MARKS_PER_CHECK (8 * N_MARKS_PER_WAKE)

/* When to try again to open the next table. */
#define RETRY_US (400 * DN__US_PER_MS)

/* When to try again to watch over the file: the system has few watches for all programs. */
#define PLACE_RETRY_US (800 * DN__US_PER_MS)

/* --- The thread ------------------------------------------------------------------------------ */

static bool has_news(dn__lookout *lookout)
{
        const dn__region *region = atomic_load(&lookout->region);

        if (!dn__region_was_left(region))
                lookout->left = NULL;
        else if (lookout->left != region)
                return true;
        return dn__ring_is_marked(region);
}

static bool prepare_lookout(dn__source *source, dn__wait *wait)
{
        dn__lookout *lookout = DN__CONTAINER(source, dn__lookout, source);

        (void)wait;
        /* The thread does not know whether there were posts, but reports can wait. */
        dn__storm_note(&lookout->storm, 0,
                       1 + atomic_exchange(&lookout->n_marks, 0) / N_MARKS_PER_WAKE);
        return atomic_load(&lookout->is_told) || !has_news(lookout);
}

static void dispatch_lookout(dn__source *source)
{
        dn__lookout *lookout = DN__CONTAINER(source, dn__lookout, source);
        const dn__region *region = atomic_load(&lookout->region);

        if (!has_news(lookout) || atomic_exchange(&lookout->is_told, true))
                return;
        if (dn__region_was_left(region))
                lookout->left = region;
        dn__bell_ring(&lookout->bell);
}

static const dn__source_ops source_ops = { prepare_lookout, dispatch_lookout };

static int start_thread(dn__lookout *lookout)
{
        dn__loop_options options = { .thread_name = "dn-follower" };
        const dn__region *region = atomic_load(&lookout->region);
        int r;

        if (lookout->loop)
                return dn__loop_start(lookout->loop);
        r = dn__loop_new(&options, &lookout->loop);
        if (r < 0)
                return r;
        dn__loop_add(lookout->loop, &lookout->source);
        dn__loop_set_word(lookout->loop, &region->table->processes[region->process].wake);
        return dn__loop_start(lookout->loop);
}

/* --- The next table --------------------------------------------------------------------------- */

/* Every lookout does this, not only a few processes as in center/table.c: those may all have ended.
 * The file may have been replaced before it was watched. */
static void watch_over_file(dn__lookout *lookout)
{
        const dn__region *region = atomic_load(&lookout->region);
        bool is_settled = lookout->place ? dn__place_is_intact(lookout->place)
                                         : dn__clock_now_us() < lookout->place_us;

        if (lookout->watched == region && is_settled)
                return;
        (void)dn__place_free(lookout->place);
        lookout->place = dn__place_new(region);
        lookout->place_us = dn__clock_after_us(PLACE_RETRY_US);
        lookout->watched = region;
        lookout->look_us = 0;
}

/* If the names went to yet another table, which was gone before this process saw it, those who did
 * see it carry them on. */
static bool carry(dn__region *from, dn__region *to)
{
        uint64_t moved = atomic_load(&from->table->moved);

        if (moved != 0 && moved != to->id)
                return false;
        return dn__carry(from, to, false);
}

static void move(dn__lookout *lookout, dn__region *to)
{
        dn__region *from = atomic_load(&lookout->region);
        bool has_all = carry(from, to);

        if (lookout->is_watching)
                dn__ring_watch(to);
        lookout->moved(lookout->context, from, to, has_all);
        to->previous = from;
        atomic_store(&lookout->region, to);
        if (lookout->loop)
                dn__loop_set_word(lookout->loop, &to->table->processes[to->process].wake);
        dn__ring_unwatch(from);
        dn__ring_all(from);
        dn__region_leave(from);
}

static bool is_due(dn__lookout *lookout)
{
        const dn__region *region = atomic_load(&lookout->region);
        bool has_changed = lookout->place && dn__place_read(lookout->place);

        if (lookout->look_us != DN__NEVER)
                return dn__clock_now_us() >= lookout->look_us;
        return has_changed || dn__region_was_left(region);
}

void dn__lookout_look(dn__lookout *lookout)
{
        dn__region *region = atomic_load(&lookout->region), *next;

        dn__bell_take(&lookout->bell, POLLIN);
        atomic_store(&lookout->is_told, false);
        watch_over_file(lookout);
        if (!is_due(lookout))
                return;
        lookout->look_us = DN__NEVER;
        atomic_fetch_add(&lookout->n_marks, N_MARKS_PER_CHECK);
        if (dn__region_find_next(region, region->key, &next) < 0) {
                lookout->look_us = dn__clock_after_us(RETRY_US);
        } else if (next != region) {
                move(lookout, next);
                watch_over_file(lookout);
        }
}

void dn__lookout_take_marks(dn__lookout *lookout, void (*look)(void *context, size_t slot_index),
                            void *context)
{
        atomic_fetch_add(&lookout->n_marks,
                         dn__marks_take(atomic_load(&lookout->region), look, context));
}

void dn__lookout_doubt(dn__lookout *lookout, uint64_t at_us)
{
        if (lookout->look_us == DN__NEVER)
                lookout->look_us = at_us;
}

/* --- The life of a lookout -------------------------------------------------------------------- */

void dn__lookout_prepare(dn__lookout *lookout, struct pollfd ret_waits[DN__LOOKOUT_N_WAITS],
                         uint64_t *until_us)
{
        int place_fd = lookout->place ? dn__place_get_fd(lookout->place) : -1;

        ret_waits[0] = (struct pollfd){ dn__bell_prepare(&lookout->bell), POLLIN, 0 };
        ret_waits[1] = (struct pollfd){ place_fd, POLLIN, 0 };
        *until_us = dn__bell_limit(&lookout->bell, *until_us);
        /* The bell may have been rung before it was replaced. */
        if (atomic_load(&lookout->is_told))
                *until_us = 0;
        if (lookout->look_us < *until_us)
                *until_us = lookout->look_us;
        if (!lookout->place && lookout->place_us < *until_us)
                *until_us = lookout->place_us;
}

int dn__lookout_init(dn__lookout *lookout, const char *key, dn__moved_fn *moved, void *context)
{
        dn__region *region;
        int r;

        *lookout = (dn__lookout){
                .source.ops = &source_ops,
                .moved = moved,
                .context = context,
        };
        r = dn__region_open(key, &region);
        if (r < 0)
                return r;
        atomic_store(&lookout->region, region);
        return dn__bell_init(&lookout->bell);
}

int dn__lookout_watch(dn__lookout *lookout)
{
        int r;

        r = start_thread(lookout);
        if (r < 0)
                return r;
        dn__ring_watch(atomic_load(&lookout->region));
        lookout->is_watching = true;
        return 0;
}

void dn__lookout_unwatch(dn__lookout *lookout)
{
        dn__ring_unwatch(atomic_load(&lookout->region));
        lookout->is_watching = false;
}

void dn__lookout_deinit(dn__lookout *lookout)
{
        dn__region *region = atomic_load(&lookout->region);

        if (!region)
                return;
        dn__lookout_unwatch(lookout);
        (void)dn__loop_close_and_wait(lookout->loop);
        (void)dn__place_free(lookout->place);
        dn__bell_deinit(&lookout->bell);
        dn__region_remove_if_last(region);
        (void)dn__region_close(region);
}
