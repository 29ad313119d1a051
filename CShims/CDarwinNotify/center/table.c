/* Keeps a hub in the table that the user's other processes find.
 *
 * A process that holds names makes the table if there is none, and has an entry in it. A process
 * that only posts uses the table if there is one, and makes it if it has posted often without. The
 * file may be removed or replaced at any time, so every process looks at its path now and then
 * (look.c). Between processes that are connected to a bus, the bus carries what the table misses
 * until then.
 *
 * A process that finds another table sets the old one stale and rings all its processes. It reads
 * the old counts a last time, takes its names in the new table, then notifies each of its observers
 * once more: an observer of a prefix, once for each name in the new table or the old ones.
 *
 *   poster                        a process that moves
 *     P1  count in the old table    L1  set the old table stale
 *     P2  is it stale? then look,   L2  read the old counts
 *         move, count again         L3  take the names in the new table
 *     P3  send the signal           L4  notify once more
 *                                   L5  look again, once the bus has the wider rules
 *
 * If P2 does not find it stale, P1 came before L1, so L2 reads a count that includes the post.
 * Otherwise the poster finds the new table and counts there, after L3 or before L4; or it finds no
 * table, and only the signal is left, which a native sends on a path that the moving process may
 * not match yet: then L5 finds that the new table is gone, and the process moves again, with
 * another L4.
 * A table may be set stale by mistake: a process that finds it at its path clears this.
 * Tests/CTests/center/test-table-model.c tries every order of these steps.
 *
 * One thread at a time moves the hub. It takes slots without the hub's lock; meanwhile no other
 * thread starts to take one (center/hold.c). A post may have to wait for that thread, so no other
 * process can delay it for long. */
#include "center/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "delivery/delivery.h"
#include "delivery/prefix.h"
#include "delivery/topic.h"
#include "direct/direct.h"
#include "direct/ring.h"
#include "util/clock.h"
#include "util/debug.h"
#include "util/failure.h"
#include "util/probe.h"

/* The delay before another attempt to create or enter a table, or to find a slot for a name. It is
 * short at first, because a process with neither table nor bus hears nothing; then it equals the
 * time since the first failure. A look for another reason also retries, at most once a second. */
#define RETRY_MIN_US (50 * DN__US_PER_MS)
#define RETRY_MAX_US (60 * DN__US_PER_SECOND)
#define PROMPTED_US (1 * DN__US_PER_SECOND)

/* After this many posts without a table, the process creates one. Each such post looks for a table,
 * which costs more than counting a post in a table without observers. A power of two. If none can
 * be created, the next attempt comes after twice as many. */
#define N_ABSENCES 16

/* How often to look again when the table that was found is removed. */
#define N_ATTEMPTS 4

/* How long to wait for processes that change the sets of names: a post may wait for the move. A
 * name that gets no slot in this time gets one later. */
#define SLOTS_TIMEOUT_US (10 * DN__US_PER_MS)

/* A look for the right table. If both regions are the same, only names without a slot get one. */
typedef struct move {
        dn__hub *hub;
        dn__region *from; /* NULL: there was none */
        dn__region *to;
        bool wants_entry;
        bool was_complete;  /* nothing was missing before */
        bool is_trying;     /* again what failed before */
        uint64_t failed_us; /* when the current failure began; now if there was none */
        bool has_moved;     /* or follows its table now, for prefixes */
} move;

/* --- Moving names --------------------------------------------------------------------------- */

/* Returns whether a table may count the posts of a topic. */
static bool is_countable(const dn__topic *topic) DN__HUB_LOCKED
{
        return topic->name.reach == DN__REACH_BEYOND && !topic->name.is_prefix &&
               topic->n_holds > 0;
}

/* Earlier posts counted there, whose signals are still to come, cannot be distinguished from posts
 * that have arrived: the observers are notified once more. */
static void adopt(dn__topic *topic, dn__shm_slot *slot) DN__HUB_LOCKED
{
        topic->generation = dn__slot_get_generation(slot);
        dn__topic_set_slot(topic, slot);
        (void)dn__topic_hand_one(topic, false);
        dn__carrier_set_counted(topic->hub->bus, topic->subscription, true);
}

/* Returns false if the name was released meanwhile: that may have given up the slot. */
static bool try_to_take_slot(dn__topic *topic, uint64_t deadline_us, bool *ret_has_slot)
{
        dn__hub *hub = topic->hub;
        unsigned n_releases = atomic_load(&topic->n_releases);
        dn__region *region = atomic_load(&hub->member.region);
        dn__shm_slot *slot = NULL;

        if (dn__region_has_entry(region))
                slot = dn__slot_hold(region, &topic->name, deadline_us);
        DN__HUB_AUTO_LOCK(hub);
        if (atomic_load(&topic->n_releases) != n_releases)
                return false;
        if (slot && slot != topic->slot && atomic_load(&hub->member.region) == region) {
                if (is_countable(topic))
                        adopt(topic, slot);
                else
                        dn__slot_release(region, slot);
        }
        *ret_has_slot = topic->slot || topic->n_holds == 0;
        return true;
}

