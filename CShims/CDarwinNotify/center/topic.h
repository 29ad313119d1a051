/* One name of a center: who observes it, and how many posts it has had. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/service.h"
#include "center/counter.h"
#include "center/engine.h"
#include "center/group.h"
#include "shm/slot.h"
#include "util/list.h"
#include "util/map.h"

/* Guarded by the lock of the engine, but for what is constant. */
struct dn__topic {
        _Atomic unsigned n_refs;
        dn__engine *engine;   /* constant, owned */
        dn__map_entry entry;  /* in the engine, until the topic is retired */
        size_t n_holds;       /* groups with observers, and calls that are about to add one */
        dn__link linger_link; /* in the engine, while there are no holds */
        uint64_t linger_until_us;
        bool is_refused; /* the bus has no room for the rule: it need not linger */
        bool is_preparing;
        dn__link groups;    /* in the order in which they came to be */
        uint64_t sequence;  /* of the last post that was handed to the groups; begins with 1 */
        uint64_t generation; /* of the slot, as far as it was handed to the groups */
        dn__shm_slot *slot; /* NULL: the posts of the name are not counted in shared memory */
        dn__counter *counter; /* NULL: nobody has asked for it */
        dn__rule *rule;     /* NULL: the name does not leave the process, or is not prepared */
        char name[];        /* constant; empty: all names of the local center */
};

/* Finds the topic of a name, or makes it, and holds it. Returns 0 or -ENOMEM; a hold is given
 * back with dn__topic_release(). Waits for the bus, unless `is_local`. */
int dn__topic_hold(dn__engine *engine, const char *name, size_t n_name_bytes, bool is_local,
                   dn__topic **ret_topic);

/* Adds an observer to a topic that is held; it may begin suspended. On failure nothing is consumed.
 * `ret_observer`, which may be NULL, is set before the first invocation. Returns 0 or -ENOMEM. */
int dn__topic_observe(dn__topic *topic, const void *object, dn_handler handler,
                      dn__executor *executor, bool is_suspended, dn_observer **ret_observer);

/* Gives a hold back. A topic that nobody holds lingers, so that registering and cancelling in a
 * loop does not talk to the bus each time. Under the lock. Returns a topic to be retired without
 * the lock, or NULL. */
dn__topic *dn__topic_release(dn__topic *topic);

/* Gives a hold back. Without the lock. */
void dn__topic_give_back(dn__topic *topic);

/* Gives the hold of a name back that the bus refuses, so that the next call asks again. Without
 * the lock. */
void dn__topic_refuse(dn__topic *topic);

/* Gives back what a topic had, after it was taken out of the engine. NULL is allowed. */
void dn__topic_retire(dn__topic *topic);

/* Retires the topics that have lingered long enough. */
void dn__topic_sweep(dn__engine *engine, uint64_t now_us);

void dn__topic_ref(dn__topic *topic);
void dn__topic_unref(dn__topic *topic);

/* Returns the counter of a topic that is held, borrowed as long, or NULL without memory. Takes the
 * lock. */
dn__counter *dn__topic_get_counter(dn__topic *topic);

/* Finds the topic of a name, or NULL. Under the lock. */
dn__topic *dn__topic_find(dn__engine *engine, uint64_t hash, const char *name,
                          size_t n_name_bytes);

/* The group of an executor, NULL included; or NULL. Under the lock. */
dn__group *dn__topic_find_group(const dn__topic *topic, const dn__executor *executor);

/* Hands one post to the groups that the table does not count. Under the lock. */
void dn__topic_post_uncounted(dn__topic *topic, dn__batch *batch);

/* Hands the posts up to a generation to the groups, each of them once. Under the lock. */
void dn__topic_post_counted(dn__topic *topic, uint64_t generation, dn__batch *batch);

/* Hands over every post that the table has counted. Under the lock. */
void dn__topic_catch_up(dn__topic *topic, dn__batch *batch);
