/* The posts that wait for the observers of one name on one executor. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "darwinnotify/observer.h"
#include "delivery/executor.h"
#include "delivery/topic.h"
#include "util/list.h"
#include "util/map.h"

/* Posts without a payload: this many wait individually; later ones are merged into the last one.
 * This is the queue length of a Mach port, at which Apple's notifyd starts to merge. */
#define DN__POST_QUEUE_MAX_COUNTED 16

/* Posts with a payload: beyond either limit the oldest are dropped, and the next one that an
 * observer receives reports how many. */
#define DN__POST_QUEUE_MAX_KEPT 65536
#define DN__POST_QUEUE_MAX_KEPT_BYTES (64 * 1024 * 1024)

/* A post that observers receive separately, shared by all queues in which it waits. Once the hub
 * has it, its lock protects all but `n_refs` and `post`, which is constant. */
typedef struct dn__payload {
        _Atomic unsigned n_refs;
        bool was_suspended; /* waited for the end of a suspension */
        bool is_superseded; /* as did a later one of the same name and object */
        unsigned behaviors; /* in a suspension: of the observers that receive it, as bits */
        uint16_t n_losses;  /* of the bus, when it arrived */
        uint64_t sequence;  /* position among the hub's posts with a payload */
        uint64_t n_posts;   /* how many posts it stands for */
        uint64_t n_equal;   /* the same, with all equal ones before it in the suspension */
        uint64_t n_lost;    /* missing posts before it */
        dn__post post;      /* a copy in `bytes` */
        size_t n_bytes;
        dn__link link;       /* in the hub, while it waits for the end of a suspension, or once it
                              * was dropped */
        dn__map_entry entry; /* in the hub, by name and object, if it is the last of those */
        char bytes[];
} dn__payload;

/* Returns a copy of a post with one reference, or NULL if out of memory. */
dn__payload *dn__payload_new(const dn__post *post);

/* Returns one that borrows from a post and has no reference. */
dn__payload dn__payload_of(const dn__post *post, uint64_t sequence);

/* NULL is allowed. Returns `payload`. */
dn__payload *dn__payload_ref(dn__payload *payload);

/* NULL is allowed. */
void dn__payload_unref(dn__payload *payload);

/* As dn__payload_unref(), under the lock: a payload may be large, so dn__hub_unlock_and_run() frees
 * it after the lock is released. */
void dn__payload_drop(dn__hub *hub, dn__payload *payload) DN__HUB_LOCKED;

/* Frees a list of dropped payloads. */
void dn__payloads_free(dn__link *dropped);

typedef struct dn__queue_item {
        uint64_t sequence;    /* of the last post that it stands for */
        dn__payload *payload; /* owned, or NULL */
        bool is_own;          /* without a payload: the last post is of this process */
} dn__queue_item;

/* A run is one piece of work requested from the executor: it delivers one item. */
typedef struct dn__post_queue {
        _Atomic unsigned n_refs; /* of each observer and each run */
        dn__topic *topic;        /* constant, owned */
        dn__executor *executor;  /* constant, owned; NULL: posters deliver posts themselves */
        dn__link link DN__HUB_GUARDED;      /* in the topic, while the queue has observers */
        dn__link ready_link DN__HUB_GUARDED; /* in the hub, while there are runs to ask for */
        dn__link observers DN__HUB_GUARDED; /* in registration order */
        bool is_delivering DN__HUB_GUARDED;     /* one item at a time */
        dn__queue_item *items DN__HUB_GUARDED; /* a ring buffer */
        uint32_t n_slots DN__HUB_GUARDED;        /* a power of two */
        uint32_t first DN__HUB_GUARDED;
        uint32_t n_items DN__HUB_GUARDED;
        uint32_t n_runs DN__HUB_GUARDED;  /* of the executor, not yet started */
        uint32_t n_ready DN__HUB_GUARDED; /* of these, not yet asked for */
        uint32_t n_begun DN__HUB_GUARDED; /* started, with their item not yet delivered */
        size_t n_bytes DN__HUB_GUARDED;   /* of the payloads */
} dn__post_queue;

/* One registration: a handler, and which posts of its queue it has been given. It owns the handler
 * as soon as it is created. */
struct dn_observer {
        _Atomic unsigned n_refs;
        int behavior;          /* constant: what it receives of a suspension */
        uint64_t id;           /* registration order; constant */
        dn__post_queue *queue; /* constant, owned; NULL: never linked */
        const void *object;    /* constant; text, if any, is `bytes` */
        dn_handler handler;    /* until it is destroyed */

