/* Reports the posts that the shared table counts, while there is no bus to report them.
 *
 * When processes leave the table for another one (carrier/direct/carry.c), the counts of the new
 * table continue those of the old one. So each post is reported once, provided that no count is
 * reported that may be repeated in the next table, that is, one made after the table was left. */
#include "inspect/follower.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "inspect/lookout.h"
#include "inspect/progress.h"
#include "shm/slot.h"
#include "util/clock.h"
#include "util/hash.h"
#include "util/text.h"
#include "util/utf8.h"

/* When to look again after others seem to have left the table; they will give notice. */
#define DOUBT_US (20 * DN__US_PER_MS)

/* What is being reported. */
typedef struct report {
        dn__progress *progress;
        const dn__region *region;
        bool is_last; /* what this table has counted is in no other */
        const char *prefix;
        const dn_watcher *watcher;
        int result;
} report;

struct dn__follower {
        dn__lookout lookout;
        uint64_t foreign_id; /* of a region that was found to be none of ours */
        bool looks_at_all;   /* not only at what is marked */
        report *report;      /* NULL: nothing is to be reported */
        dn__progress progress;
};

/* --- Reading --------------------------------------------------------------------------------- */

static uint64_t wall_clock_us(void)
{
        struct timespec now;

        (void)clock_gettime(CLOCK_REALTIME, &now);
        return (uint64_t)now.tv_sec * DN__US_PER_SECOND + (uint64_t)now.tv_nsec / 1000;
}

static int report_name(const report *report, const char *name, uint64_t generation,
                       uint64_t n_posts)
{
        dn_post_record record = {
                .time_us = wall_clock_us(),
                .center = "darwin",
                .name = name,
                .sender = "",
                .generation = generation,
                .region = report->region->id,
                .n_posts = n_posts,
        };

        return report->watcher->post(&record, report->watcher->context);
}

static void look_at(void *context, size_t index)
{
        report *report = context;
        const dn__region *region = report->region;
        char text[DN__SLOT_NAME_BYTES];
        uint64_t generation, before;
        dn__reported *reported;
        dn__name name;

        if (report->result || !dn__slot_read_name(region, index, text, &name) ||
            !dn__utf8_is_valid(name.text, name.n_bytes))
                return;
        reported = dn__progress_get(report->progress, region, index);
        before = reported->last;
        generation = dn__slot_get_generation(&region->table->slots[index]);
        if (generation <= before || atomic_load(&region->table->tags[index]) != name.hash)
                return;
        /* Checked after the generation: what was counted before the table was left is carried. */
        if (!report->is_last && dn__region_was_left(region))
                return;
        reported->read = reported->last = generation;
        if (dn__text_begins_with(text, report->prefix))
                report->result = report_name(report, text, generation, generation - before);
}

static void look_at_all(report *report)
{
        for (size_t i = 0; i < DN__SHM_N_SLOTS; i++)
                look_at(report, i);
}

static void look_for_table(dn__follower *follower, report *report)
{
        follower->report = report;
        dn__lookout_look(&follower->lookout);
        follower->report = NULL;
}

void dn__follower_keep_up(dn__follower *follower)
{
        look_for_table(follower, NULL);
}

int dn__follower_read(dn__follower *follower, const char *prefix, const dn_watcher *watcher)
{
        dn__lookout *lookout = &follower->lookout;
        report report = {
                .progress = &follower->progress,
                .prefix = prefix,
                .watcher = watcher,
        };

        look_for_table(follower, &report);
        report.region = atomic_load(&lookout->region);
        report.is_last = false;
        if (follower->looks_at_all)
                look_at_all(&report);
        follower->looks_at_all = follower->looks_at_all && report.result;
        dn__lookout_take_marks(lookout, look_at, &report);
        if (dn__region_was_left(report.region)) {
                follower->looks_at_all = true;
                dn__lookout_doubt(lookout, dn__clock_after_us(DOUBT_US));
        }
        return report.result;
}

/* What the next table does not continue is reported now. */
static void moved(void *context, const dn__region *from, const dn__region *to, bool has_all)
{
        dn__follower *follower = context;
        report *report = follower->report;

        follower->looks_at_all = follower->lookout.is_watching;
        if (report) {
                report->region = from;
                report->is_last = true;
        }
        dn__progress_move(&follower->progress, from, to, has_all, report ? look_at : NULL, report);
}

/* --- Beside a bus ----------------------------------------------------------------------------- */

static const dn__region *find_region(dn__follower *follower, uint64_t id)
{
        dn__lookout *lookout = &follower->lookout;
        const dn__region *region = atomic_load(&lookout->region);

        if (id == 0 || id == follower->foreign_id || dn__region_was_once(region, id))
                return region;
        follower->foreign_id = id;
        dn__lookout_doubt(lookout, 0);
        look_for_table(follower, NULL);
        return atomic_load(&lookout->region);
}

/* Returns whether the slot counts the post, here or in an earlier table. */
static bool counts_post(const dn__region *region, const dn__shm_slot *slot,
                        const dn_post_record *record)
{
        if (record->region == region->id)
                return true;
        return dn__region_was_once(region, record->region) && atomic_load(&slot->carried) != 0 &&
               record->generation <= atomic_load(&slot->carried_count);
}

bool dn__follower_note(dn__follower *follower, const dn_post_record *record)
{
        size_t n_bytes = strlen(record->name);
        const dn__region *region;
        const dn__shm_slot *slot;
        dn__reported *reported;
        bool is_new;

        if (!record->generation)
                return true;
        region = find_region(follower, record->region);
        slot = dn__slot_find(region, dn__hash64(record->name, n_bytes), record->name, n_bytes);
        if (!slot || !counts_post(region, slot, record))
                return true;
        reported = dn__progress_get(&follower->progress, region,
                                    (size_t)(slot - region->table->slots));
        is_new = record->generation > reported->read;
        if (record->generation > reported->last)
                reported->last = record->generation;
        return is_new;
}

/* --- The life of a follower ------------------------------------------------------------------ */

int dn__follower_open(const char *key, dn__follower **ret_follower)
{
        dn__follower *follower = calloc(1, sizeof(*follower));
        int r;

        if (!follower)
                return -ENOMEM;
        r = dn__lookout_init(&follower->lookout, key, moved, follower);
        if (r < 0) {
                (void)dn__follower_close(follower);
                return r;
        }
        dn__progress_begin(&follower->progress, atomic_load(&follower->lookout.region));
        *ret_follower = follower;
        return 0;
}

int dn__follower_resume(dn__follower *follower)
{
        int r;

        r = dn__lookout_watch(&follower->lookout);
        if (r < 0)
                return r;
        follower->looks_at_all = true;
        return 0;
}

void dn__follower_pause(dn__follower *follower)
{
        dn__lookout_unwatch(&follower->lookout);
}

void dn__follower_prepare(dn__follower *follower, struct pollfd ret_waits[DN__LOOKOUT_N_WAITS],
                          uint64_t *until_us)
{
        dn__lookout_prepare(&follower->lookout, ret_waits, until_us);
}

dn__follower *dn__follower_close(dn__follower *follower)
{
        if (!follower)
                return NULL;
        dn__lookout_deinit(&follower->lookout);
        free(follower);
        return NULL;
}
