/* The state of a center in one process. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "darwinnotify/observer.h"
#include "delivery/executor.h"
#include "post/carrier.h"
#include "post/post.h"
#include "table/region.h"
#include "util/cleanup.h"
#include "util/fork.h"
#include "util/list.h"
#include "util/lock.h"
#include "util/loop.h"
#include "util/map.h"

/* A hub's lock guards its topics, their queues and observers. Under it, match rules are written to
 * the socket of the bus, without blocking. The compiler cannot see that an observer and its topic
 * have the same hub, so annotations name one imaginary lock for all hubs. No function works on two
 * hubs. */
extern dn__lock dn__hub_guard;
#define DN__HUB_GUARDED DN__GUARDED_BY(&dn__hub_guard)
#define DN__HUB_LOCKED DN__REQUIRES(&dn__hub_guard)

struct dn__address;

typedef struct dn__hub dn__hub;

/* Operations and properties of one kind of center. Each kind has its own file. */
typedef struct dn__center_ops {
        dn__reach reach;    /* the furthest a post can go */
        dn_objects objects; /* unless they are ignored, observers may omit the name */
        bool has_executors; /* observers run on executors; if false, the poster calls them */
        bool is_queued;     /* posts are delivered separately; a suspension may keep them */
        bool has_table;     /* posts are counted in shared memory, where available */
        bool has_calls;     /* requests can be made if there is a bus */

        /* Sets up a new hub. Returns 0 or a negative errno. NULL: there is nothing to do. */
        int (*open)(dn__hub *hub);
        /* Creates the carriers of a hub with a loop, except any that it is to lack, and counts
         * them; may consume the address. Returns as `open`. */
        int (*add_carriers)(dn__hub *hub, struct dn__address *address);
        /* Destroys an unused hub and releases the reference it was made with. */
        void (*close)(dn__hub *hub);
        /* Posts. Returns as dn_center_post(). */
        int (*post)(dn__hub *hub, dn__post *post);
} dn__center_ops;

/* A forked child shares the center pointer but not the hub: it creates its own at its first call
 * and leaves the parent's alone, whose locks may be held by threads that do not exist in the
 * child. */
struct dn_center {
        const dn__center_ops *ops;
        const char *bus; /* NULL: one of the shared centers */
        _Atomic(dn__per_process *) hub;
        _Atomic unsigned n_refs; /* of dn_center_open(), each linked observer, run, call, request,
                                  * service and report, of walks over the hubs and of replacements;
                                  * the shared centers start with one that is never released */
};

/* Whether observers of payloads wait, and the posts that are kept for them (payloads.c). */
typedef struct dn__suspension {
        bool is_active DN__HUB_GUARDED;
        dn__link posts DN__HUB_GUARDED;
        dn__map by_key DN__HUB_GUARDED; /* the last one of each name and object */
        size_t n_posts DN__HUB_GUARDED;
        size_t n_bytes DN__HUB_GUARDED;
} dn__suspension;

/* This process in the table of a center (center/table.h). */
typedef struct dn__member {
        char *scope; /* constant; NULL: the center can have no table */
        uid_t user;  /* the effective user that opened the center; others look for no table */
        unsigned n_absences; /* posts that found no table; used by the thread that moves the hub */
        _Atomic(dn__region *) region; /* those before stay mapped; NULL: there is no table now */
        _Atomic uint64_t look_ms;     /* when the last look began, by the coarse clock */
        _Atomic uint64_t failed_us;   /* when the current failure began; 0: there is none */
        _Atomic uint64_t tried_us;    /* when the last attempt was made */
        _Atomic bool is_look_due;     /* soon: a signal came from another table */
        dn__source source;
        bool is_moving DN__HUB_GUARDED;
        bool is_staying DN__HUB_GUARDED; /* the hub is being closed */
} dn__member;

struct dn__hub {
        dn__per_process process;
        dn_center *center; /* borrowed; an opened center is freed with its hub */
        uint64_t id;             /* ascending in the list of hubs: */
        dn__link link;
        _Atomic bool is_listed;
        _Atomic unsigned n_refs; /* of the open center, topics, and public calls in progress */

        dn_sender own; /* constant: what the observers learn about this process */

        /* Constant once the hub is open. */
        dn__loop *loop;     /* NULL: posts stay in the process; see dn__center_retain() */
        dn__loop *inline_loop; /* of the inline executors; a carrier's, borrowed */
        dn__absence absence;
        dn__carrier *direct;     /* through the table; or the absence of it */
        dn__carrier *bus;        /* over D-Bus; or the absence of it */
        struct dn__calls *calls; /* which share its connection; or NULL */
        _Atomic size_t n_open_carriers; /* and one for the hub until it closes them */
        dn__source timer;

