/* A carrier exchanges posts with other processes. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "darwinnotify/error.h"
#include "post/post.h"
#include "post/sink.h"

typedef struct dn__carrier dn__carrier;

/* What a carrier keeps for a name whose posts it receives; opaque to everyone else. */
typedef struct dn__subscription dn__subscription;

/* How long posts may still wait when their carrier closes. */
#define DN__CLOSE_TIMEOUT_US UINT64_C(1000000)

typedef struct dn__carrier_status {
        uint64_t n_sent;     /* posts handed to the bus */
        uint64_t n_pending;  /* names with posts waiting to be sent */
        uint64_t n_received; /* posts received */
        uint64_t n_ignored;  /* messages dropped: not posts, or not permitted */
        uint64_t n_connects; /* successful connections */
        uint64_t n_losses;   /* lost connections: as many, or one fewer while connected */
        bool is_connected;
} dn__carrier_status;

/* All may be called on any thread until `close`; on the carrier's own thread none of them waits. A
 * deadline covers all the waiting of one public call and is 0 until the call first waits: most
 * calls never wait and need not read the clock.
 *
 * NULL, except for `post`: the carrier has nothing to do. */
typedef struct dn__carrier_ops {
        /* Starts to receive posts. The first time, waits until there is a connection or the first
         * attempt has failed. Cheap once started. Returns 0, -ENOMEM or -EAGAIN. */
        int (*start)(dn__carrier *carrier, uint64_t *deadline_us);
        /* From now on receives posts on a thread of its own. Idempotent. Returns as `start`. */
        int (*use_own_thread)(dn__carrier *carrier);

        /* Subscribes to the posts of a name. `is_counted`: this process holds it in its table.
         * Returns 0 or -ENOMEM. */
        int (*subscribe)(dn__carrier *carrier, const dn__name *name, bool is_counted,
                         dn__subscription **ret_subscription);
        /* Notes that the table counts a name now, or no longer. */
        void (*set_counted)(dn__carrier *carrier, dn__subscription *subscription, bool is_counted);
        /* Waits until the posts of a name arrive. Returns 0; DN_NOT_CONNECTED if they do not yet
         * but will; -ENOBUFS if they never will. */
        int (*await)(dn__carrier *carrier, const dn__subscription *subscription,
                     uint64_t *deadline_us);
        void (*unsubscribe)(dn__carrier *carrier, dn__subscription *subscription);

        /* Sets the table that the process is in. Call before the table's first post, and before its
         * names are held. If the carrier then has to ask the bus for more, the sink learns that
         * posts may have been missed once the bus has answered, or once it is another one. */
        void (*set_region)(dn__carrier *carrier, uint64_t region_id);

        /* Takes a post out of the process, starting if needed, or keeps a copy until it can. The
         * carrier through the table counts the post, unless that has been done. Returns 0;
         * DN_NOT_CONNECTED if nobody can be reached at present; -ESTALE if it was counted in a
         * stale table, and must be counted again; or another negative errno if
         * the post is lost. */
        int (*post)(dn__carrier *carrier, dn__post *post);

        /* Waits until everything sent has been read; with an expired deadline, sends what it can
         * and checks whether everything has left the process. Returns 0, -ETIMEDOUT or
         * -ENOTCONN. */
        int (*flush)(dn__carrier *carrier, uint64_t deadline_us);
        /* Returns why posts since the last call were lost: -ENOTCONN, -ENOBUFS, -ENOMEM or
         * -EAGAIN, or 0. Call when `flush` has left nothing to wait for. */
        int (*take_loss)(dn__carrier *carrier);
        /* Waits briefly, before the connection ends, while receivers may still ask the bus who sent
         * a post of a reserved name. */
        void (*remain_known)(dn__carrier *carrier);

        dn__carrier_status (*get_status)(dn__carrier *carrier);

        /* Sends what waits, for at most DN__CLOSE_TIMEOUT_US, then calls `closed` of the sink. Does
         * not wait for that. */
        void (*close)(dn__carrier *carrier);
        /* Frees a closed carrier whose loop has ended. */
        void (*free)(dn__carrier *carrier);
} dn__carrier_ops;

/* The first member of each carrier. */
struct dn__carrier {
        const dn__carrier_ops *ops;
};

/* Stands for a carrier that a center lacks (carrier.c). */
typedef struct dn__absence {
        dn__carrier carrier;
        bool is_missed;        /* constant: the carrier was wanted, so posts are lost */
        _Atomic bool has_lost; /* posts since the last flush */
} dn__absence;

extern const dn__carrier_ops dn__absence_ops;

/* --- Calls of operations that may be NULL ----------------------------------------------------- */

static inline int dn__carrier_start(dn__carrier *carrier, uint64_t *deadline_us)
{
        return carrier->ops->start ? carrier->ops->start(carrier, deadline_us) : 0;
}

static inline int dn__carrier_use_own_thread(dn__carrier *carrier)
{
        return carrier->ops->use_own_thread ? carrier->ops->use_own_thread(carrier) : 0;
}

static inline int dn__carrier_subscribe(dn__carrier *carrier, const dn__name *name, bool is_counted,
                                        dn__subscription **ret_subscription)
{
        *ret_subscription = NULL;
        if (!carrier->ops->subscribe)
                return 0;
        return carrier->ops->subscribe(carrier, name, is_counted, ret_subscription);
}

/* `subscription` is NULL before dn__carrier_subscribe(), and always if the carrier has nothing to
 * do. */
static inline void dn__carrier_set_counted(dn__carrier *carrier, dn__subscription *subscription,
                                           bool is_counted)
{
        if (subscription)
                carrier->ops->set_counted(carrier, subscription, is_counted);
}

static inline int dn__carrier_await(dn__carrier *carrier, const dn__subscription *subscription,
                                    uint64_t *deadline_us)
{
        if (!subscription)
                return DN_NOT_CONNECTED;
        return carrier->ops->await(carrier, subscription, deadline_us);
}

static inline void dn__carrier_unsubscribe(dn__carrier *carrier, dn__subscription *subscription)
{
        if (subscription)
                carrier->ops->unsubscribe(carrier, subscription);
}

static inline void dn__carrier_set_region(dn__carrier *carrier, uint64_t region_id)
{
        if (carrier->ops->set_region)
                carrier->ops->set_region(carrier, region_id);
}

static inline int dn__carrier_flush(dn__carrier *carrier, uint64_t deadline_us)
{
        return carrier->ops->flush ? carrier->ops->flush(carrier, deadline_us) : 0;
}

static inline int dn__carrier_take_loss(dn__carrier *carrier)
{
        return carrier->ops->take_loss ? carrier->ops->take_loss(carrier) : 0;
}

static inline void dn__carrier_remain_known(dn__carrier *carrier)
{
        if (carrier->ops->remain_known)
                carrier->ops->remain_known(carrier);
}

static inline dn__carrier_status dn__carrier_get_status(dn__carrier *carrier)
{
        return carrier->ops->get_status ? carrier->ops->get_status(carrier)
                                        : (dn__carrier_status){ 0 };
}

static inline void dn__carrier_close(dn__carrier *carrier)
{
        if (carrier->ops->close)
                carrier->ops->close(carrier);
}

static inline void dn__carrier_free(dn__carrier *carrier)
{
        if (carrier->ops->free)
                carrier->ops->free(carrier);
}
