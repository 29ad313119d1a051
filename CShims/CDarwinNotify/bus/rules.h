/* The match rules of a connection: one for each name, whoever and how many observe it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/connection.h"
#include "util/map.h"

typedef enum dn__rule_state {
        DN__RULE_ABSENT, /* the bus does not have it */
        DN__RULE_ASKED,
        DN__RULE_ACTIVE,
        DN__RULE_REFUSED,
} dn__rule_state;

struct dn__rules;

typedef struct dn__rule {
        dn__map_entry entry;
        struct dn__rules *rules;
        dn__rule_state state;
        sd_bus_slot *call; /* the question, while it is ASKED */
        char *interface;   /* NULL: every name */
} dn__rule;

/* Guarded, like the connection, by the lock of its owner. */
typedef struct dn__rules {
        dn__connection *connection; /* borrowed; the rules outlive what it is connected to */
        dn__map by_interface;
        dn__rule wide; /* stands for all others where the bus accepts no more of them */
        size_t n_asked;
        bool has_gap; /* signals of a confirmed name may have been missed; set here, reset by the
                       * owner */
} dn__rules;

void dn__rules_init(dn__rules *rules, dn__connection *connection);
void dn__rules_deinit(dn__rules *rules);

/* Adds the rule of a name and, if the bus is there, asks for it. Returns 0 or -ENOMEM. The rule
 * lives until dn__rules_remove(). A name is added once. */
int dn__rules_add(dn__rules *rules, const char *name, size_t n_name_bytes, dn__rule **ret_rule);

void dn__rules_remove(dn__rules *rules, dn__rule *rule);

/* Returns 1 if signals of the name arrive, 0 if that is not decided, -ENOBUFS if the bus refuses
 * them. */
int dn__rules_get_state(const dn__rules *rules, const dn__rule *rule);

/* Asks for all rules, after the bus has said hello. */
void dn__rules_connected(dn__rules *rules);

/* Forgets what the bus had, before the connection is closed. */
void dn__rules_disconnected(dn__rules *rules);
