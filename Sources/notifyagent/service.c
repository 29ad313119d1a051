/* A service on a bus whose value a source follows. */
#include "service.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agent.h"
#include "source.h"

#define BUS_NAME "org.freedesktop.DBus"
#define BUS_PATH "/org/freedesktop/DBus"
#define CALL_TIMEOUT_US (5 * UINT64_C(1000000))

static service *service_of(bus_user *user)
{
        return (service *)user;
}

/* --- What is known -------------------------------------------------------------------------- */

static void settle(service *service, bool is_there, uint64_t value)
{
        service->is_settled = true;
        service->is_there = is_there;
        service->value = value;
        source_service_changed(service->source);
}

static void forget(service *service)
{
        service->call = sd_bus_slot_unref(service->call);
        service->is_stale = false;
}

/* --- Asking --------------------------------------------------------------------------------- */

static bool is_unknown(const char *error)
{
        static const char *const errors[] = {
                SD_BUS_ERROR_UNKNOWN_METHOD,    SD_BUS_ERROR_UNKNOWN_INTERFACE,
                SD_BUS_ERROR_UNKNOWN_PROPERTY,  SD_BUS_ERROR_UNKNOWN_OBJECT,
                SD_BUS_ERROR_NAME_HAS_NO_OWNER, SD_BUS_ERROR_SERVICE_UNKNOWN,
                SD_BUS_ERROR_NOT_SUPPORTED,
        };

        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
                if (strcmp(error, errors[i]) == 0)
                        return true;
        return false;
}

/* A service that lacks the requested value counts as missing. */
static void be_refused(service *service, const sd_bus_error *error)
{
        const char *name = error->name ? error->name : "";

        if (service->kind->is_none && service->kind->is_none(name)) {
                settle(service, true, 0);
                return;
        }
        if (!is_unknown(name))
                source_complain(service->source, PROBLEM_REFUSED, "%s: %s", service->kind->name,
                                error->message ? error->message : name);
        settle(service, false, 0);
}

static int on_reply(sd_bus_message *reply, void *context, sd_bus_error *ret_error)
{
        service *service = context;
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        uint64_t value = 0;
        int r = 0;

        (void)ret_error;
        service->call = sd_bus_slot_unref(service->call);
        if (error)
                be_refused(service, error);
        else
                r = service->kind->answer(service, reply, &value);
        if (r < 0) {
                source_complain(service->source, PROBLEM_GARBAGE,
                                "%s does not answer as expected (%s)", service->kind->name,
                                strerror(-r));
                settle(service, false, 0);
        } else if (r > 0) {
                settle(service, true, value);
        }
        if (service->is_stale && !service->call)
                service_ask(service);
        return 0;
}

int service_call(service *service, const char *path, const char *interface, const char *member,
                 const char *types, ...)
{
        const bus_method method = { service->kind->name, path, interface, member,
                                    CALL_TIMEOUT_US };
        va_list arguments;
        int r;

        va_start(arguments, types);
        r = bus_callv(service->bus, &method, &service->call, on_reply, service, types, arguments);
        va_end(arguments);
        return r;
}

int service_get(service *service, const char *path, const char *interface, const char *property)
{
        return service_call(service, path, "org.freedesktop.DBus.Properties", "Get", "ss",
                            interface, property);
}

int service_answer_flag(service *service, sd_bus_message *reply, uint64_t *ret_value)
{
        int flag, r = sd_bus_message_read(reply, "v", "b", &flag);

        (void)service;
        if (r < 0)
                return r;
        *ret_value = (uint64_t)flag;
        return 1;
}

static bool has_question(const service_kind *kind)
{
        return kind->ask || kind->property;
}

static int send_question(service *service)
{
        const service_kind *kind = service->kind;

        return kind->ask ? kind->ask(service)
                         : service_get(service, kind->path, kind->name, kind->property);
}

void service_ask(service *service)
{
        int r;

        if (!has_question(service->kind)) {
                settle(service, true, 0);
                return;
        }
        if (!service->bus->connection)
                return;
        if (service->call) {
                service->is_stale = true;
                return;
        }
        service->is_stale = false;
        service->step = 0;
        r = send_question(service);
        if (r < 0)
                source_complain(service->source, PROBLEM_SYSTEM, "cannot ask %s: %s",
                                service->kind->name, strerror(-r));
}

/* --- Whether it is there --------------------------------------------------------------------- */

