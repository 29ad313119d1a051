/* The match rules of a connection: one per name, however many observers it has. */
#include "bus/rules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

#define TABLE_PREFIX "org.darwinnotify.Table."
#define TABLE_BYTES (sizeof(TABLE_PREFIX) + 1 + 16)

static void ask(dn__rule *rule);

void dn__rules_init(dn__rules *rules, dn__connection *connection)
{
        *rules = (dn__rules){ .connection = connection };
        rules->wide.rules = rules;
        dn__list_init(&rules->wide.numbers);
}

static void tell_removal(const dn__rule *rule)
{
        dn__connection *connection = rule->rules->connection;
        char text[DN__WIRE_RULE_BYTES];

        dn__wire_write_rule(connection->wire, rule->interface, rule->is_exact, text);
        dn__connection_tell(connection, "RemoveMatch", text);
}

/* At the limit, releases one rule to make room for the wide rule. Posts of that name made before
 * the wide rule takes effect are found by their generation. */
static void release_one_rule(dn__rules *rules)
{
        DN__MAP_EACH(dn__rule, rule, &rules->by_interface, entry) {
                if (rule->state != DN__RULE_ACTIVE)
                        continue;
                tell_removal(rule);
                rule->state = DN__RULE_ABSENT;
                return;
        }
}

void dn__rules_make_room(dn__rules *rules)
{
        if (rules->wide.state == DN__RULE_ABSENT) {
                release_one_rule(rules);
                ask(&rules->wide);
        }
        release_one_rule(rules);
        rules->has_gap = true;
}

static void ask_for_absent(dn__rules *rules)
{
        DN__MAP_EACH(dn__rule, rule, &rules->by_interface, entry)
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
        if (!dn__connection_is_refusal(reply))
                rule->state = DN__RULE_ACTIVE;
        else
                refused(rule);
        return 1;
}

/* Returns whether the table counts each name that a rule covers. The wide rule covers all names. */
static bool counts_all(const dn__rule *rule)
{
        if (rule == &rule->rules->wide)
                DN__MAP_EACH(dn__rule, other, &rule->rules->by_interface, entry)
                        if (!other->is_counted)
                                return false;
        return rule->is_counted;
}

static void ask(dn__rule *rule)
{
        char text[DN__WIRE_RULE_BYTES];
        dn__query query = { "AddMatch", "s", text, answered, rule, 0 };

        rule->is_exact = (rule->rules->is_native || rule->rules->list_call) && counts_all(rule);
        dn__wire_write_rule(rule->rules->connection->wire, rule->interface, rule->is_exact, text);
        if (dn__connection_ask(rule->rules->connection, &query, &rule->call) < 0)
                return; /* the connection is broken and will reconnect */
        rule->state = DN__RULE_ASKED;
        rule->rules->n_asked++;
        rule->rules->n_requested++;
}

static void forget(dn__rule *rule)
{
        if (rule->call) {
                rule->call = sd_bus_slot_unref(rule->call);
                rule->rules->n_asked--;
        }
        rule->state = DN__RULE_ABSENT;
}

static bool is_on_bus(const dn__rule *rule)
{
        return rule->state == DN__RULE_ASKED || rule->state == DN__RULE_ACTIVE;
}

/* The bus reads in order: it has the new rule before it removes the old one. In case the bus is at
 * its limit, a rule that the wide one covers makes room for it. */
static void widen(dn__rule *rule)
{
        dn__rule narrow = *rule;

        if (!rule->is_exact || !is_on_bus(rule))
                return;
        if (rule == &rule->rules->wide)
                release_one_rule(rule->rules);
        forget(rule);
        ask(rule);
        tell_removal(&narrow);
        rule->rules->has_gap = true;
}

/* --- Whether the connection is native -------------------------------------------------------- */

static void write_table_name(uint64_t region_id, char ret_name[TABLE_BYTES])
{
        (void)snprintf(ret_name, TABLE_BYTES, TABLE_PREFIX "t%016" PRIx64, region_id);
}

static void release_name(dn__rules *rules)
{
        char name[TABLE_BYTES];

        write_table_name(rules->named, name);
        dn__connection_tell(rules->connection, "ReleaseName", name);
        rules->named = 0;
        rules->has_name = false;
}

