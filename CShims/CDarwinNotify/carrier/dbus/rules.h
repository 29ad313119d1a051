/* The match rules of a connection: one per name, however many observers it has. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "carrier/dbus/connection.h"
#include "util/map.h"

typedef enum dn__rule_state {
        DN__RULE_ABSENT, /* not installed on the bus */
        DN__RULE_ASKED,
        DN__RULE_ACTIVE,
        DN__RULE_REFUSED,
} dn__rule_state;

struct dn__rules;

typedef struct dn__rule {
        dn__map_entry entry;
        struct dn__rules *rules;
        dn__rule_state state;
        sd_bus_slot *call; /* the pending question while ASKED */
        uint64_t name_hash;
        char *interface; /* NULL: every name */
} dn__rule;

/* Protected, like the connection, by its owner's lock. */
typedef struct dn__rules {
        dn__connection *connection; /* borrowed; the rules outlive each connection */
        dn__map by_interface;
        dn__rule wide; /* replaces all others while active, because the bus accepts no more of them
                        * or every name is wanted */
        size_t n_wide; /* how often it was added for prefixes */
        size_t n_asked;
        bool has_gap; /* signals of a confirmed name may have been missed; set here, reset by the
                       * owner */
} dn__rules;

void dn__rules_init(dn__rules *rules, dn__connection *connection);
void dn__rules_deinit(dn__rules *rules);

/* Adds the rule of a name and, if connected, requests it. Returns 0 or -ENOMEM. The rule lives
 * until dn__rules_remove(). A name may be added only once; prefixes use the rule of every name,
 * which is added once for each prefix. */
int dn__rules_add(dn__rules *rules, const dn__name *name, dn__rule **ret_rule);

void dn__rules_remove(dn__rules *rules, dn__rule *rule);

/* Returns 1 if signals of the name arrive, 0 if that is undecided, -ENOBUFS if the bus refuses
 * them. */
int dn__rules_get_state(const dn__rules *rules, const dn__rule *rule);

/* Requests all rules after the bus has said hello. */
void dn__rules_connected(dn__rules *rules);

/* Forgets what the bus had, before the connection is closed. */
void dn__rules_disconnected(dn__rules *rules);