bool dn__table_take_slot(dn__topic *topic, uint64_t deadline_us)
{
        bool has_slot;

        while (!try_to_take_slot(topic, deadline_us, &has_slot))
                continue;
        return has_slot;
}

/* Returns a list of the topics that have no slot, with a reference to each. */
static dn__topic *gather_topics(dn__hub *hub)
{
        dn__topic *topics = NULL;

        DN__HUB_AUTO_LOCK(hub);
        DN__MAP_EACH(dn__topic, topic, &hub->topics, entry) {
                if (!is_countable(topic) || topic->slot)
                        continue;
                dn__topic_ref(topic);
                topic->next_to_move = topics;
                topics = topic;
        }
        return topics;
}

/* Returns whether each name has a slot. */
static bool take_slots(dn__hub *hub)
{
        uint64_t deadline_us = dn__clock_after_us(SLOTS_TIMEOUT_US);
        dn__topic *topic, *next = gather_topics(hub);
        bool have_all = true;

        while ((topic = next)) {
                next = topic->next_to_move;
                have_all = dn__table_take_slot(topic, deadline_us) && have_all;
                dn__topic_unref(topic);
        }
        return have_all;
}

static void leave_slot(dn__topic *topic) DN__HUB_LOCKED
{
        if (topic->slot) {
                dn__topic_hand_missed(topic);
                dn__topic_set_slot(topic, NULL);
        }
        dn__carrier_set_counted(topic->hub->bus, topic->subscription, false);
}

static void switch_tables(dn__hub *hub, dn__region *from, dn__region *to)
{
        if (from) {
                DN__PROBE(moved, from->id, to->id);
                dn__region_set_stale(from);
                dn__ring_all(from);
        }
        dn__hub_lock(hub);
        dn__carrier_set_region(hub->bus, to->id);
        DN__MAP_EACH(dn__topic, topic, &hub->topics, entry)
                leave_slot(topic);
        free(DN__TAKE(hub->prefix_counts));
        to->previous = from;
        atomic_store(&hub->member.region, to);
        dn__hub_unlock(hub);
        if (from)
                dn__region_leave(from);
}

/* Returns whether each name has a slot and the observers of prefixes hear what the table counts. */
static bool use_table(move *move)
{
        dn__hub *hub = move->hub;
        bool have_all = true;
        int followed = 0;

        move->has_moved = move->to != move->from;
        if (move->has_moved)
                switch_tables(hub, move->from, move->to);
        if (!dn__region_has_entry(move->to))
                return true;
        dn__direct_set_region(hub->direct, move->to);
        have_all = take_slots(hub);
        followed = dn__prefix_begin(hub);
        move->has_moved = move->has_moved || followed > 0;
        /* If there is no memory for the thread, the next registration tries again. */
        (void)dn__carrier_start(hub->direct, NULL);
        return have_all && followed >= 0;
}

/* --- Moving the hub ------------------------------------------------------------------------- */

static bool may_make_table(const move *move)
{
        unsigned n_absences = move->hub->member.n_absences;

        if (move->wants_entry)
                return move->is_trying;
        return (!move->from || dn__region_is_stale(move->from)) && n_absences >= N_ABSENCES &&
               (n_absences & (n_absences - 1)) == 0;
}

/* Finds the right table and sets `to`. Returns 0 or a negative errno; then `to` may be a table in
 * which the entry is missing. */
static int find_table(move *move)
{
        uint64_t stale_count = move->from ? dn__region_get_stale_count(move->from) : 0;
        bool may_make = may_make_table(move);
        int r = -ENOENT;

        (void)dn__failure_take();
        for (int i = 0; i < N_ATTEMPTS && r == -ENOENT; i++) {
                if (move->to != move->from)
                        (void)dn__region_close(move->to);
                move->to = NULL;
                r = dn__region_find(move->hub->member.scope, move->from, may_make, &move->to);
                if (r == -EALREADY) {
                        move->to = move->from;
                        dn__region_clear_stale(move->from, stale_count);
                        r = 0;
                }
                if (r == 0 && move->wants_entry && (may_make || move->to != move->from))
                        r = dn__region_enter(move->to);
                else if (!may_make)
                        break;
        }
        /* If another thread has changed the user, a table found as that user is not ours. */
        if (geteuid() != move->hub->member.user)
                r = -ENOENT;
        if (r == -ENOENT && move->to != move->from)
                move->to = dn__region_close(move->to);
        return r;
}

/* For a process that only posts: only the first time, since it looks again with each post. */
static void report_absence(dn__hub *hub, int r)
{
        if (hub->member.n_absences++ == 0)
                dn__debug_say(r == -ENOENT ? 0 : r, "found no shared table for %s; posting without "
                              "one until it exists", hub->member.scope);
}

static void report_failure(const dn__hub *hub, int r)
{
        const char *call = dn__failure_take();

        dn__debug_say(r, "cannot open the shared table for %s%s%s%s; using D-Bus only, "
                         "will try again", hub->member.scope, call ? " (" : "", call ? call : "",
                      call ? ")" : "");
}