        dn__member member;
        _Atomic uint64_t sweep_us; /* when the first idle topic expires */
        _Atomic uint64_t n_observers;
        size_t n_runs DN__HUB_GUARDED; /* deliveries that wait in an executor or are running */
        _Atomic size_t n_prefixes;
        dn__lock lock;         /* acquired before a carrier's lock where both are needed */
        dn__condition changed; /* a topic is prepared or an invocation has ended */
        dn__map topics DN__HUB_GUARDED;
        dn__link ready DN__HUB_GUARDED; /* queues that have runs to ask for */
        dn__link dropped DN__HUB_GUARDED; /* payloads to be freed without the lock */
        dn__link idle DN__HUB_GUARDED; /* topics that nothing holds, ordered by when they expire */
        size_t n_idle DN__HUB_GUARDED;
        struct dn__counter *free_counters DN__HUB_GUARDED; /* kept for the life of the process */
        dn__link prefixes DN__HUB_GUARDED; /* topics that stand for all names with a prefix */
        struct dn__prefix_counts *prefix_counts DN__HUB_GUARDED; /* in the member's region */
        uint64_t last_sequence DN__HUB_GUARDED; /* of the posts with a payload */
        uint16_t n_losses DN__HUB_GUARDED;   /* of the bus, if it is all there is; only compared */
        dn__suspension suspension;
        uint64_t last_observer_id DN__HUB_GUARDED;
        dn__executor *executor DN__HUB_GUARDED; /* of observers that name none; NULL: default */
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

/* DN__HUB_AUTO_LOCK(hub); locks it until the end of the function. */
#define DN__HUB_AUTO_LOCK(hub)                                                                     \
        DN__AUTO_LOCK(&(hub)->lock);                                                               \
        dn__hub_assert_locked()

static inline void dn__hub_assert_locked(void) DN__TSA(assert_capability(&dn__hub_guard))
{
}

/* Waits for `changed`. Returns false at the deadline. */
static inline bool dn__hub_wait(dn__hub *hub, uint64_t until_us) DN__HUB_LOCKED
        DN__TSA(no_thread_safety_analysis)
{
        return dn__condition_wait(&hub->changed, &hub->lock, until_us) == 0;
}

/* Returns the hub of this process, creating it if needed, with a reference for the caller. Returns
 * 0, -EINVAL if there is no center, or the negative errno with which it could not be opened. */
int dn__hub_get(dn_center *center, dn__hub **ret_hub);

/* Returns the hub of this process, borrowed, or NULL if there is none or it is the parent's. */
dn__hub *dn__hub_find(dn_center *center);

void dn__hub_ref(dn__hub *hub);

/* NULL is allowed. */
void dn__hub_unref(dn__hub *hub);

/* dn__hub *hub DN__UNREFS_HUB = NULL; releases it at the end of the block. */
#define DN__UNREFS_HUB DN__CLEANUP(dn__hub_unref_at)

static inline void dn__hub_unref_at(dn__hub *const *hub)
{
        dn__hub_unref(*hub);
}

/* Wraps an observer's executor value; NULL stands for the center's. Returns 0 and an executor, or
 * NULL if the center uses none; -EINVAL if it uses none but a value was given, or the value cannot
 * enqueue; -ENOMEM; or -EAGAIN. */
int dn__hub_make_executor(dn__hub *hub, const dn_executor *value, dn__executor **ret_executor);

/* Prepares for observers on an executor value: those on other threads than the delivery thread
 * need a thread that is woken by other processes. Idempotent. Returns 0 or a negative errno. */
int dn__hub_use_executor(dn__hub *hub, const dn_executor *value);

/* Returns whether this process made the hub, rather than inherited it by fork(). */
static inline bool dn__hub_is_current(const dn__hub *hub)
{
        return hub->process.fork_id == dn__fork_id();
}

/* Count what keeps an opened center open; the last release closes its connection. Users of a hub's
 * carriers keep the center open this way, as does each run requested from an executor, whose loop
 * may be a carrier's. */
void dn__center_retain(dn_center *center);
void dn__center_release(dn_center *center);

/* DN__HUBS_EACH(hub) { ... } visits each hub of this process; the body may detach it. Do not leave
 * the loop early: it keeps the center of the visited hub. */
#define DN__HUBS_EACH(hub)                                                                         \
        for (dn__hubs_walk walk = { 0 }; ((hub) = dn__hubs_next(&walk));)

typedef struct dn__hubs_walk {
        uint64_t last_id;
        dn_center *center; /* of the visited hub; kept */
} dn__hubs_walk;

dn__hub *dn__hubs_next(dn__hubs_walk *walk);

/* Takes a hub away from its center, which makes another one when it is used again, and out of the
 * list of hubs. The caller closes it. While no call is running. */
void dn__hub_detach(dn__hub *hub);

/* Frees the list of hubs, which is empty. */
void dn__hub_free_list(void);
