/* The processes that make requests. */
#include "calls/callers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash.h"

/* Reports that a connection leaves the bus, or that any name loses its owner. */
#define RULE "type='signal',sender='" DN__BUS_NAME "',member='NameOwnerChanged',arg0='%s'"
#define RULE_BYTES (sizeof(RULE) + DN__CALL_NAME_BYTES)
#define WIDE_RULE "type='signal',sender='" DN__BUS_NAME "',member='NameOwnerChanged',arg2=''"

/* How many callers have a rule of their own. Beyond that, the wide rule wakes the process whenever
 * a connection leaves, but no number of callers reaches the limit that the bus has for rules. */
#define MAX_NARROW 16

dn__caller *dn__caller_find(dn__calls *calls, const char *name)
{
        size_t n_bytes = strlen(name);
        dn__map_entry *entry =
                dn__map_find(&calls->callers, dn__hash64(name, n_bytes), name, n_bytes);

        return entry ? DN__CONTAINER(entry, dn__caller, entry) : NULL;
}

static void set_idle(dn__calls *calls, dn__caller *caller, bool is_idle)
        DN__REQUIRES(&calls->dbus->lock)
{
        if (is_idle == caller->is_idle)
                return;
        caller->is_idle = is_idle;
        dn__list_remove(&caller->link);
        dn__list_append(is_idle ? &calls->idle_callers : &calls->busy_callers, &caller->link);
        calls->n_idle_callers += is_idle ? 1 : -1;
}

static void ask_nothing(dn__caller *caller)
{
        caller->question = sd_bus_slot_unref(caller->question);
        caller->process_question = sd_bus_slot_unref(caller->process_question);
}

static void tell_rule(dn__calls *calls, const char *method, const dn__caller *caller)
        DN__REQUIRES(&calls->dbus->lock)
{
        char rule[RULE_BYTES];

        (void)snprintf(rule, sizeof(rule), RULE, caller->name);
        dn__calls_tell_bus(calls, method, rule);
}

void dn__caller_forget(dn__calls *calls, dn__caller *caller)
{
        if (caller->has_rule)
                tell_rule(calls, "RemoveMatch", caller);
        calls->n_narrow -= caller->has_rule;
        set_idle(calls, caller, false);
        dn__list_remove(&caller->link);
        ask_nothing(caller);
        dn__map_remove(&calls->callers, &caller->entry);
        free(caller);
}

/* --- Their users -------------------------------------------------------------------------- */

static int answered_process(sd_bus_message *message, void *context, sd_bus_error *error)
{
        dn__caller *caller = context;
        uint32_t process;

        (void)error;
        caller->process_question = sd_bus_slot_unref(caller->process_question);
        if (!dn__connection_is_refusal(message) &&
            sd_bus_message_read_basic(message, 'u', &process) > 0)
                caller->process = (int32_t)process;
        return 1;
}

/* Not GetConnectionCredentials, whose answer may have a descriptor: on a bus of several users they
 * are not accepted. The answer about the user comes last. */
static int ask_who(dn__calls *calls, dn__caller *caller) DN__REQUIRES(&calls->dbus->lock)
{
        dn__connection *connection = &calls->dbus->connection;
        dn__question process = { "GetConnectionUnixProcessID", "s", caller->name,
                                 answered_process, caller, 0 };
        dn__question user = { "GetConnectionUnixUser", "s", caller->name, calls->answered_who,
                              caller, 0 };
        int r;

        ask_nothing(caller);
        r = dn__connection_ask(connection, &process, &caller->process_question);
        return r < 0 ? r : dn__connection_ask(connection, &user, &caller->question);
}

/* The bus does not know the user of every connection. */
dn__user_answer dn__caller_read_user(dn__calls *calls, dn__caller *caller, sd_bus_message *message)
{
        caller->question = sd_bus_slot_unref(caller->question);
        if (!dn__connection_is_bus(message))
                return ask_who(calls, caller) == 0 ? DN__USER_ASKED : DN__USER_GONE;
        if (sd_bus_message_is_method_error(message, NULL))
                return sd_bus_message_is_method_error(message, SD_BUS_ERROR_FAILED)
                               ? DN__USER_READ
                               : DN__USER_GONE;
        (void)sd_bus_message_read_basic(message, 'u', &caller->user);
        return DN__USER_READ;
}

/* --- When they leave ---------------------------------------------------------------------- */

static int answered_wide(sd_bus_message *message, void *context, sd_bus_error *error);

