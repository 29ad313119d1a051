/* The manager of the user's units: systemd, on the session bus. */
#include "starts/manager.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANAGER "org.freedesktop.systemd1"
#define MANAGER_PATH "/org/freedesktop/systemd1"
#define MANAGER_INTERFACE MANAGER ".Manager"
#define UNIT_INTERFACE MANAGER ".Unit"
#define PROPERTIES "org.freedesktop.DBus.Properties"

/* It answers at once, unless it gets no processor time. */
#define TIMEOUT_US (30 * UINT64_C(1000000))

static void ask_for_folders(manager *manager);

/* --- Its files ------------------------------------------------------------------------------- */

static void free_folders(manager *manager)
{
        for (char **folder = manager->folders; folder && *folder; folder++)
                free(*folder);
        free(manager->folders);
        manager->folders = NULL;
}

static int on_folders(sd_bus_message *reply, void *context, sd_bus_error *error)
{
        manager *manager = context;

        (void)error;
        manager->call = sd_bus_slot_unref(manager->call);
        manager->is_settled = true;
        if (sd_bus_message_is_method_error(reply, SD_BUS_ERROR_NO_REPLY)) {
                ask_for_folders(manager); /* it does not respond, or has just ended */
                return 0;
        }
        manager->is_there = !sd_bus_message_is_method_error(reply, NULL);
        if (!manager->is_there)
                return 0;
        free_folders(manager);
        if (sd_bus_message_enter_container(reply, 'v', "as") >= 0)
                (void)sd_bus_message_read_strv(reply, &manager->folders);
        manager->changed(manager->context);
        if (manager->is_stale)
                ask_for_folders(manager);
        return 0;
}

static void ask_for_folders(manager *manager)
{
        static const bus_method method = { MANAGER, MANAGER_PATH, PROPERTIES, "Get", TIMEOUT_US };

        manager->is_stale = manager->call;
        if (manager->call)
                return;
        if (bus_call(manager->bus, &method, &manager->call, on_folders, manager, "ss",
                     MANAGER_INTERFACE, "UnitPath") < 0)
                manager->is_settled = true;
}

/* --- Whether it is there --------------------------------------------------------------------- */

static void lose(manager *manager)
{
        manager->call = sd_bus_slot_unref(manager->call);
        manager->is_settled = true;
        manager->is_there = false;
        manager->lost(manager->context);
}

/* systemd sends most signals only to connections that have subscribed. */
static void subscribe(manager *manager)
{
        static const bus_method method = { MANAGER, MANAGER_PATH, MANAGER_INTERFACE, "Subscribe",
                                           TIMEOUT_US };

        if (manager->is_heard)
                (void)bus_call(manager->bus, &method, NULL, NULL, NULL, "");
}

static int on_owner(sd_bus_message *message, void *context, sd_bus_error *error)
{
        manager *manager = context;
        const char *owner = "";

        (void)error;
        (void)sd_bus_message_read(message, "sss", NULL, NULL, &owner);
        lose(manager);
        if (*owner) {
                subscribe(manager);
                ask_for_folders(manager);
        }
        return 0;
}

static int on_reloading(sd_bus_message *message, void *context, sd_bus_error *error)
{
        int is_beginning;

        (void)error;
        if (sd_bus_message_read(message, "b", &is_beginning) >= 0 && !is_beginning)
                ask_for_folders(context);
        return 0;
}

static int on_files_changed(sd_bus_message *message, void *context, sd_bus_error *error)
{
        (void)message, (void)error;
        ask_for_folders(context);
        return 0;
}

#define FROM_MANAGER                                                                               \
        "type='signal',sender='" MANAGER "',path='" MANAGER_PATH "',interface='" MANAGER_INTERFACE \
        "',member="

static const struct rule {
        const char *text;
        sd_bus_message_handler_t handler;
} rules[MANAGER_N_RULES] = {
        { "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
          "member='NameOwnerChanged',arg0='" MANAGER "'",
          on_owner },
        { FROM_MANAGER "'Reloading'", on_reloading },
        { FROM_MANAGER "'UnitFilesChanged'", on_files_changed },
};

