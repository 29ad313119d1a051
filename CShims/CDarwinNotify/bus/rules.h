/* The match rules of a connection: one per name, however many observers it has. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/connection.h"
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
        bool is_counted;   /* by the table */
        bool is_exact;     /* what the bus has, or was asked for, covers the plain path only */
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
        size_t n_requested; /* from the bus by this connection, in all */
        size_t n_asked;     /* questions, the one awaited below included */
        bool is_native;     /* counted names need the plain path only; set by native.c */
        bool is_undecided;  /* whether that is so */
        bool has_gap; /* signals may have preceded a rule; set here and by the owner, who resets
                       * it */
} dn__rules;

void dn__rules_init(dn__rules *rules, dn__connection *connection);
void dn__rules_deinit(dn__rules *rules);

/* Adds the rule of a name and, if connected, requests it. Returns 0 or -ENOMEM. The rule lives
 * until dn__rules_remove(). A name may be added only once; prefixes use the rule of every name,
 * which is added once for each prefix. */
int dn__rules_add(dn__rules *rules, const dn__name *name, bool is_counted, dn__rule **ret_rule);

/* Notes that the table counts the name of a rule now, or no longer; for the rule of every name,
 * whether posts that the table counts are marked for this process. */
void dn__rule_set_counted(dn__rule *rule, bool is_counted);

void dn__rules_remove(dn__rules *rules, dn__rule *rule);

/* Returns 1 if signals of the name arrive, 0 if that is undecided, -ENOBUFS if the bus refuses
 * them. */
int dn__rules_get_state(const dn__rules *rules, const dn__rule *rule);

static inline bool dn__rules_are_empty(const dn__rules *rules)
{
        return rules->by_interface.n_entries == 0 && rules->n_wide == 0;
}

/* Returns whether the bus may have rules of this connection. */
static inline bool dn__rules_are_requested(const dn__rules *rules)
{
        return rules->n_requested > 0;
}

/* The owner has asked whether it is native, before any rule, and will learn it. Until then counted
 * names get rules as if it were. The bus answers in order: when it confirms one of them, the owner
 * has decided. */
void dn__rules_await_decision(dn__rules *rules);

/* Sets whether the owner is native; if not, every rule is made to cover all paths. */
void dn__rules_decide(dn__rules *rules, bool is_native);

/* Requests all rules after the bus has said hello. */
void dn__rules_connected(dn__rules *rules);

/* Forgets what the bus had, before the connection is closed. */
void dn__rules_disconnected(dn__rules *rules);
