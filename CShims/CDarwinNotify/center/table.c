/* Keeps a hub in the table that the other processes of its scope find.
 *
 * The file of the table may be removed or replaced, and there may be no memory or descriptor for
 * it. A few processes keep an eye on the file (shm/place.h); the first that leaves the table rings
 * the others. Besides, everybody looks at the file when it registers a name, after a reconnect, and
 * when a signal tells of another table. How no post is lost on the way is told in
 * carrier/direct/carry.c.
 *
 * One thread at a time moves the hub; those that want to prepare a topic wait for it. */
#include "center/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "carrier/direct/carry.h"
#include "carrier/direct/direct.h"
#include "carrier/direct/ring.h"
#include "center/delivery.h"
#include "center/fanout.h"
#include "center/topic.h"
#include "shm/place.h"
#include "util/clock.h"
#include "util/debug.h"

/* When to try again what has failed: soon, since a process without its table is deaf without a bus,
 * and always within a second. */
#define RETRY_MIN_US (50 * DN__US_PER_MS)
#define RETRY_MAX_US (800 * DN__US_PER_MS)

typedef struct moving_name {
        dn__topic *topic; /* owned */
        dn__shm_slot *slot;
} moving_name;

/* If both regions are the same, only the names without a slot get one. */
typedef struct move {
        dn__hub *hub;
        dn__region *from; /* NULL: there was none */
        dn__region *to;
        bool is_continued; /* the counts of the one continue those of the other */
        moving_name *names;
        size_t n_names;
        dn__batch batch; /* what was missed */
} move;

/* --- Moving names --------------------------------------------------------------------------- */

static bool is_to_move(const move *move, const dn__topic *topic) DN__HUB_LOCKED
{
        return topic->name.reach == DN__REACH_BEYOND && !topic->name.is_prefix &&
               topic->n_holds > 0 && (move->from != move->to || !topic->slot);
}

static int collect_names(move *move)
{
        dn__hub *hub = move->hub;

        DN__HUB_HOLD(hub);
        move->names = malloc((hub->topics.n_entries + 1) * sizeof(*move->names));
        if (!move->names)
                return -ENOMEM;
        for (dn__map_entry *entry = dn__map_next(&hub->topics, NULL); entry;
             entry = dn__map_next(&hub->topics, entry)) {
                dn__topic *topic = DN__CONTAINER(entry, dn__topic, entry);

                if (!is_to_move(move, topic))
                        continue;
                dn__topic_ref(topic);
                move->names[move->n_names++] = (moving_name){ topic, NULL };
        }
        return 0;
}

/* Returns whether each name has a slot. */
static bool hold_names(move *move)
{
        bool is_kept = move->from && move->from != move->to, have_all = true;

        for (size_t i = 0; i < move->n_names; i++) {
                const dn__name *name = &move->names[i].topic->name;

                move->names[i].slot =
                        (is_kept ? dn__slot_keep : dn__slot_hold)(move->to, name->hash, name->text,
                                                                  name->n_bytes);
                have_all = have_all && move->names[i].slot;
        }
        return have_all;
}

/* The count of the new slot continues that of the old one, or it says nothing about it: then posts
 * counted there before now cannot be told apart from those that were heard of, so existing
 * observers are notified once more. */
static void adopt(const move *move, dn__topic *topic, dn__shm_slot *slot, dn__batch *batch)
        DN__HUB_LOCKED
{
        dn__shm_slot *left = topic->slot;
        bool is_continued = move->is_continued && left && slot &&
                            atomic_load(&slot->carried) == move->from->id;

        if (!is_continued) {
                dn__fanout_missed(topic, batch);
                dn__fanout_uncounted(topic, batch);
                topic->generation = slot ? dn__slot_get_generation(slot) : 0;
        }
        dn__topic_change_slot(topic, slot, is_continued);
        dn__fanout_missed(topic, batch);
}

static void adopt_names(move *move, dn__batch *batch) DN__HUB_LOCKED
{
        for (size_t i = 0; i < move->n_names; i++) {
                dn__topic *topic = move->names[i].topic;
                dn__shm_slot *slot = move->names[i].slot;

                if (topic->n_holds == 0)
                        dn__slot_release(move->to, slot);
                else if (slot || move->from != move->to)
                        adopt(move, topic, slot, batch);
        }
}