static int name_answered(sd_bus_message *answer, void *context, sd_bus_error *error)
{
        dn__rules *rules = context;

        (void)error;
        rules->name_call = sd_bus_slot_unref(rules->name_call);
        rules->has_name = !dn__connection_is_refusal(answer);
        return 1;
}

/* Returns whether ours is the only table on the bus; false if the names cannot be read. */
static bool is_alone(const dn__rules *rules, sd_bus_message *answer)
{
        char own[TABLE_BYTES];
        const char *name;
        int r;

        write_table_name(rules->named, own);
        if (dn__connection_is_refusal(answer) ||
            sd_bus_message_enter_container(answer, 'a', "s") <= 0)
                return false;
        while ((r = sd_bus_message_read_basic(answer, 's', &name)) > 0)
                if (dn__text_begins_with(name, TABLE_PREFIX) && strcmp(name, own) != 0)
                        return false;
        return r == 0;
}

/* Sets whether the connection is native; if not, widens every rule to cover all paths. */
static void decide_native(dn__rules *rules, bool is_native)
{
        rules->n_asked -= rules->list_call != NULL;
        rules->list_call = sd_bus_slot_unref(rules->list_call);
        rules->is_native = is_native;
        if (is_native)
                return;
        widen(&rules->wide);
        DN__MAP_EACH(dn__rule, rule, &rules->by_interface, entry)
                widen(rule);
}

/* The bus answers in order: the request for the name has been answered. */
static int list_answered(sd_bus_message *answer, void *context, sd_bus_error *error)
{
        dn__rules *rules = context;

        (void)error;
        decide_native(rules, rules->has_name && is_alone(rules, answer));
        return 1;
}

/* Until the answer arrives, counted names get rules as if the connection were native. The bus
 * answers in order: when it confirms such a rule, it has already answered this query. */
static void ask_for_name(dn__rules *rules)
{
        char name[TABLE_BYTES];
        dn__query for_name = { "RequestName", "su", name, name_answered, rules, 0 };
        dn__query for_list = { "ListNames", "", NULL, list_answered, rules, 0 };

        write_table_name(rules->region_id, name);
        (void)snprintf(rules->path, sizeof(rules->path), "%s/t%016" PRIx64,
                       rules->connection->wire->path, rules->region_id);
        if (dn__connection_ask(rules->connection, &for_name, &rules->name_call) < 0 ||
            dn__connection_ask(rules->connection, &for_list, &rules->list_call) < 0)
                return; /* the connection is broken and will reconnect */
        rules->asked = rules->named = rules->region_id;
        rules->n_asked++;
}

/* Asks whether the connection is native, if that is useful and still possible: the bus must have
 * none of our rules yet. A newcomer of this table stays one. */
static void find_out(dn__rules *rules)
{
        if (rules->region_id != rules->asked && rules->region_id &&
            dn__connection_is_ready(rules->connection) && !rules->n_requested)
                ask_for_name(rules);
}

void dn__rules_note_post(dn__rules *rules)
{
        if (rules->has_posted)
                find_out(rules);
        rules->has_posted = true;
}

void dn__rules_set_region(dn__rules *rules, uint64_t region_id)
{
        if (rules->region_id == region_id)
                return;
        rules->region_id = region_id;
        if (!dn__connection_is_ready(rules->connection))
                return;
        rules->name_call = sd_bus_slot_unref(rules->name_call);
        decide_native(rules, false);
        if (rules->named && !rules->n_requested)
                release_name(rules);
}

void dn__rules_settle(dn__rules *rules)
{
        if (rules->named && !rules->is_native && !rules->list_call)
                release_name(rules);
}

const char *dn__rules_get_path(const dn__rules *rules, const dn__post *post)
{
        return rules->is_native && post->generation && post->region_id == rules->named
                       ? rules->path
                       : rules->connection->wire->path;
}

/* --- Adding and removing ---------------------------------------------------------------------- */

/* The wide rule may already be there because rules were refused. */
static void add_wide(dn__rules *rules)
{
        rules->n_wide++;
        if (rules->wide.state == DN__RULE_ABSENT && dn__connection_is_ready(rules->connection))
                ask(&rules->wide);
}