        unsigned n_pins DN__HUB_GUARDED; /* deliveries positioned on it, and a thread that ends
                                          * it: they keep it linked */
        unsigned n_suspends DN__HUB_GUARDED; /* while above 0, what it has not seen waits */
        bool is_cancelled DN__HUB_GUARDED;
        bool has_token; /* constant */
        uint16_t n_losses DN__HUB_GUARDED; /* of the bus, of which it knows */
        uint64_t seen DN__HUB_GUARDED; /* sequence of the last post given to it */
        uint64_t n_dropped DN__HUB_GUARDED; /* posts that it has missed since then */
        dn__link link DN__HUB_GUARDED; /* in the queue, which owns a reference while linked */
        char bytes[];
};

/* Creates a queue with one reference, not yet in any topic. Returns NULL if out of memory. */
dn__post_queue *dn__post_queue_new(dn__topic *topic, dn__executor *executor) DN__HUB_LOCKED;

/* NULL is allowed. Returns `queue`. */
dn__post_queue *dn__post_queue_ref(dn__post_queue *queue);

/* NULL is allowed. */
void dn__post_queue_unref(dn__post_queue *queue);

/* Returns the queue of an executor, which may be NULL, or NULL if there is none. */
dn__post_queue *dn__post_queue_find(const dn__topic *topic, const dn__executor *executor)
        DN__HUB_LOCKED;

/* Adds the `n_posts` posts after `before`, without payloads. They are delivered once the
 * lock is released by dn__hub_unlock_and_run(). `is_own`: this process made the last one. */
void dn__post_queue_count(dn__post_queue *queue, uint64_t before, uint64_t n_posts, bool is_own)
        DN__HUB_LOCKED;

/* Hands on one post that no table counts. Returns 1. */
uint64_t dn__topic_hand_one(dn__topic *topic, bool is_own) DN__HUB_LOCKED;

/* Hands on the posts up to a generation, each exactly once. The topic must have a slot. `is_own`:
 * this process made the post of this generation. Returns how many were new. */
uint64_t dn__topic_hand_counted(dn__topic *topic, uint64_t generation, bool is_own)
        DN__HUB_LOCKED;

/* Hands on every post counted in the table; does nothing without one. */
void dn__topic_hand_missed(dn__topic *topic) DN__HUB_LOCKED;

/* Adds a payload, with a reference of its own. Returns false if out of memory: it is missed. */
bool dn__post_queue_add(dn__post_queue *queue, dn__payload *payload) DN__HUB_LOCKED;

/* Removes the first item, if any, for the caller, who releases its payload. */
bool dn__post_queue_take(dn__post_queue *queue, dn__queue_item *ret_item) DN__HUB_LOCKED;

/* Counts a payload as missed by the observers of a queue. */
void dn__post_queue_miss(dn__post_queue *queue, const dn__payload *payload) DN__HUB_LOCKED;

/* --- Observers (observer.c) ----------------------------------------------------------------- */

typedef struct dn__observer_options {
        const void *object; /* NULL: all */
        bool has_text;      /* the object is text, which is copied */
        int behavior;       /* a DN_SUSPENSION_ value */
        bool has_token;   /* initially suspended; only its token cancels it */
} dn__observer_options;

/* Creates an observer with one reference. Its handler is destroyed when it leaves its queue, or
 * with the last reference if it was never linked. Returns NULL if out of memory: then the handler
 * is destroyed. */
dn_observer *dn__observer_new(const dn_handler *handler, const dn__observer_options *options);

/* dn_observer *observer DN__UNREFS_OBSERVER = ...; releases it at the end of the block. */
#define DN__UNREFS_OBSERVER DN__CLEANUP(dn__observer_unref_at)

static inline void dn__observer_unref_at(dn_observer *const *observer)
{
        (void)dn_observer_unref(*observer);
}

/* Returns how many posts a payload stands for to an observer; 0 if it does not receive it. */
uint64_t dn__observer_count_posts(const dn_observer *observer, const dn__payload *payload)
        DN__HUB_LOCKED;

/* Links a new observer into a queue, after a link of its list, which takes a reference of its
 * own. */
void dn__observer_link(dn_observer *observer, dn__post_queue *queue, dn__link *behind)
        DN__HUB_LOCKED;

/* Marks an observer cancelled. Returns it, pinned, if the caller must end it. Returns NULL if it
 * was already cancelled, or if the last delivery to leave it will end it. */
dn_observer *dn__observer_mark_cancelled(dn_observer *observer) DN__HUB_LOCKED;

/* Runs the destroy hook of the handler, without any lock held. */
void dn__observer_destroy_handler(dn_observer *observer);

/* Unlinks a cancelled observer without a pin. */
void dn__observer_unlink(dn_observer *observer) DN__HUB_LOCKED;

/* Releases the queue's reference to an unlinked observer, and the observer's to its center. */
void dn__observer_release(dn_observer *unlinked);
