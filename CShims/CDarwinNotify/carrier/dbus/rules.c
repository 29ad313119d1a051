/* The match rules of a connection: one per name, however many observers it has. */
#include "carrier/dbus/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "carrier/dbus/wire.h"
#include "util/hash.h"
#include "util/list.h"

static void ask(dn__rule *rule);

void dn__rules_init(dn__rules *rules, dn__connection *connection)
{
        *rules = (dn__rules){ .connection = connection };
        rules->wide.rules = rules;
}

void dn__rules_deinit(dn__rules *rules)
{
        dn__map_deinit(&rules->by_interface);
}

static dn__rule *next_rule(const dn__rules *rules, const dn__rule *rule)
{
        dn__map_entry *entry = dn__map_next(&rules->by_interface, rule ? &rule->entry : NULL);

        return entry ? DN__CONTAINER(entry, dn__rule, entry) : NULL;
}

/* At the limit, releases one rule to make room for the wide rule. Posts of that name made before
 * the wide rule takes effect are found by their generation. */
static void release_one_rule(dn__rules *rules)
{
        for (dn__rule *rule = next_rule(rules, NULL); rule; rule = next_rule(rules, rule)) {
                if (rule->state != DN__RULE_ACTIVE)
                        continue;
                dn__connection_remove_match(rules->connection, rule->interface);
                rule->state = DN__RULE_ABSENT;
                return;
        }
}

static void ask_for_absent(dn__rules *rules)
{
        for (dn__rule *rule = next_rule(rules, NULL); rule; rule = next_rule(rules, rule))
                if (rule->state == DN__RULE_ABSENT)
                        ask(rule);
}

static void refused(dn__rule *rule)
{
        dn__rules *rules = rule->rules;

        rule->state = DN__RULE_REFUSED;
        rules->has_gap = true;
        if (rule == &rules->wide) {
                ask_for_absent(rules);
        } else if (rules->wide.state == DN__RULE_ABSENT) {
                release_one_rule(rules);
                ask(&rules->wide);
        }
}

static int answered(sd_bus_message *reply, void *context, sd_bus_error *error)
{
        dn__rule *rule = context;

        (void)error;
        rule->call = sd_bus_slot_unref(rule->call);
        rule->rules->n_asked--;
        if (!sd_bus_message_is_method_error(reply, NULL))
                rule->state = DN__RULE_ACTIVE;
        else if (sd_bus_message_is_method_error(reply, SD_BUS_ERROR_NO_REPLY))
                rule->state = DN__RULE_ABSENT; /* connection lost: the next one asks again */
        else
                refused(rule);
        return 1;
}

static void ask(dn__rule *rule)
{
        char text[DN__WIRE_RULE_BYTES];
        dn__question question = { "AddMatch", text, answered, rule };

        dn__wire_write_rule(rule->rules->connection->wire, rule->interface, text);
        if (dn__connection_ask(rule->rules->connection, &question, &rule->call) < 0)
                return; /* the connection is broken and will reconnect */
        rule->state = DN__RULE_ASKED;
        rule->rules->n_asked++;
}

static void forget(dn__rule *rule)
{
        if (rule->call) {
                rule->call = sd_bus_slot_unref(rule->call);
                rule->rules->n_asked--;
        }
        rule->state = DN__RULE_ABSENT;
}

/* The wide rule may already be there because rules were refused. */
static void add_wide(dn__rules *rules)
{
        rules->n_wide++;
        if (rules->wide.state == DN__RULE_ABSENT && dn__connection_is_ready(rules->connection))
                ask(&rules->wide);
}

static bool is_wide_needed(const dn__rules *rules)
{
        for (dn__rule *rule = next_rule(rules, NULL); rule; rule = next_rule(rules, rule))
                if (rule->state == DN__RULE_REFUSED)
                        return true;
        return rules->n_wide > 0;
}

/* The bus installs the replaced rules before it removes this one: it reads in order. */
static void remove_wide(dn__rules *rules)
{
        rules->n_wide--;
        if (is_wide_needed(rules))
                return;
        if (dn__connection_is_ready(rules->connection))
                ask_for_absent(rules);
        if (rules->wide.state == DN__RULE_ASKED || rules->wide.state == DN__RULE_ACTIVE)
                dn__connection_remove_match(rules->connection, NULL);
        forget(&rules->wide);
}

int dn__rules_add(dn__rules *rules, const dn__name *name, dn__rule **ret_rule)
{
        char interface[DN__WIRE_INTERFACE_BYTES];
        dn__rule *rule;
        size_t n_bytes;

        if (name->is_prefix) {
                add_wide(rules);
                *ret_rule = &rules->wide;
                return 0;
        }
        n_bytes = dn__wire_write_interface(rules->connection->wire, name, interface);
        rule = calloc(1, sizeof(*rule) + n_bytes + 1);
        if (!rule)
                return -ENOMEM;
        rule->rules = rules;
        rule->name_hash = name->hash;
        rule->interface = memcpy((char *)(rule + 1), interface, n_bytes + 1);
        rule->entry = (dn__map_entry){ NULL, dn__hash64(interface, n_bytes), rule->interface,
                                       n_bytes };
        if (dn__map_add(&rules->by_interface, &rule->entry) < 0) {
                free(rule);
                return -ENOMEM;
        }
        if (dn__connection_is_ready(rules->connection) &&
            (rules->wide.state == DN__RULE_ABSENT || rules->wide.state == DN__RULE_REFUSED))
                ask(rule);
        *ret_rule = rule;
        return 0;
}

void dn__rules_remove(dn__rules *rules, dn__rule *rule)
{
        if (rule == &rules->wide) {
                remove_wide(rules);
                return;
        }
        if (rule->state == DN__RULE_ASKED || rule->state == DN__RULE_ACTIVE)
                dn__connection_remove_match(rules->connection, rule->interface);
        forget(rule);
        dn__map_remove(&rules->by_interface, &rule->entry);
        free(rule);
}

int dn__rules_get_state(const dn__rules *rules, const dn__rule *rule)
{
        if (rule->state == DN__RULE_ACTIVE || rules->wide.state == DN__RULE_ACTIVE)
                return 1;
        if (rule->state == DN__RULE_REFUSED && rules->wide.state == DN__RULE_REFUSED)
                return -ENOBUFS;
        return 0;
}

void dn__rules_connected(dn__rules *rules)
{
        if (rules->n_wide > 0)
                ask(&rules->wide);
        else
                ask_for_absent(rules);
}

void dn__rules_disconnected(dn__rules *rules)
{
        for (dn__rule *rule = next_rule(rules, NULL); rule; rule = next_rule(rules, rule))
                forget(rule);
        forget(&rules->wide);
}
