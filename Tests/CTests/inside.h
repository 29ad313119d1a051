/* Looks into the D-Bus carrier of a center, and changes what a bus or a clock would change: for
 * tests of orders that no public function can bring about. */
#pragma once

#include "delivery/hub.h"
#include "test.h"

#if !DN_HAS_BUS
/* For the cases on a bus, which are compiled but left out. */
typedef struct dn__dbus dn__dbus;
dn__dbus *dbus_of(dn_center *center);
bool dbus_has_settled(dn__dbus *dbus);
bool dbus_has_gap(dn__dbus *dbus);
bool dbus_is_native(dn__dbus *dbus);
bool dbus_counts_prefixes(dn__dbus *dbus);
void dbus_delay_rules(dn__dbus *dbus);
void dbus_finish_rules(dn__dbus *dbus);
#else

#include "bus/state.h"

static inline dn__dbus *dbus_of(dn_center *center)
{
        return dn__dbus_of(dn__hub_find(center)->bus);
}

/* Returns whether the bus has answered about every rule. */
static inline bool dbus_has_all_rules(dn__dbus *dbus)
{
        DN__AUTO_LOCK(&dbus->lock);
        return dbus->rules.n_asked == 0;
}

/* Returns whether the bus has all rules, and the center has checked what it missed before. */
static inline bool dbus_has_settled(dn__dbus *dbus)
{
        DN__AUTO_LOCK(&dbus->lock);
        return dbus->rules.n_asked == 0 && dbus->missed_us == DN__NEVER;
}

/* Returns whether the table is looked at once the bus has all rules. */
static inline bool dbus_has_gap(dn__dbus *dbus)
{
        DN__AUTO_LOCK(&dbus->lock);
        return dbus->rules.has_gap;
}

static inline bool dbus_is_native(dn__dbus *dbus)
{
        DN__AUTO_LOCK(&dbus->lock);
        return dbus->rules.is_native;
}

static inline bool dbus_has_wide_rule(dn__dbus *dbus)
{
        DN__AUTO_LOCK(&dbus->lock);
        return dbus->rules.wide.state != DN__RULE_ABSENT;
}

/* Returns whether the rule for prefixes leaves out what the table counts. */
static inline bool dbus_counts_prefixes(dn__dbus *dbus)
{
        DN__AUTO_LOCK(&dbus->lock);
        return dbus->rules.wide.is_counted;
}

static inline void dbus_set_region(dn__dbus *dbus, uint64_t region_id)
{
        DN__AUTO_LOCK(&dbus->lock);
        dn__rules_set_region(&dbus->rules, region_id);
}

/* As if a flush were waiting: posts gather until it ends. */
static inline void dbus_set_gathering(dn__dbus *dbus, bool is_gathering)
{
        DN__AUTO_LOCK(&dbus->lock);
        dbus->n_flushes = is_gathering;
        dn__loop_wake(dbus->loop);
}

/* As if the bus had been missing for long, then there for `us`. */
static inline void dbus_set_age(dn__dbus *dbus, uint64_t us)
{
        DN__AUTO_LOCK(&dbus->lock);
        dbus->backoff_us = DN__BACKOFF_MAX_US;
        dbus->connected_us -= us;
}

static inline uint64_t dbus_get_backoff_us(dn__dbus *dbus)
{
        DN__AUTO_LOCK(&dbus->lock);
        return dbus->backoff_us;
}

/* Counts a query about a rule that is asked later, as if the bus were slow. */
static inline void dbus_delay_rules(dn__dbus *dbus)
{
        DN__AUTO_LOCK(&dbus->lock);
        dbus->rules.n_asked++;
}

static inline int dbus_note_delayed(sd_bus_message *reply, void *context, sd_bus_error *error)
{
        ((dn__rules *)context)->n_asked--;
        return 1;
}

static inline void dbus_finish_rules(dn__dbus *dbus)
{
        dn__query query = {"GetId", "", NULL, dbus_note_delayed, &dbus->rules, 0};

        DN__AUTO_LOCK(&dbus->lock);
        CHECK_EQ(dn__connection_ask(&dbus->connection, &query, NULL), 0);
        dn__loop_wake(dbus->loop);
}

/* Returns whether there is a second connection, on which the bus has answered all but the delayed
 * query. */
static inline bool dbus_has_reconnected_slowly(dn__dbus *dbus)
{
        DN__AUTO_LOCK(&dbus->lock);
        return dbus->counts.n_connects == 2 && dbus->rules.n_asked == 1 &&
               dbus->missed_us == DN__NEVER;
}

#endif