static void enter(move *move)
{
        dn__hub *hub = move->hub;

        dn__hub_lock(hub);
        adopt_names(move, &move->batch);
        if (move->to != move->from) {
                move->to->previous = move->from;
                atomic_store(&hub->region, move->to);
                dn__direct_set_region(hub->carriers[0], move->to);
        }
        dn__hub_unlock(hub);
        /* If there is no memory for the thread, the next registration tries again. */
        if (move->n_names > 0)
                (void)dn__loop_start(hub->inline_loop);
        if (move->from && move->to != move->from) {
                dn__ring_all(move->from);
                dn__region_leave(move->from);
        }
}

static void move_end(move *move)
{
        dn__batch_run(&move->batch);
        for (size_t i = 0; i < move->n_names; i++)
                dn__topic_unref(move->names[i].topic);
        free(move->names);
}

/* --- Moving the hub ------------------------------------------------------------------------- */

/* Reports an outcome once, however often it is tried. */
static void tell_table(dn__hub *hub, const dn__region *region, int r)
{
        if (r < 0 && r == hub->table_error)
                return;
        hub->table_error = r;
        if (r == 0)
                dn__debug_say(0, "shares the table %s", region->path);
        else
                dn__debug_say(r, "has no table for %s, only the bus is left, tries again",
                              hub->scope);
}

/* Finds the table to be in: sets `to`, or returns a negative errno. */
static int find_table(move *move)
{
        int r = dn__region_find_next(move->from, move->hub->scope, &move->to);

        if (r < 0 || move->to != move->from)
                tell_table(move->hub, move->to, r);
        return r;
}

/* Returns whether nothing is missing now. */
static bool move_hub(move *move)
{
        bool have_all;

        if (find_table(move) < 0)
                return false;
        if (collect_names(move) < 0) {
                if (move->to != move->from)
                        (void)dn__region_close(move->to);
                return false;
        }
        if (move->from && move->to != move->from)
                move->is_continued = dn__carry(move->from, move->to,
                                               atomic_exchange(&move->hub->is_behind, false));
        have_all = hold_names(move);
        enter(move);
        return have_all;
}

/* Returns false after waiting for another thread that does it, or if the hub is being closed. */
static bool begin_moving(dn__hub *hub)
{
        DN__HUB_HOLD(hub);
        if (hub->is_staying)
                return false;
        if (hub->is_moving) {
                while (hub->is_moving)
                        dn__hub_wait(hub);
                return false;
        }
        hub->is_moving = true;
        while (hub->n_preparing > 0)
                dn__hub_wait(hub);
        return true;
}

static void end_moving(dn__hub *hub)
{
        DN__HUB_HOLD(hub);
        hub->is_moving = false;
        dn__condition_broadcast(&hub->changed);
}

/* --- When to look --------------------------------------------------------------------------- */

/* That others may post: those that stay in the process need no table. */
static bool has_names(dn__hub *hub)
{
        DN__HUB_HOLD(hub);

        for (dn__map_entry *entry = dn__map_next(&hub->topics, NULL); entry;
             entry = dn__map_next(&hub->topics, entry))
                if (DN__CONTAINER(entry, dn__topic, entry)->name.reach == DN__REACH_BEYOND)
                        return true;
        return false;
}

/* The service thread has something to wait for. */
static void alert(dn__hub *hub)
{
        if (dn__loop_start(hub->loop) == 0)
                dn__loop_wake(hub->loop);
}

static void retry_later(dn__hub *hub)
{
        uint64_t span_us;

        dn__hub_lock(hub);
        if (atomic_load(&hub->table_retry_us) == DN__NEVER) {
                span_us = hub->table_backoff_us ? hub->table_backoff_us : RETRY_MIN_US;
                hub->table_backoff_us = 2 * span_us < RETRY_MAX_US ? 2 * span_us : RETRY_MAX_US;
                atomic_store(&hub->table_retry_us, dn__clock_after_us(span_us));
        }
        dn__hub_unlock(hub);
        if (!has_names(hub))
                return;
        atomic_store(&hub->table_alarm_us, atomic_load(&hub->table_retry_us));
        alert(hub);
}

static void note_outcome(dn__hub *hub, bool have_all)
{
        atomic_store(&hub->table_retry_us, DN__NEVER);
        atomic_store(&hub->table_alarm_us, DN__NEVER);
        if (!have_all) {
                retry_later(hub);
                return;
        }
        dn__hub_lock(hub);
        hub->table_backoff_us = 0;
        dn__hub_unlock(hub);
}

