/* What a center has in one process: its names, its table, its connection. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bus/service.h"
#include "center/executor.h"
#include "darwinnotify/center.h"
#include "darwinnotify/observer.h"
#include "shm/region.h"
#include "util/list.h"
#include "util/lock.h"
#include "util/map.h"

typedef struct dn__engine dn__engine;
typedef struct dn__topic dn__topic;
typedef struct dn__group dn__group;

/* A center is the same pointer in a process and in its forked children, its engine is not: a child
 * makes its own at its first call, and leaves the parent's, whose locks may be held by threads
 * that it does not have, alone. */
struct dn_center {
        bool is_local;
        const char *bus; /* NULL: what the environment says */
        _Atomic(dn__per_process *) engine;
        _Atomic unsigned n_refs; /* of dn_center_open(), and of each linked observer; the shared
                                  * centers begin with one that is never given back */
};

struct dn__engine {
        dn__per_process process;
        dn_center *center; /* borrowed; an opened one goes with its engine */
        uint64_t id;
        dn__link link;           /* in the list that dn_flush() walks */
        _Atomic bool is_listed;
        _Atomic unsigned n_refs; /* of the open center, of topics, of calls */
        dn__region *region;      /* constant; NULL: there is no table */
        dn__service *service;    /* constant; NULL: the local center; see dn__center_retain() */

        _Atomic uint64_t n_observers;
        dn__lock lock;         /* taken before that of the service, where both are needed */
        dn__condition changed; /* a topic is prepared, an invocation has ended */
        dn__map topics DN__GUARDED_BY(&lock);
        dn__link lingering DN__GUARDED_BY(&lock); /* topics, by the time they end */
        size_t n_lingering DN__GUARDED_BY(&lock);
        struct dn__counter *free_counters DN__GUARDED_BY(&lock); /* stay with the process */
        uint64_t last_observer_id DN__GUARDED_BY(&lock);
        dn__map registrations DN__GUARDED_BY(&lock); /* of the CF-shaped functions */
        dn__executor *executor DN__GUARDED_BY(&lock); /* of theirs too; NULL: the default */
};

/* Returns the engine of this process, making it if need be, with a reference for the caller; or
 * NULL, if memory cannot be had. */
dn__engine *dn__engine_get(dn_center *center);

void dn__engine_ref(dn__engine *engine);
void dn__engine_unref(dn__engine *engine);

/* Tells whether the engine was made by this process, not by one that it was forked from. */
static inline bool dn__engine_is_current(const dn__engine *engine)
{
        return engine->process.fork_id == dn__fork_id();
}

/* As dn__name_check(), but names of the local center have no limit. */
int dn__center_check_name(const dn_center *center, const char *name, size_t *ret_n_bytes);

/* Returns the engine of this process, borrowed, or NULL: there is none, or it is the parent's. */
dn__engine *dn__engine_find(const dn_center *center);

/* Count what keeps an opened center open; the last one closes its connection. Whoever uses the
 * service of an engine holds the center, by one of these. */
void dn__center_retain(dn_center *center);
void dn__center_release(dn_center *center);

/* Returns false if the center is closing already. */
bool dn__center_try_retain(dn_center *center);

/* Finds the topic of a checked name, or makes it, and holds it. Returns, after the bus has
 * confirmed its rule, 0; -ENOTCONN: held as well, but there is no bus; -EACCES, -ENOMEM or
 * -ENOBUFS. Given back with dn__topic_give_back(). */
int dn__engine_hold(dn__engine *engine, const char *name, size_t n_name_bytes,
                    dn__topic **ret_topic);

/* Registers an observer; consumes `handler` and `executor`, also on failure. What it returns, and
 * when, is that of dn_center_observe(). The name is checked. */
int dn__engine_observe(dn__engine *engine, const char *name, size_t n_name_bytes,
                       const void *object, dn_handler handler, dn__executor *executor,
                       dn_observer **ret_observer);

/* Posts a checked name on the Darwin center, if this user may: otherwise nothing happens. */
int dn__engine_post(dn__engine *engine, const char *name, size_t n_name_bytes, bool may_merge);

/* Posts a checked name on the local center. */
void dn__engine_post_local(dn__engine *engine, const char *name, size_t n_name_bytes,
                           const void *object, const dn_dict *user_info);

/* Takes the engine into the list that dn_flush() walks, and out of it. */
void dn__flush_add(dn__engine *engine);
void dn__flush_remove(dn__engine *engine);