/* The callers whose rule was refused may have left since the bus answered about them. */
static void ask_for_wide(dn__calls *calls) DN__REQUIRES(&calls->dbus->lock)
{
        dn__question question = { "AddMatch", "s", WIDE_RULE, answered_wide, calls, 0 };

        if (!calls->has_wide)
                (void)dn__connection_ask(&calls->dbus->connection, &question, NULL);
        calls->has_wide = true;
        DN__LIST_EACH(dn__caller, caller, &calls->busy_callers, link)
                if (caller->question)
                        (void)ask_who(calls, caller);
}

static bool is_refusal(sd_bus_message *message)
{
        return dn__connection_is_refusal(message) &&
               !sd_bus_message_is_method_error(message, SD_BUS_ERROR_NO_REPLY);
}

/* If the bus refuses even this rule, it is requested again with the next caller. */
static int answered_wide(sd_bus_message *message, void *context, sd_bus_error *error)
{
        dn__calls *calls = context;

        (void)error;
        dn__cleanup_assert_locked(&calls->dbus->lock);
        if (!is_refusal(message))
                return 1;
        calls->has_wide = false;
        if (!calls->has_made_room) {
                calls->has_made_room = true;
                dn__rules_make_room(&calls->dbus->rules);
                ask_for_wide(calls);
        }
        return 1;
}

/* Answers come in order: those about the callers with refused rules are still to come. */
static int answered_narrow(sd_bus_message *message, void *context, sd_bus_error *error)
{
        dn__calls *calls = context;

        (void)error;
        dn__cleanup_assert_locked(&calls->dbus->lock);
        if (is_refusal(message))
                ask_for_wide(calls);
        return 1;
}

static void watch(dn__calls *calls, dn__caller *caller) DN__REQUIRES(&calls->dbus->lock)
{
        char rule[RULE_BYTES];
        dn__question question = { "AddMatch", "s", rule, answered_narrow, calls, 0 };

        if (!calls->has_wide && calls->n_narrow >= MAX_NARROW)
                ask_for_wide(calls);
        if (calls->has_wide)
                return;
        (void)snprintf(rule, sizeof(rule), RULE, caller->name);
        (void)dn__connection_ask(&calls->dbus->connection, &question, NULL);
        caller->has_rule = true;
        calls->n_narrow++;
}

void dn__callers_disconnected(dn__calls *calls)
{
        calls->has_wide = false;
        calls->has_made_room = false;
}

/* --- Finding them ------------------------------------------------------------------------- */

static dn__caller *make_caller(dn__calls *calls, const char *name) DN__REQUIRES(&calls->dbus->lock)
{
        size_t n_bytes = strlen(name);
        dn__caller *caller = calloc(1, sizeof(*caller) + n_bytes + 1);

        if (!caller)
                return NULL;
        memcpy(caller->name, name, n_bytes + 1);
        caller->entry = (dn__map_entry){
                .hash = dn__hash64(name, n_bytes),
                .key = caller->name,
                .n_key_bytes = n_bytes,
        };
        caller->calls = calls;
        caller->user = UINT32_MAX;
        dn__list_init(&caller->requests);
        if (dn__map_add(&calls->callers, &caller->entry) == 0) {
                dn__list_append(&calls->busy_callers, &caller->link);
                return caller;
        }
        free(caller);
        return NULL;
}

/* The rule comes before the question, so that no caller leaves unnoticed. */
dn__caller *dn__caller_get(dn__calls *calls, const char *name)
{
        dn__caller *caller = dn__caller_find(calls, name);

        if (caller)
                return caller;
        caller = make_caller(calls, name);
        if (!caller)
                return NULL;
        watch(calls, caller);
        if (ask_who(calls, caller) == 0)
                return caller;
        dn__caller_forget(calls, caller);
        return NULL;
}

/* --- Their requests ----------------------------------------------------------------------- */

void dn__caller_add(dn__calls *calls, dn__caller *caller, dn_request *request)
{
        set_idle(calls, caller, false);
        dn__list_append(&caller->requests, &request->link);
        caller->n_requests++;
        caller->n_bytes += request->n_bytes;
        request->caller = caller;
}

void dn__caller_remove(dn__calls *calls, dn_request *request)
{
        dn__caller *caller = request->caller;

        dn__list_remove(&request->link);
        request->caller = NULL;
        caller->n_requests--;
        caller->n_bytes -= request->n_bytes;
        set_idle(calls, caller, caller->n_requests == 0);
        while (calls->n_idle_callers > DN__CALLERS_MAX_IDLE)
                dn__caller_forget(calls, DN__CONTAINER(calls->idle_callers.next, dn__caller, link));
}