static void watch_over_file(dn__hub *hub)
{
        dn__region *region = hub->region;

        if (region && !atomic_load(&region->is_keeper) && has_names(hub) &&
            dn__region_become_keeper(region))
                alert(hub);
}

/* Returns whether there is nothing to do, for now. */
static bool is_settled(dn__hub *hub)
{
        uint64_t retry_us = atomic_load(&hub->table_retry_us);
        const dn__region *region = hub->region;

        if (!hub->scope)
                return true;
        if (retry_us != DN__NEVER)
                return dn__clock_now_us() < retry_us;
        return region && dn__region_is_in_place(region);
}

void dn__table_check(dn__hub *hub)
{
        move move = { .hub = hub };

        if (is_settled(hub) || !begin_moving(hub))
                return;
        move.from = hub->region;
        if (!is_settled(hub))
                note_outcome(hub, move_hub(&move));
        watch_over_file(hub);
        end_moving(hub);
        move_end(&move);
}

void dn__table_end(dn__hub *hub)
{
        DN__HUB_HOLD(hub);
        hub->is_staying = true;
        while (hub->is_moving)
                dn__hub_wait(hub);
}

void dn__table_check_foreign(dn__hub *hub, uint64_t id)
{
        if (id == 0 || id == atomic_load(&hub->foreign_id) || dn__region_was_once(hub->region, id))
                return;
        atomic_store(&hub->foreign_id, id);
        dn__table_check(hub);
}

void dn__table_attend(dn__hub *hub, bool has_slot)
{
        if (!hub->scope)
                return;
        if (!has_slot)
                retry_later(hub);
        watch_over_file(hub);
}

dn__region *dn__table_follow(dn__hub *hub, const dn__region *left)
{
        dn__region *region;

        dn__table_check(hub);
        region = hub->region;
        if (region != left)
                return region;
        atomic_store(&hub->is_behind, true);
        return NULL;
}

/* --- The source of the service thread -------------------------------------------------------- */

static dn__hub *table_hub(dn__source *source)
{
        return DN__CONTAINER(source, dn__hub, table_source);
}

static bool is_to_watch(const dn__hub *hub)
{
        const dn__region *region = hub->region;

        return region && region != hub->watched && atomic_load(&region->is_keeper);
}

static bool prepare_table(dn__source *source, dn__wait *wait)
{
        dn__hub *hub = table_hub(source);

        if (hub->place && !dn__place_is_intact(hub->place)) {
                hub->place = dn__place_free(hub->place);
                hub->watched = NULL;
        }
        if (hub->place) {
                wait->fd = dn__place_get_fd(hub->place);
                wait->events = POLLIN;
        }
        wait->until_us = atomic_load(&hub->table_alarm_us);
        return !is_to_watch(hub);
}

static void dispatch_table(dn__source *source)
{
        dn__hub *hub = table_hub(source);
        bool has_changed = hub->place && dn__place_read(hub->place);
        uint64_t alarm_us = atomic_load(&hub->table_alarm_us);

        if (is_to_watch(hub)) {
                hub->watched = hub->region;
                (void)dn__place_free(hub->place);
                hub->place = dn__place_new(hub->watched);
                has_changed = true; /* perhaps before it was watched */
        }
        if (alarm_us != DN__NEVER && alarm_us <= dn__clock_now_us())
                has_changed |= atomic_compare_exchange_strong(&hub->table_alarm_us, &alarm_us,
                                                              DN__NEVER);
        if (has_changed)
                dn__table_check(hub);
}

int dn__table_begin(dn__hub *hub, const char *scope)
{
        static const dn__source_ops ops = { prepare_table, dispatch_table };
        dn__region *region;
        int r;

        hub->scope = strdup(scope);
        if (!hub->scope)
                return -ENOMEM;
        hub->table_source.ops = &ops;
        dn__loop_add(hub->loop, &hub->table_source);
        r = dn__region_open(scope, &region);
        tell_table(hub, region, r);
        note_outcome(hub, r == 0);
        if (r < 0)
                return 0;
        atomic_store(&hub->region, region);
        dn__direct_set_region(hub->carriers[0], region);
        return 0;
}
