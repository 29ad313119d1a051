/* Match rules that report when names on the bus change hands. */
#include "calls/name-rules.h"

#include <stdio.h>

#define RULE "type='signal',sender='" DN__BUS_NAME "',member='NameOwnerChanged',arg0='%s'"
#define RULE_BYTES (sizeof(RULE) + DN__CALL_NAME_BYTES)

/* How many names have a rule of their own. Beyond that, the wide rule wakes the process whenever
 * any name changes hands, but no number of names reaches the limit that the bus has for rules. */
#define MAX_NARROW 16

static bool is_refused(sd_bus_message *answer)
{
        return dn__connection_is_refusal(answer) &&
               !sd_bus_message_is_method_error(answer, SD_BUS_ERROR_NO_REPLY);
}

static int answered_wide(sd_bus_message *message, void *context, sd_bus_error *error);

/* The names whose rule was refused may have changed hands since the bus answered about them. */
static void ask_for_wide(dn__name_rules *rules) DN__REQUIRES(&rules->calls->dbus->lock)
{
        dn__query query = { "AddMatch", "s", rules->wide, answered_wide, rules, 0 };

        if (!rules->has_wide)
                (void)dn__connection_ask(&rules->calls->dbus->connection, &query, NULL);
        rules->has_wide = true;
        rules->ask_again(rules->calls);
}

/* If the bus refuses even this rule, it is requested again with the next name. */
static int answered_wide(sd_bus_message *message, void *context, sd_bus_error *error)
{
        dn__name_rules *rules = context;

        (void)error;
        dn__cleanup_assert_locked(&rules->calls->dbus->lock);
        if (!is_refused(message))
                return 1;
        rules->has_wide = false;
        if (!rules->has_made_room) {
                rules->has_made_room = true;
                dn__rules_make_room(&rules->calls->dbus->rules);
                ask_for_wide(rules);
        }
        return 1;
}

/* Replies come in order: those about the names with refused rules are still to come. */
static int answered_narrow(sd_bus_message *message, void *context, sd_bus_error *error)
{
        dn__name_rules *rules = context;

        (void)error;
        dn__cleanup_assert_locked(&rules->calls->dbus->lock);
        if (is_refused(message))
                ask_for_wide(rules);
        return 1;
}

bool dn__name_rules_add(dn__name_rules *rules, const char *name)
{
        char rule[RULE_BYTES];
        dn__query query = { "AddMatch", "s", rule, answered_narrow, rules, 0 };

        dn__cleanup_assert_locked(&rules->calls->dbus->lock);
        if (!rules->has_wide && rules->n_narrow >= MAX_NARROW)
                ask_for_wide(rules);
        if (rules->has_wide)
                return false;
        (void)snprintf(rule, sizeof(rule), RULE, name);
        (void)dn__connection_ask(&rules->calls->dbus->connection, &query, NULL);
        rules->n_narrow++;
        return true;
}

void dn__name_rules_remove(dn__name_rules *rules, const char *name)
{
        char rule[RULE_BYTES];

        dn__cleanup_assert_locked(&rules->calls->dbus->lock);
        (void)snprintf(rule, sizeof(rule), RULE, name);
        dn__calls_tell_bus(rules->calls, "RemoveMatch", rule);
        rules->n_narrow--;
}

void dn__name_rules_disconnected(dn__name_rules *rules)
{
        rules->n_narrow = 0;
        rules->has_wide = false;
        rules->has_made_room = false;
}
