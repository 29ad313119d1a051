/* Reports the posts that the shared table counts, while there is no bus to report them.
 *
 * A thread sleeps on the word of the follower's entry, where posters ring, and makes a descriptor
 * readable. The reader takes the marks: until then the thread has nothing more to report. */
#include "inspect/follower.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "carrier/direct/marks.h"
#include "carrier/direct/ring.h"
#include "carrier/direct/storm.h"
#include "shm/region.h"
#include "shm/slot.h"
#include "util/clock.h"
#include "util/fork.h"
#include "util/hash.h"
#include "util/list.h"
#include "util/loop.h"
#include "util/text.h"
#include "util/utf8.h"

/* Taking this many marks costs the reader about as much as a wake-up. */
#define N_MARKS_PER_WAKE 16

/* How far the posts of a slot were reported. */
typedef struct known {
        uint64_t tag;      /* of the name; 0: none yet */
        uint64_t read;     /* the last generation that a reading reported; 0: none */
        uint64_t reported; /* the last one that was reported at all, or is not new */
} known;

struct dn__follower {
        dn__region *region;
        dn__loop *loop; /* NULL: not started */
        dn__source source;
        int fd;
        dn__fork_guard *fd_guard;
        _Atomic bool is_told; /* the reader has not looked since */
        _Atomic size_t n_marks; /* that the reader took, since the thread has noted it */
        bool looks_at_all;    /* not only at what is marked */
        dn__storm storm;
        known known[DN__SHM_N_SLOTS];
};

/* --- The thread ------------------------------------------------------------------------------ */

static bool prepare_follower(dn__source *source, dn__wait *wait)
{
        dn__follower *follower = DN__CONTAINER(source, dn__follower, source);

        (void)wait;
        /* The thread does not know whether there were posts. But a report has time. */
        dn__storm_note(&follower->storm, 0,
                       1 + atomic_exchange(&follower->n_marks, 0) / N_MARKS_PER_WAKE);
        return atomic_load(&follower->is_told) || !dn__ring_is_marked(follower->region);
}

static void dispatch_follower(dn__source *source)
{
        dn__follower *follower = DN__CONTAINER(source, dn__follower, source);

        if (dn__ring_is_marked(follower->region) && !atomic_exchange(&follower->is_told, true))
                (void)eventfd_write(follower->fd, 1);
}

static const dn__source_ops source_ops = { prepare_follower, dispatch_follower };

/* --- Reading --------------------------------------------------------------------------------- */

typedef struct report {
        dn__follower *follower;
        const char *prefix;
        const dn_watcher *watcher;
        int result;
} report;

/* A slot passes to another name: everything counted since then is new. */
static known *know(dn__follower *follower, size_t index)
{
        const dn__shm_table *table = follower->region->table;
        known *known = &follower->known[index];
        uint64_t tag = atomic_load(&table->tags[index]), named;

        if (known->tag != tag) {
                named = atomic_load_explicit(&table->slots[index].named, memory_order_relaxed);
                *known = (struct known){ tag, 0, named };
        }
        return known;
}

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
                .region = report->follower->region->table->header.region,
                .n_posts = n_posts,
        };

        return report->watcher->post(&record, report->watcher->context);
}

static void look_at(void *context, size_t index)
{
        report *report = context;
        dn__region *region = report->follower->region;
        char text[DN__SLOT_NAME_BYTES];
        uint64_t generation, before;
        dn__name name;
        known *known;

        if (report->result || !dn__slot_read_name(region, index, text, &name) ||
            !dn__utf8_is_valid(name.text, name.n_bytes))
                return;
        known = know(report->follower, index);
        before = known->reported;
        generation = dn__slot_get_generation(&region->table->slots[index]);
        if (generation <= before || atomic_load(&region->table->tags[index]) != name.hash)
                return;
        known->read = known->reported = generation;
        if (dn__text_begins_with(text, report->prefix))
                report->result = report_name(report, text, generation, generation - before);
}

static void look_at_all(report *report)
{
        for (size_t i = 0; i < DN__SHM_N_SLOTS; i++)
                look_at(report, i);
}

