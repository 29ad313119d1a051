/* A center's state in one process: its names, table and carriers. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "carrier/carrier.h"
#include "center/executor.h"
#include "center/kind.h"
#include "shm/region.h"
#include "util/cleanup.h"
#include "util/fork.h"
#include "util/list.h"
#include "util/lock.h"
#include "util/loop.h"
#include "util/map.h"
#include "util/recent.h"

#define DN__HUB_MAX_CARRIERS 2

/* Limit of names whose progress is remembered for observers of a prefix. */
#define DN__PREFIX_MAX_NAMES 16384

/* A hub's lock guards its topics, their inboxes and observers. The compiler cannot see that an
 * observer and its topic have the same hub, so annotations name one imaginary lock for all hubs. No
 * function works on two hubs. */
extern dn__lock dn__hub_guard;
#define DN__HUB_GUARDED DN__GUARDED_BY(&dn__hub_guard)
#define DN__HUB_LOCKED DN__REQUIRES(&dn__hub_guard)

struct dn__hub {
        dn__per_process process;
        dn_center *center; /* borrowed; an opened center is freed with its hub */
        uint64_t id;
        dn__link link;           /* in the list of hubs */
        _Atomic bool is_listed;
        _Atomic unsigned n_refs; /* held by the open center, topics, and calls */

        /* Constant once the hub is open. */
        bool lacks_bus;     /* there is nothing to connect to, although a bus was wanted */
        char *scope;        /* of the table; NULL: this center has none */
        dn__loop *loop;     /* NULL: posts stay in the process; see dn__center_retain() */
        dn__loop *inline_loop; /* of the inline executors; a carrier's, borrowed */
        dn__carrier *carriers[DN__HUB_MAX_CARRIERS];
        size_t n_carriers;
        _Atomic size_t n_open_carriers;
        dn__source timer;

        /* See center/table.h. */
        _Atomic(dn__region *) region; /* those before stay mapped; NULL: there is no table now */
        dn__source table_source;
        /* Of the service thread: it watches over the file of this region, if it can. */
        const dn__region *watched;
        struct dn__place *place;
        int table_error; /* of whoever opens or moves the hub: the last one reported, or 0 */
        _Atomic uint64_t table_retry_us; /* not before this to try again what failed; DN__NEVER */
        _Atomic uint64_t table_alarm_us; /* the same if names wait for it, else DN__NEVER */
        uint64_t table_backoff_us DN__HUB_GUARDED;
        _Atomic uint64_t foreign_id; /* of a region that was found to be none of ours */
        _Atomic bool is_behind; /* has posted in a table that others have left */
        bool is_moving DN__HUB_GUARDED;
        bool is_staying DN__HUB_GUARDED; /* the hub is being closed */
        size_t n_preparing DN__HUB_GUARDED; /* topics; none while moving */

        _Atomic bool is_untaken; /* posts since the last flush had no bus */
        _Atomic uint64_t sweep_us; /* when topics have lingered long enough */
        _Atomic uint64_t n_observers;
        size_t n_works DN__HUB_GUARDED; /* deliveries that wait in an executor or are running */
        _Atomic size_t n_prefixes;
        dn__lock lock;         /* acquired before a carrier's lock where both are needed */
        dn__condition changed; /* a topic is prepared or an invocation has ended */
        dn__map topics DN__HUB_GUARDED;
        dn__link lingering DN__HUB_GUARDED; /* topics, ordered by when they expire */
        size_t n_lingering DN__HUB_GUARDED;
        struct dn__counter *free_counters DN__HUB_GUARDED; /* kept for the life of the process */
        dn__link prefixes DN__HUB_GUARDED; /* topics that stand for all names with a prefix */
        dn__recent told DN__HUB_GUARDED; /* by name: the generation their observers have been
                                          * notified of */
        bool is_suspended DN__HUB_GUARDED;   /* observers with a backlog */
        uint64_t n_arrivals DN__HUB_GUARDED; /* posts passed to them */
        uint64_t last_observer_id DN__HUB_GUARDED;
        dn__executor *executor DN__HUB_GUARDED; /* of CF-shaped observers; NULL: the default */
};

static inline void dn__hub_lock(dn__hub *hub) DN__ACQUIRES(&dn__hub_guard)
        DN__TSA(no_thread_safety_analysis)
{
        dn__lock_acquire(&hub->lock);
}

static inline void dn__hub_unlock(dn__hub *hub) DN__RELEASES(&dn__hub_guard)
        DN__TSA(no_thread_safety_analysis)
{
        dn__lock_release(&hub->lock);
}

/* DN__HUB_HOLD(hub); holds its lock until the end of the function. */
#define DN__HUB_HOLD(hub)                                                                          \
        dn__hub *const held_hub DN__CLEANUP(dn__hub_end_hold) = dn__hub_begin_hold(hub);           \
        dn__hub_assert_held()

/* The analysis cannot see that the variable stands for the lock. */
static inline dn__hub *dn__hub_begin_hold(dn__hub *hub) DN__TSA(no_thread_safety_analysis)
{
        dn__lock_acquire(&hub->lock);
        return hub;
}

static inline void dn__hub_end_hold(dn__hub *const *hub) DN__TSA(no_thread_safety_analysis)
{
        dn__lock_release(&(*hub)->lock);
}

static inline void dn__hub_assert_held(void) DN__TSA(assert_capability(&dn__hub_guard))
{
}

/* Waits for `changed`. */
static inline void dn__hub_wait(dn__hub *hub) DN__HUB_LOCKED DN__TSA(no_thread_safety_analysis)
{
        (void)dn__condition_wait(&hub->changed, &hub->lock, DN__NEVER);
}

/* Returns the hub of this process, creating it if needed, with a reference for the caller; NULL if
 * out of memory. */
dn__hub *dn__hub_get(dn_center *center);

/* Returns the hub of this process, borrowed, or NULL if there is none or it is the parent's. */
dn__hub *dn__hub_find(const dn_center *center);

void dn__hub_ref(dn__hub *hub);
void dn__hub_unref(dn__hub *hub);

/* Wraps an observer's executor value; NULL is the default. Returns 0 and an executor, or NULL if
 * the center has none; -EINVAL if the center has none but a value was given, or the value cannot
 * enqueue; or -ENOMEM. */
int dn__hub_make_executor(dn__hub *hub, const dn_executor *value, dn__executor **ret_executor);

/* Returns whether this process made the hub, rather than inherited it by fork(). */
static inline bool dn__hub_is_current(const dn__hub *hub)
{
        return hub->process.fork_id == dn__fork_id();
}

/* Count what keeps an opened center open; the last release closes its connection. Users of a hub's
 * carriers keep the center open this way. */
void dn__center_retain(dn_center *center);
void dn__center_release(dn_center *center);

/* Calls a function for each hub of this process, with a hold on its center. Returns the last error
 * of a call, or 0. */
int dn__hubs_each(int (*call)(dn__hub *hub, void *context), void *context);

/* Takes a hub away from its center, which makes another one when it is used again, and out of the
 * list of hubs. The caller closes it. While no call is running. */
void dn__hub_detach(dn__hub *hub);

/* Releases a hub's entry in the table, and its memory. When its loops have ended. */
void dn__hub_leave_table(dn__hub *hub);

/* Frees the list of hubs, which is empty. */
void dn__hub_free_list(void);
