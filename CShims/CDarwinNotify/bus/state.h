/* The inside of the carrier over D-Bus, which `calls/` also sees: it shares the connection. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/connection.h"
#include "bus/client.h"
#include "bus/numbers.h"
#include "bus/peers.h"
#include "bus/pending.h"
#include "bus/rules.h"
#include "post/address.h"
#include "post/carrier.h"
#include "util/clock.h"
#include "util/lock.h"
#include "util/loop.h"
#include "util/throttle.h"

typedef struct dn__dbus dn__dbus;

/* Delays between connection attempts: short after a bus restarts, long where there is none. */
#define DN__BACKOFF_MIN_US (10 * DN__US_PER_MS)
#define DN__BACKOFF_MAX_US (5 * DN__US_PER_SECOND)

/* About 64 posts: then the system call no longer costs much next to each of them. Small enough for
 * a Unix socket to accept whole or not at all. */
#define DN__OUTBOX_BYTES (16 * 1024)

/* Posts written as messages, which the bus gets in one system call. */
typedef struct dn__outbox {
        char *bytes;
        size_t n_bytes;
        unsigned n_posts;
        uint32_t n_added; /* so far, for the serials */
        bool has_reserved;
        bool is_blocked;   /* the socket is full: wait until it can be written to */
        uint64_t until_us; /* when posts of a flood stop gathering; 0: there is none */
} dn__outbox;

/* Every sd-bus call is made under the lock, by the loop's thread or a posting thread. The lock is
 * never held while waiting or while code of the layers above runs, except that of the client. */
struct dn__dbus {
        dn__carrier carrier;
        const dn__sink *sink;
        void *context; /* passed to the sink */
        dn__source source;
        dn__loop *loop; /* borrowed */
        dn__address address;
        const dn__wire *wire;
        dn__bus_client *client; /* borrowed; constant once started; NULL: none */
        _Atomic bool is_tried;  /* the first attempt to connect has finished */
        _Atomic bool is_wanted; /* for more than posts: looks for the bus until it is found */

        dn__lock lock;
        dn__condition changed; /* signals anything a caller may wait for */
        dn__connection connection DN__GUARDED_BY(&lock);
        dn__rules rules DN__GUARDED_BY(&lock);
        dn__peers peers DN__GUARDED_BY(&lock);
        dn__waiting waiting DN__GUARDED_BY(&lock); /* received posts waiting for their senders */
        dn__outbox outbox DN__GUARDED_BY(&lock);   /* sent before `pending` */
        dn__pending pending DN__GUARDED_BY(&lock);
        dn__numbers numbers DN__GUARDED_BY(&lock);
        dn__throttle flood DN__GUARDED_BY(&lock); /* of posts by a process with a table */
        dn__carrier_status counts DN__GUARDED_BY(&lock);
        dn__carrier_status reported DN__GUARDED_BY(&lock); /* connects and losses, to the sink */
        int failure DN__GUARDED_BY(&lock); /* not reported yet: why there is no connection; or 0 */
        int reported_failure DN__GUARDED_BY(&lock); /* the last, until there is one again; or 0 */
        uint64_t n_read DN__GUARDED_BY(&lock); /* of counts.n_sent: known to be read by the bus */
        int loss DN__GUARDED_BY(&lock);        /* why posts since the last flush are lost, or 0 */
        unsigned n_flushes DN__GUARDED_BY(&lock);   /* waiting for the bus to read: see flush.c */
        uint64_t reserved_us DN__GUARDED_BY(&lock); /* when a reserved name was last sent, or 0 */
        bool is_started DN__GUARDED_BY(&lock);
        bool is_closed DN__GUARDED_BY(&lock);
        size_t n_backlog DN__GUARDED_BY(&lock); /* messages since the last check for missed posts */
        uint64_t connect_us DN__GUARDED_BY(&lock);
        uint64_t search_us DN__GUARDED_BY(&lock); /* how long only posts look for the bus */
        bool is_resting DN__GUARDED_BY(&lock);    /* has not found it in that time */
        uint64_t connected_us DN__GUARDED_BY(&lock);
        uint64_t backoff_us DN__GUARDED_BY(&lock);
        uint64_t missed_us DN__GUARDED_BY(&lock); /* when to call may_have_missed */
        uint64_t close_us DN__GUARDED_BY(&lock);  /* when to stop sending */
};

/* For callers that know that a center has this carrier. */
static inline dn__dbus *dn__dbus_of(dn__carrier *carrier)
{
        return DN__CONTAINER(carrier, dn__dbus, carrier);
}

/* --- dbus.c: the operations of the carrier ---------------------------------------------------- */

/* Waits for any change; returns false at the deadline. */
bool dn__dbus_wait(dn__dbus *dbus, uint64_t *deadline_us) DN__REQUIRES(&dbus->lock);

/* The `start` of its operations, for posts. */
int dn__dbus_begin(dn__dbus *dbus, uint64_t *deadline_us);

/* Looks for the bus from now on: for a while, if the process only posts. */
void dn__dbus_seek(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);

/* --- flush.c: operations that wait until the bus has read what was sent ----------------------- */

int dn__dbus_flush(dn__carrier *carrier, uint64_t deadline_us);
int dn__dbus_take_loss(dn__carrier *carrier);
void dn__dbus_remain_known(dn__carrier *carrier);

/* --- send.c: sends posts to the bus, immediately or when it accepts them --------------------- */

/* The `post` of its operations. */
int dn__dbus_post(dn__carrier *carrier, dn__post *post);

/* Writes the posts that have gathered, if the socket accepts them. Returns whether there are none
 * any more. */
bool dn__dbus_write(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);

/* Sends some of the posts that wait. Returns false if the rest must keep waiting or there is
 * none. Sets `ret_sent` if there is one to be freed without the lock. */
bool dn__dbus_send_pending(dn__dbus *dbus, dn__pending_post **ret_sent)
        DN__REQUIRES(&dbus->lock);

/* Returns whether dn__dbus_send_pending() has work to do. */
bool dn__dbus_has_to_send(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);

/* Returns whether nothing waits for the bus. */
bool dn__dbus_is_drained(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);

/* Returns whether there is a bus, as a caller sees it: 0 or DN_NOT_CONNECTED. */
int dn__dbus_report(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);

/* Notes whether the bus has read everything sent, and returns it. Before the socket is used: see
 * dn__connection_is_read(). */
bool dn__dbus_note_read(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);

/* Notes that the connection is lost: what the bus had not read is lost with it. */
void dn__dbus_note_unread(dn__dbus *dbus) DN__REQUIRES(&dbus->lock);

/* --- receive.c: handles messages from the bus, posts or not ---------------------------------- */

/* Delivers a message, defers it until its sender is known, or drops it. */
void dn__dbus_handle(dn__dbus *dbus, sd_bus_message *message);

/* Delivers deferred posts whose senders are now known. */
void dn__dbus_handle_decided(dn__dbus *dbus);

/* --- source.c: the carrier as a source of its loop ------------------------------------------- */

extern const dn__source_ops dn__dbus_source_ops;