int dn__follower_read(dn__follower *follower, const char *prefix, const dn_watcher *watcher)
{
        report report = { follower, prefix, watcher, 0 };
        eventfd_t count;

        (void)eventfd_read(follower->fd, &count);
        atomic_store(&follower->is_told, false);
        if (follower->looks_at_all)
                look_at_all(&report);
        follower->looks_at_all = follower->looks_at_all && report.result;
        atomic_fetch_add(&follower->n_marks, dn__marks_take(follower->region, look_at, &report));
        return report.result;
}

bool dn__follower_note(dn__follower *follower, const dn_post_record *record)
{
        const dn__region *region = follower->region;
        size_t n_bytes = strlen(record->name);
        const dn__shm_slot *slot;
        known *known;
        bool is_new;

        if (!record->generation || record->region != region->table->header.region)
                return true;
        slot = dn__slot_find(region, dn__hash64(record->name, n_bytes), record->name, n_bytes);
        if (!slot)
                return true;
        known = know(follower, (size_t)(slot - region->table->slots));
        is_new = record->generation > known->read;
        if (record->generation > known->reported)
                known->reported = record->generation;
        return is_new;
}

/* --- The life of a follower ------------------------------------------------------------------ */

int dn__follower_get_fd(const dn__follower *follower)
{
        return follower->fd;
}

/* What was counted before is not new. */
static void begin(dn__follower *follower)
{
        const dn__shm_table *table = follower->region->table;

        for (size_t i = 0; i < DN__SHM_N_SLOTS; i++) {
                known *known = &follower->known[i];
                /* Before the generation: a slot counts up when it passes to another name. */
                uint64_t tag = atomic_load(&table->tags[i]), generation;

                if (tag == 0)
                        continue;
                generation = dn__slot_get_generation(&table->slots[i]);
                *known = (struct known){ tag, 0, generation };
        }
}

static int open_descriptor(dn__follower *follower)
{
        dn__fork_hold_off();
        follower->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (follower->fd >= 0)
                follower->fd_guard = dn__fork_guard_new(follower->fd);
        dn__fork_let_go();
        return follower->fd < 0 ? -errno : 0;
}

int dn__follower_open(const char *key, dn__follower **ret_follower)
{
        dn__follower *follower = calloc(1, sizeof(*follower));
        int r;

        if (!follower)
                return -ENOMEM;
        follower->source.ops = &source_ops;
        r = open_descriptor(follower);
        if (r == 0)
                r = dn__region_open(key, &follower->region);
        if (r < 0) {
                (void)dn__follower_close(follower);
                return r;
        }
        begin(follower);
        *ret_follower = follower;
        return 0;
}

static int start_thread(dn__follower *follower)
{
        dn__loop_options options = { .thread_name = "dn-follower" };
        const dn__region *region = follower->region;
        int r;

        if (follower->loop)
                return 0;
        r = dn__loop_new(&options, &follower->loop);
        if (r < 0)
                return r;
        dn__loop_add(follower->loop, &follower->source);
        dn__loop_set_word(follower->loop, &region->table->processes[region->process].wake);
        return dn__loop_start(follower->loop);
}

int dn__follower_resume(dn__follower *follower)
{
        int r;

        r = start_thread(follower);
        if (r < 0)
                return r;
        dn__ring_watch(follower->region);
        follower->looks_at_all = true;
        return 0;
}

void dn__follower_pause(dn__follower *follower)
{
        dn__ring_unwatch(follower->region);
}

dn__follower *dn__follower_close(dn__follower *follower)
{
        if (!follower)
                return NULL;
        if (follower->region)
                dn__ring_unwatch(follower->region);
        (void)dn__loop_close_and_wait(follower->loop);
        if (follower->region)
                dn__region_remove_if_last(follower->region);
        (void)dn__region_close(follower->region);
        if (follower->fd >= 0)
                (void)dn__fork_guard_close(follower->fd_guard, follower->fd);
        free(follower);
        return NULL;
}
