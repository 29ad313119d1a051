/* What the service thread and its callers share. */
#pragma once

#include "bus/pending.h"
#include "bus/rules.h"
#include "bus/service.h"
#include "bus/throttle.h"
#include "bus/vouchers.h"
#include "util/lock.h"
#include "util/queue.h"

/* Attempts to connect: soon after a bus was restarted, rarely where there is none. */
#define DN__BACKOFF_MIN_US (10 * DN__US_PER_MS)
#define DN__BACKOFF_MAX_US (5 * DN__US_PER_SECOND)

struct dn__service {
        const dn__service_ops *ops;
        void *context;
        dn__address address;
        int wake_fd;
        dn__fork_guard *wake_guard;

        dn__lock lock;
        dn__condition changed; /* of anything that a caller may wait for */
        dn__connection connection DN__GUARDED_BY(&lock);
        dn__rules rules DN__GUARDED_BY(&lock);
        dn__vouchers vouchers DN__GUARDED_BY(&lock);
        dn__pending pending DN__GUARDED_BY(&lock);
        dn__pending in_flight DN__GUARDED_BY(&lock); /* one post at most: see dn__service_send() */
        dn__throttle throttle DN__GUARDED_BY(&lock); /* of posts that may be merged */
        uint64_t hold_us DN__GUARDED_BY(&lock);      /* until when `pending` is held back, or 0 */
        dn__queue works DN__GUARDED_BY(&lock);
        dn__service_counts counts DN__GUARDED_BY(&lock);
        unsigned n_flushes DN__GUARDED_BY(&lock);   /* that wait for the bus to read: see there */
        uint64_t reserved_us DN__GUARDED_BY(&lock); /* when a reserved name was sent last, or 0 */
        bool is_started DN__GUARDED_BY(&lock);
        bool is_tried DN__GUARDED_BY(&lock); /* the first attempt to connect has an outcome */
        bool is_woken DN__GUARDED_BY(&lock);
        bool has_unasked DN__GUARDED_BY(&lock); /* signals may have gone by an observer's rule */
        size_t n_backlog DN__GUARDED_BY(&lock); /* messages since the last look for missed posts */
        uint64_t connect_us DN__GUARDED_BY(&lock);
        uint64_t connected_us DN__GUARDED_BY(&lock);
        uint64_t backoff_us DN__GUARDED_BY(&lock);
        uint64_t missed_us DN__GUARDED_BY(&lock); /* when to call may_have_missed */
        uint64_t wake_us DN__GUARDED_BY(&lock);   /* when to call woken */
        uint64_t close_us DN__GUARDED_BY(&lock);  /* when to end, whatever waits to be sent */
};

/* Runs the thread until the service is closing, then frees the service. */
void dn__service_main(void *service);

/* Has a message that came delivered, or wait for its sender to be known, or ignores it. */
void dn__service_handle(dn__service *service, sd_bus_message *message);

/* Has the posts delivered whose senders are known by now. */
void dn__service_handle_decided(dn__service *service);

/* Ends a service whose thread is gone, or was never there. */
void dn__service_free(dn__service *service);

/* Gets the thread out of its sleep; nothing happens on the thread itself. */
void dn__service_wake(dn__service *service) DN__REQUIRES(&service->lock);

/* Hands a post to the bus, if nothing is queued before it. What sd-bus then has not written yet
 * would be lost with the connection: it is remembered, until it is written or waits again. Returns
 * 0, or a negative errno: it has to wait. */
int dn__service_send(dn__service *service, uint64_t hash, const char *name, size_t n_name_bytes,
                     uint64_t generation, uint64_t region) DN__REQUIRES(&service->lock);

/* Forgets what is remembered, if it has been written. */
void dn__service_note_written(dn__service *service) DN__REQUIRES(&service->lock);

/* Has what was not written wait again, after the connection was lost. */
void dn__service_take_back(dn__service *service) DN__REQUIRES(&service->lock);

/* Tells whether nothing waits for the bus. */
bool dn__service_is_drained(dn__service *service) DN__REQUIRES(&service->lock);
