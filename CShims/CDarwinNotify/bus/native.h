/* Whether this connection is native to its table. If it is, only receivers that cannot hear its
 * posts through the table need to hear them from the bus.
 *
 * Each process that shares a table asks the bus for the table's name, behind the others, then for
 * the names on the bus. It is native if it got the name and there is no other table. (The bus
 * answers one process after the other, so the later of two tables sees the earlier.) A native posts
 * on a path of its own, which natives do not match for names that the table counts. All others are
 * newcomers, which post on the plain path and match both. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bus/connection.h"
#include "bus/rules.h"
#include "bus/wire.h"
#include "post/post.h"

/* Protected, like the connection and the rules, by its owner's lock. */
typedef struct dn__native {
        dn__connection *connection; /* borrowed, as the rules are; both outlive each connection */
        dn__rules *rules;
        uint64_t region;   /* the table's; 0: there is none */
        uint64_t named;    /* the region whose name the bus was asked for; 0: none */
        bool has_name;     /* it was given */
        bool is_native;
        bool has_posted;
        sd_bus_slot *name_call; /* the pending questions */
        sd_bus_slot *list_call;
        char path[DN__WIRE_PATH_BYTES]; /* of our posts while native */
} dn__native;

void dn__native_init(dn__native *native, dn__connection *connection, dn__rules *rules);

/* Starts to find out, if that is useful and still possible: while the bus has no rules of ours.
 * Call before the first rule is requested. */
void dn__native_begin(dn__native *native);

/* Notes that a post is made. A process that only posts finds out from its second one on: the first
 * would not wait for the answer. */
static inline void dn__native_note_post(dn__native *native)
{
        if (native->is_native)
                return;
        if (native->has_posted)
                dn__native_begin(native);
        native->has_posted = true;
}

/* Forgets what the bus knew, before the connection is closed. */
void dn__native_disconnected(dn__native *native);

/* The process has got a table, or another one. With rules, which were chosen for the table before,
 * the connection is a newcomer's from now on. */
void dn__native_set_region(dn__native *native, uint64_t region);

/* Gives the name back that a newcomer no longer needs, once its rules are in place. */
void dn__native_settle(dn__native *native);

/* Returns the path for a post that is written now, borrowed. */
const char *dn__native_get_path(const dn__native *native, const dn__post *post);