/* Without this handler, sd-bus closes the connection if the bus refuses a rule. */
static int ignore_reply(sd_bus_message *reply, void *context, sd_bus_error *error)
{
        (void)reply, (void)context, (void)error;
        return 0;
}

static int add_rule(manager *manager, const char *rule, sd_bus_slot **ret_slot,
                    sd_bus_message_handler_t handler, void *context)
{
        if (!manager->bus->connection)
                return -ENOTCONN;
        return sd_bus_add_match_async(manager->bus->connection, ret_slot, rule, handler,
                                      ignore_reply, context);
}

static void drop_rules(manager *manager)
{
        for (size_t i = 0; i < MANAGER_N_RULES; i++)
                manager->rules[i] = sd_bus_slot_unref(manager->rules[i]);
}

static void bus_found(bus_user *user)
{
        manager *manager = (struct manager *)user;

        drop_rules(manager);
        for (size_t i = 0; i < MANAGER_N_RULES; i++)
                (void)add_rule(manager, rules[i].text, &manager->rules[i], rules[i].handler,
                               manager);
        subscribe(manager);
        ask_for_folders(manager);
}

static void bus_lost(bus_user *user)
{
        manager *manager = (struct manager *)user;

        drop_rules(manager);
        lose(manager);
}

void manager_init(manager *manager, bus *bus, bool is_heard)
{
        manager->user = (bus_user){ .found = bus_found, .lost = bus_lost };
        manager->bus = bus;
        manager->is_heard = is_heard;
        bus_add_user(bus, &manager->user);
}

/* --- One unit -------------------------------------------------------------------------------- */

char *manager_format_path(const char *unit)
{
        char *path = NULL;

        return sd_bus_path_encode(MANAGER_PATH "/unit", unit, &path) < 0 ? NULL : path;
}

/* In sd-bus, a rule cannot select by an argument that follows a number, as the unit does here. */
int manager_hear_jobs(manager *manager, sd_bus_slot **ret_slot, sd_bus_message_handler_t handler,
                      void *context)
{
        return add_rule(manager, FROM_MANAGER "'JobRemoved'", ret_slot, handler, context);
}

int manager_hear_state(manager *manager, const char *path, sd_bus_slot **ret_slot,
                       sd_bus_message_handler_t handler, void *context)
{
        char rule[2048];

        (void)snprintf(rule, sizeof(rule),
                       "type='signal',sender='" MANAGER "',path='%s',interface='" PROPERTIES
                       "',member='PropertiesChanged',arg0='" UNIT_INTERFACE "'",
                       path);
        return add_rule(manager, rule, ret_slot, handler, context);
}

int manager_ask_state(manager *manager, const char *path, sd_bus_slot **ret_slot,
                      sd_bus_message_handler_t on_reply, void *context)
{
        const bus_method method = { MANAGER, path, PROPERTIES, "Get", TIMEOUT_US };

        return bus_call(manager->bus, &method, ret_slot, on_reply, context, "ss", UNIT_INTERFACE,
                        "ActiveState");
}

int manager_start(manager *manager, const char *unit, sd_bus_slot **ret_slot,
                  sd_bus_message_handler_t on_reply, void *context)
{
        static const bus_method method = { MANAGER, MANAGER_PATH, MANAGER_INTERFACE, "StartUnit",
                                           TIMEOUT_US };

        return bus_call(manager->bus, &method, ret_slot, on_reply, context, "ss", unit,
                        "replace");
}

/* While systemd shuts down, it refuses to start anything. */
bool manager_is_answer(const sd_bus_error *error)
{
        return strncmp(error->name, MANAGER ".", sizeof(MANAGER)) == 0 &&
               !sd_bus_error_has_name(error, MANAGER ".ShuttingDown") &&
               !sd_bus_error_has_name(error, MANAGER ".TransactionIsDestructive");
}

void manager_deinit(manager *manager)
{
        drop_rules(manager);
        manager->call = sd_bus_slot_unref(manager->call);
        free_folders(manager);
}
