/* The match rules of a connection: one per name, however many observers it has.
 *
 *   connection                        posts on             its rules match
 *   native, name in the table         its table's path     the plain path
 *   native, name not in the table     the plain path       both paths
 *   newcomer                          the plain path       both paths
 *   without a table                   the plain path       both paths
 *
 * A connection is native if its table is the only one on the bus. To find out, it asks the bus for
 * the name of its table, for which it queues behind the others, then for all names. The bus answers
 * one process after the other, so the later of two tables sees the earlier. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/connection.h"
#include "bus/wire.h"
#include "post/post.h"
#include "util/list.h"
#include "util/map.h"

typedef enum dn__rule_state {
        DN__RULE_ABSENT, /* not installed on the bus */
        DN__RULE_ASKED,
        DN__RULE_ACTIVE,
        DN__RULE_REFUSED,
} dn__rule_state;

struct dn__rules;

/* A subscription on the bus: the match rule of a held name. */
typedef struct dn__subscription {
        dn__map_entry entry;
        struct dn__rules *rules;
        dn__rule_state state;
        sd_bus_slot *call; /* the pending query while ASKED */
        bool is_counted;   /* by the table */
        bool is_exact;     /* what the bus has, or was asked for, covers the plain path only */
        dn__link numbers;  /* of the posts that it matches: see numbers.h */
        char *interface;   /* NULL: every name */
} dn__rule;

/* Protected, like the connection, by its owner's lock. */
typedef struct dn__rules {
        dn__connection *connection; /* borrowed; the rules outlive each connection */
        dn__map by_interface;
        dn__rule wide; /* replaces all others while active, because the bus accepts no more of them
                        * or every name is wanted */
        size_t n_wide; /* how often it was added for prefixes */
        size_t n_requested; /* from the bus by this connection, in all */
        size_t n_asked;     /* pending requests, including ListNames */
        uint64_t region_id; /* the table's; 0: there is none */
        uint64_t asked;     /* the id that this connection last asked about; 0: none */
        uint64_t named;     /* the id in the name that the bus was asked for; 0: none */
        bool has_name;      /* the bus has accepted that request */
        bool is_native;     /* counted names need the plain path only */
        bool has_posted;
        sd_bus_slot *name_call; /* pending RequestName */
        sd_bus_slot *list_call; /* pending ListNames: its answer sets `is_native` */
        char path[DN__WIRE_PATH_BYTES]; /* the path of our posts while native */
        bool has_gap; /* signals may have preceded a rule; set here and by the owner, who resets
                       * it */
} dn__rules;

void dn__rules_init(dn__rules *rules, dn__connection *connection);

/* Adds the rule of a name and, if connected, requests it. Returns 0 or -ENOMEM. The rule lives
 * until dn__rules_remove(). A name may be added only once; prefixes use the rule of every name,
 * which is added once for each prefix. */
int dn__rules_add(dn__rules *rules, const dn__name *name, bool is_counted, dn__rule **ret_rule);

/* Makes room for a rule of somebody else on a bus that accepts no more: the rule of every name
 * takes over from two others. */
void dn__rules_make_room(dn__rules *rules);

/* Sets whether the table counts the name of a rule; for the rule of every name, whether posts that
 * the table counts are marked for this process. */
void dn__rule_set_counted(dn__rule *rule, bool is_counted);

void dn__rules_remove(dn__rules *rules, dn__rule *rule);

/* Returns the rule that matches the posts of a name: its own, else that of every name if it is on
 * the bus, else NULL. */
dn__rule *dn__rules_find(dn__rules *rules, const dn__name *name);

/* Returns whether the rule of every name is on the bus. */
bool dn__rules_bring_all(const dn__rules *rules);

/* Returns 1 if signals of the name arrive, 0 if that is undecided, -ENOBUFS if the bus refuses
 * them. */
int dn__rules_get_state(const dn__rules *rules, const dn__rule *rule);

/* Notes that a newcomer posts. A process that only posts does not ask whether it is native before
 * its second post: the first would not wait for the answer. */
void dn__rules_note_post(dn__rules *rules);

/* Sets the table of this process. If connected, the process becomes a newcomer: its rules were
 * chosen for the table before. */
void dn__rules_set_region(dn__rules *rules, uint64_t region_id);

/* Releases the table's name, which a newcomer no longer needs. Call once its rules are active. */
void dn__rules_settle(dn__rules *rules);

/* Returns the path on which to send a post now, borrowed. */
const char *dn__rules_get_path(const dn__rules *rules, const dn__post *post);

/* Requests all rules after the bus has said hello. */
void dn__rules_connected(dn__rules *rules);

/* Forgets what the bus had, before the connection is closed. */
void dn__rules_disconnected(dn__rules *rules);