static bool is_wide_needed(const dn__rules *rules)
{
        DN__MAP_EACH(dn__rule, rule, &rules->by_interface, entry)
                if (rule->state == DN__RULE_REFUSED)
                        return true;
        return rules->n_wide > 0;
}

static void drop_wide(dn__rules *rules)
{
        if (is_on_bus(&rules->wide))
                tell_removal(&rules->wide);
        forget(&rules->wide);
}

/* The bus installs the replaced rules before it removes this one: it reads in order. */
static void remove_wide(dn__rules *rules)
{
        rules->n_wide--;
        if (is_wide_needed(rules))
                return;
        if (dn__connection_is_ready(rules->connection))
                ask_for_absent(rules);
        drop_wide(rules);
}

int dn__rules_add(dn__rules *rules, const dn__name *name, bool is_counted, dn__rule **ret_rule)
{
        char interface[DN__WIRE_INTERFACE_BYTES];
        dn__rule *rule;
        size_t n_bytes;

        find_out(rules);
        if (name->is_prefix) {
                dn__rule_set_counted(&rules->wide, is_counted);
                add_wide(rules);
                *ret_rule = &rules->wide;
                return 0;
        }
        n_bytes = dn__wire_write_interface(rules->connection->wire, name, interface);
        rule = calloc(1, sizeof(*rule) + n_bytes + 1);
        if (!rule)
                return -ENOMEM;
        rule->rules = rules;
        rule->is_counted = is_counted;
        dn__list_init(&rule->numbers);
        rule->interface = memcpy((char *)(rule + 1), interface, n_bytes + 1);
        rule->entry = dn__map_key(rule->interface, n_bytes);
        if (dn__map_add(&rules->by_interface, &rule->entry) < 0) {
                free(rule);
                return -ENOMEM;
        }
        if (!is_counted)
                widen(&rules->wide);
        if (dn__connection_is_ready(rules->connection) &&
            (rules->wide.state == DN__RULE_ABSENT || rules->wide.state == DN__RULE_REFUSED))
                ask(rule);
        *ret_rule = rule;
        return 0;
}

/* Returns whether a name has no rule but the wide one. */
static bool covers_any(const dn__rules *rules)
{
        DN__MAP_EACH(dn__rule, rule, &rules->by_interface, entry)
                if (!is_on_bus(rule))
                        return true;
        return false;
}

void dn__rules_remove(dn__rules *rules, dn__rule *rule)
{
        bool was_covered = !is_on_bus(rule);

        if (rule == &rules->wide) {
                remove_wide(rules);
                return;
        }
        if (!was_covered)
                tell_removal(rule);
        forget(rule);
        dn__map_remove(&rules->by_interface, &rule->entry);
        free(rule);
        if (was_covered && rules->n_wide == 0 && !covers_any(rules))
                drop_wide(rules);
}

void dn__rule_set_counted(dn__rule *rule, bool is_counted)
{
        rule->is_counted = is_counted;
        if (is_counted)
                return;
        widen(&rule->rules->wide);
        widen(rule);
}

bool dn__rules_bring_all(const dn__rules *rules)
{
        return is_on_bus(&rules->wide);
}

dn__rule *dn__rules_find(dn__rules *rules, const dn__name *name)
{
        char interface[DN__WIRE_INTERFACE_BYTES];
        dn__map_entry *entry;

        (void)dn__wire_write_interface(rules->connection->wire, name, interface);
        entry = dn__map_find_text(&rules->by_interface, interface);
        if (entry)
                return DN__CONTAINER(entry, dn__rule, entry);
        return dn__rules_bring_all(rules) ? &rules->wide : NULL;
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
        if (rules->n_wide > 0 || rules->by_interface.n_entries > 0)
                find_out(rules);
        if (rules->n_wide > 0)
                ask(&rules->wide);
        else
                ask_for_absent(rules);
}

void dn__rules_disconnected(dn__rules *rules)
{
        DN__MAP_EACH(dn__rule, rule, &rules->by_interface, entry)
                forget(rule);
        forget(&rules->wide);
        rules->name_call = sd_bus_slot_unref(rules->name_call);
        decide_native(rules, false);
        rules->n_requested = 0;
        rules->asked = rules->named = 0;
        rules->has_name = false;
}