/* Returns whether nothing is missing now. */
static bool move_hub(move *move)
{
        bool had_entry = dn__region_has_entry(move->from);
        int r = find_table(move);

        if (r < 0 && move->wants_entry && move->was_complete)
                report_failure(move->hub, r);
        else if (r < 0 && !move->wants_entry && !move->to)
                report_absence(move->hub, r);
        else if (r == 0 && move->to != move->from)
                dn__debug_say(0, "sharing the table %s", move->to->file.path);
        if (!move->to)
                return !move->wants_entry;
        if (move->to == move->from && dn__region_has_entry(move->to) == had_entry &&
            (move->was_complete || !move->is_trying))
                return move->was_complete && r == 0;
        /* From here on, a registration that finds no slot notes a new failure. */
        atomic_store(&move->hub->member.failed_us, 0);
        return use_table(move) && r == 0;
}

/* Returns false if the hub is being closed. */
static bool begin_moving(dn__hub *hub)
{
        DN__HUB_AUTO_LOCK(hub);
        while (hub->member.is_moving)
                (void)dn__hub_wait(hub, DN__NEVER);
        hub->member.is_moving = !hub->member.is_staying;
        return hub->member.is_moving;
}

/* --- Looking -------------------------------------------------------------------------------- */

/* The service thread has something to wait for. */
static void alert(dn__hub *hub)
{
        if (dn__loop_start(hub->loop) == 0)
                dn__loop_wake(hub->loop);
}

uint64_t dn__table_get_retry_us(const dn__hub *hub)
{
        uint64_t failed_us = atomic_load(&hub->member.failed_us);
        uint64_t tried_us = atomic_load(&hub->member.tried_us);
        uint64_t span_us = tried_us > failed_us ? tried_us - failed_us : 0;

        if (!failed_us)
                return DN__NEVER;
        if (span_us < RETRY_MIN_US)
                span_us = RETRY_MIN_US;
        return tried_us + (span_us < RETRY_MAX_US ? span_us : RETRY_MAX_US);
}

static void note_failure(dn__hub *hub, uint64_t failed_us)
{
        uint64_t none = 0;

        atomic_store(&hub->member.tried_us, dn__clock_now_us());
        (void)atomic_compare_exchange_strong(&hub->member.failed_us, &none, failed_us);
        alert(hub);
}

static void begin_trying(move *move)
{
        uint64_t now_us = dn__clock_now_us(), until_us = dn__table_get_retry_us(move->hub);

        move->was_complete = until_us == DN__NEVER;
        move->failed_us = move->was_complete ? now_us : atomic_load(&move->hub->member.failed_us);
        move->wants_entry |= dn__region_has_entry(move->from) || !move->was_complete;
        move->is_trying = move->was_complete || now_us >= until_us ||
                          now_us >= atomic_load(&move->hub->member.tried_us) + PROMPTED_US;
}

void dn__table_look(dn__hub *hub, bool wants_entry)
{
        move move = { .hub = hub, .wants_entry = wants_entry };
        uint64_t begin_ms = dn__clock_coarse_ms();

        atomic_store(&hub->member.is_look_due, false);
        if (!hub->member.scope)
                return;
        if (geteuid() != hub->member.user) {
                /* A table found as that user is not ours. The process may switch back later. */
                atomic_store(&hub->member.tried_us, dn__clock_now_us());
                atomic_store(&hub->member.look_ms, begin_ms);
                return;
        }
        if (!begin_moving(hub))
                return;
        dn__debug_keep();
        move.from = atomic_load(&hub->member.region);
        begin_trying(&move);
        if (!move_hub(&move) && (move.is_trying || move.has_moved))
                note_failure(hub, move.failed_us);
        /* Set only once the outcome is known: until then, other threads about to post also look. */
        atomic_store(&hub->member.look_ms, begin_ms);
        dn__hub_lock(hub);
        hub->member.is_moving = false;
        dn__condition_broadcast(&hub->changed);
        dn__hub_unlock_and_run(hub);
        if (move.has_moved)
                dn__prefix_hand_all(hub);
        dn__debug_release();
}

bool dn__table_is_enough(const dn__hub *hub)
{
        const dn__member *member = &hub->member;

        return atomic_load(&member->region) ||
               (member->scope && !atomic_load(&member->failed_us));
}

void dn__table_end(dn__hub *hub)
{
        DN__HUB_AUTO_LOCK(hub);
        hub->member.is_staying = true;
        while (hub->member.is_moving)
                (void)dn__hub_wait(hub, DN__NEVER);
}

void dn__table_attend(dn__hub *hub, bool has_slot)
{
        if (!hub->member.scope)
                return;
        if (!has_slot && !atomic_load(&hub->member.failed_us))
                note_failure(hub, dn__clock_now_us());
        else if (!dn__carrier_get_status(hub->bus).is_connected)
                alert(hub);
}