static int on_signal(sd_bus_message *message, void *context, sd_bus_error *error)
{
        service *service = context;

        (void)error;
        if (service->kind->heard)
                service->kind->heard(service, message);
        else
                service_ask(service);
        return 0;
}

static int on_owner(sd_bus_message *message, void *context, sd_bus_error *error)
{
        service *service = context;
        const char *owner = NULL;

        (void)error;
        if (sd_bus_message_read(message, "sss", NULL, NULL, &owner) < 0)
                return 0;
        forget(service);
        if (*owner)
                service_ask(service);
        else
                settle(service, false, 0);
        return 0;
}

static int on_started(sd_bus_message *reply, void *context, sd_bus_error *error)
{
        service *service = context;

        (void)error;
        if (service->is_there || service->call)
                return 0;
        if (sd_bus_message_is_method_error(reply, NULL))
                settle(service, false, 0);
        else
                service_ask(service);
        return 0;
}

/* The bus may start system services; in a session, services belong to a desktop. */
static int on_found(sd_bus_message *reply, void *context, sd_bus_error *error)
{
        service *service = context;
        const char *name = service->kind->name;

        (void)error;
        if (!sd_bus_message_is_method_error(reply, NULL)) {
                service_ask(service);
                return 0;
        }
        if (!service->kind->is_on_system_bus || !has_question(service->kind) ||
            sd_bus_call_method_async(service->bus->connection, NULL, BUS_NAME, BUS_PATH, BUS_NAME,
                                     "StartServiceByName", on_started, service, "su", name, 0) < 0)
                settle(service, false, 0);
        return 0;
}

static int on_rule(sd_bus_message *reply, void *context, sd_bus_error *error)
{
        service *service = context;

        (void)error;
        if (sd_bus_message_is_method_error(reply, NULL))
                source_complain(service->source, PROBLEM_SYSTEM,
                                "the %s bus refuses a rule for %s", bus_get_label(service->bus),
                                service->kind->name);
        return 0;
}

static int add_rule(service *service, unsigned index, const char *rule,
                    sd_bus_message_handler_t handler)
{
        return sd_bus_add_match_async(service->bus->connection, &service->slots[index], rule,
                                      handler, on_rule, service);
}

static int add_rules(service *service)
{
        const char *name = service->kind->name;
        char rule[512];
        int r;

        (void)snprintf(rule, sizeof(rule),
                       "type='signal',sender='" BUS_NAME "',path='" BUS_PATH "',"
                       "interface='" BUS_NAME "',member='NameOwnerChanged',arg0='%s'",
                       name);
        r = add_rule(service, 0, rule, on_owner);
        for (unsigned i = 0; r >= 0 && i < SERVICE_MAX_RULES && service->kind->rules[i]; i++) {
                (void)snprintf(rule, sizeof(rule), "type='signal',sender='%s',%s", name,
                               service->kind->rules[i]);
                r = add_rule(service, i + 1, rule, on_signal);
        }
        return r;
}

static void drop_rules(service *service)
{
        forget(service);
        for (unsigned i = 0; i <= SERVICE_MAX_RULES; i++)
                service->slots[i] = sd_bus_slot_unref(service->slots[i]);
}

static void bus_found(bus_user *user)
{
        service *service = service_of(user);
        int r;

        drop_rules(service);
        r = add_rules(service);
        if (r >= 0)
                r = sd_bus_call_method_async(service->bus->connection, NULL, BUS_NAME, BUS_PATH,
                                             BUS_NAME, "GetNameOwner", on_found, service, "s",
                                             service->kind->name);
        if (r >= 0)
                return;
        source_complain(service->source, PROBLEM_SYSTEM, "cannot look for %s: %s",
                        service->kind->name, strerror(-r));
        settle(service, false, 0);
}

static void bus_lost(bus_user *user)
{
        drop_rules(service_of(user));
        settle(service_of(user), false, 0);
}

void service_init(service *service, const service_kind *kind, source *source)
{
        agent *agent = source->agent;

        *service = (struct service){
                .user = { .found = bus_found, .lost = bus_lost },
                .kind = kind,
                .source = source,
                .bus = kind->is_on_system_bus ? &agent->system_bus : &agent->session_bus,
        };
        bus_add_user(service->bus, &service->user);
}

void service_deinit(service *service)
{
        drop_rules(service);
}
