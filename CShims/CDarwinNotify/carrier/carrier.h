/* The carrier interface: how posts leave and enter the process. Each transport implements it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "post/post.h"

typedef struct dn__carrier dn__carrier;

/* A carrier's state for one watched name. Opaque. */
typedef struct dn__watch dn__watch;

typedef struct dn__carrier_counts {
        uint64_t n_sent;     /* posts handed to the transport */
        uint64_t n_waiting;  /* names with posts waiting to be sent */
        uint64_t n_received; /* posts received */
        uint64_t n_ignored;  /* messages dropped: not posts, or not permitted */
        uint64_t n_connects; /* successful connections */
        uint64_t n_losses;   /* lost connections: as many, or one fewer while connected */
} dn__carrier_counts;

/* Receives what a carrier delivers. All functions are called on the thread of the carrier's loop,
 * with no lock held. */
typedef struct dn__sink {
        /* A post arrived. Borrowed until the call returns. Returns how many new posts it stands
         * for: 0 if they all arrived before, or if nobody observes the name. */
        uint64_t (*received)(void *context, const dn__post *post);
        /* Posts may have been missed: check every name. */
        void (*may_have_missed)(void *context);
        /* A connection was made or lost. Called once for each, after the counts have changed. */
        void (*connection_changed)(void *context);
        /* The last call, after close(). If the carrier was never started, it is made from within
         * close(). The carrier must then be freed once its loop has ended. */
        void (*closed)(void *context);
} dn__sink;

/* Every function except `free` may be called on any thread between creation and close(). On the
 * carrier's own thread none of them waits. A deadline covers all the waiting of one public call and
 * is 0 until the call first waits: most calls never wait and need not read the clock. */
typedef struct dn__carrier_ops {
        /* Starts the carrier and waits for the outcome of the first attempt, success or not. Cheap
         * once started. Returns 0 or -ENOMEM. */
        int (*start)(dn__carrier *carrier, uint64_t *deadline_us);

        /* Sends a post, or queues it until it can be sent. Never blocks. Returns 0; -ENOTCONN if it
         * is queued and there is no connection; -ENOBUFS or -ENOMEM if it is neither sent nor
         * queued. Call after start(). */
        int (*send)(dn__carrier *carrier, const dn__post *post);

        /* Starts watching a name. Returns 0 or -ENOMEM. */
        int (*watch)(dn__carrier *carrier, const dn__name *name, dn__watch **ret_watch);

        /* Waits until the watch is active. Returns 0; -ENOTCONN if it is not active yet but will
         * be; -ENOBUFS if it never will be. */
        int (*await_watch)(dn__carrier *carrier, dn__watch *watch, uint64_t *deadline_us);

        /* Stops watching. */
        void (*unwatch)(dn__carrier *carrier, dn__watch *watch);

        /* Waits until the other side has received everything sent; with an expired deadline, sends
         * what it accepts and checks whether everything has left the process. Returns 0, -ETIMEDOUT
         * or -ENOTCONN. */
        int (*flush)(dn__carrier *carrier, uint64_t deadline_us);

        /* Returns why posts since the last call were lost: -ENOTCONN, -ENOBUFS or -ENOMEM, or 0.
         * Call when flush() has left nothing to wait for. */
        int (*take_untaken)(dn__carrier *carrier);

        /* Waits briefly before the process exits if receivers may still have to query it. */
        void (*linger)(dn__carrier *carrier);

        dn__carrier_counts (*get_counts)(dn__carrier *carrier);

        /* Tells whether there is a connection at the moment. */
        bool (*is_connected)(dn__carrier *carrier);

        /* Sends the queued posts, for at most DN__CLOSE_TIMEOUT_US, then calls `closed`. Does not
         * wait for that. */
        void (*close)(dn__carrier *carrier);

        /* Frees a closed carrier whose loop has ended. */
        void (*free)(dn__carrier *carrier);
} dn__carrier_ops;

/* How long posts may still wait when their carrier closes. */
#define DN__CLOSE_TIMEOUT_US UINT64_C(1000000)

/* Delays between connection attempts: short after a bus restarts, long where there is none. */
#define DN__BACKOFF_MIN_US UINT64_C(10000)
#define DN__BACKOFF_MAX_US UINT64_C(5000000)

/* Returns the current delay and doubles it for the next time, up to the maximum. */
static inline uint64_t dn__backoff_next(uint64_t *backoff_us)
{
        uint64_t now_us = *backoff_us;

        *backoff_us = 2 * now_us < DN__BACKOFF_MAX_US ? 2 * now_us : DN__BACKOFF_MAX_US;
        return now_us;
}

/* The first member of each carrier. */
struct dn__carrier {
        const dn__carrier_ops *ops;
        const dn__sink *sink;
        void *context; /* passed to the sink */
};
