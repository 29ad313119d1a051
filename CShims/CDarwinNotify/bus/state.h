/* Internal state of the D-Bus carrier. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/address.h"
#include "bus/connection.h"
#include "bus/guest.h"
#include "bus/native.h"
#include "bus/numbers.h"
#include "bus/outbox.h"
#include "bus/peers.h"
#include "bus/pending.h"
#include "bus/rules.h"
#include "bus/waiting.h"
#include "post/sink.h"
#include "util/clock.h"
#include "util/list.h"
#include "util/lock.h"
#include "util/loop.h"
#include "util/throttle.h"

/* Why the connection was lost, or none was made. */
typedef struct dn__dbus_failure {
        bool has_happened;
        int reason; /* a negative errno */
} dn__dbus_failure;

typedef struct dn__dbus dn__dbus;

/* Every sd-bus call is made under the lock, by the loop's thread or a posting thread. The lock is
 * never held while waiting or while code outside this folder runs. */
struct dn__dbus {
        const dn__sink *sink;
        void *context; /* passed to the sink */
        dn__source source;
        dn__loop *loop; /* borrowed */
        dn__address address;
        const dn__wire *wire;
        dn__guest *guest;      /* borrowed; constant once started; NULL: none */
        _Atomic bool is_tried; /* the first attempt to connect has finished */

        dn__lock lock;
        dn__condition changed; /* signals anything a caller may wait for */
        dn__connection connection DN__GUARDED_BY(&lock);
        dn__rules rules DN__GUARDED_BY(&lock);
        dn__native native DN__GUARDED_BY(&lock);
        dn__peers peers DN__GUARDED_BY(&lock);
        dn__waiting waiting DN__GUARDED_BY(&lock); /* received posts waiting for their senders */
        dn__outbox outbox DN__GUARDED_BY(&lock);   /* sent before `pending` */
        dn__pending pending DN__GUARDED_BY(&lock);
        dn__pending in_flight DN__GUARDED_BY(&lock); /* at most one post: see send.c */
        dn__numbers numbers DN__GUARDED_BY(&lock);
        dn__throttle flood DN__GUARDED_BY(&lock); /* of posts by a process with a table */
        dn__dbus_counts counts DN__GUARDED_BY(&lock);
        dn__dbus_counts told DN__GUARDED_BY(&lock);    /* see tell.c */
        dn__dbus_failure failure DN__GUARDED_BY(&lock);   /* likewise */
        uint64_t n_changes_told DN__GUARDED_BY(&lock); /* connects and losses that the sink knows */
        uint64_t n_read DN__GUARDED_BY(&lock); /* of counts.n_sent: known to be read by the bus */
        int loss DN__GUARDED_BY(&lock);        /* why posts since the last flush are lost, or 0 */
        unsigned n_flushes DN__GUARDED_BY(&lock);   /* waiting for the bus to read: see flush.c */
        uint64_t reserved_us DN__GUARDED_BY(&lock); /* when a reserved name was last sent, or 0 */
        bool is_started DN__GUARDED_BY(&lock);
        bool is_closed DN__GUARDED_BY(&lock);
        bool has_unasked DN__GUARDED_BY(&lock); /* signals may have preceded a rule */
        size_t n_backlog DN__GUARDED_BY(&lock); /* messages since the last check for missed posts */
        uint64_t connect_us DN__GUARDED_BY(&lock);
        uint64_t connected_us DN__GUARDED_BY(&lock);
        uint64_t backoff_us DN__GUARDED_BY(&lock);
        uint64_t missed_us DN__GUARDED_BY(&lock); /* when to call may_have_missed */
        uint64_t close_us DN__GUARDED_BY(&lock);  /* when to stop sending */
};
