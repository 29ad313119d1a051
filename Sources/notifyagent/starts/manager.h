/* The manager of the user's units: systemd, on the session bus. */
#pragma once

#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "bus.h"

#define MANAGER_N_RULES 3

typedef struct manager {
        bus_user user; /* the first field */
        bus *bus;
        bool is_heard; /* it is asked to send signals */
        void (*changed)(void *context); /* it has appeared, or has reread its files */
        void (*lost)(void *context);    /* jobs in progress may or may not be done */
        void *context;

        sd_bus_slot *rules[MANAGER_N_RULES];
        sd_bus_slot *call; /* in progress: asks for the folders */
        bool is_stale;     /* the folders must be asked for again */
        bool is_settled;   /* is_there is known */
        bool is_there;
        char **folders; /* of units, in order of precedence; NULL-terminated */
} manager;

/* `is_heard`: its signals are needed, not only its replies. */
void manager_init(manager *manager, bus *bus, bool is_heard);

/* Returns the path of a unit's object, which the caller frees, or NULL without memory. */
char *manager_format_path(const char *unit);

/* Hear of the end of every job, or of changes of one unit, until the slot is released. Return 0 or
 * a negative errno. */
int manager_hear_jobs(manager *manager, sd_bus_slot **ret_slot, sd_bus_message_handler_t handler,
                      void *context);
int manager_hear_state(manager *manager, const char *path, sd_bus_slot **ret_slot,
                       sd_bus_message_handler_t handler, void *context);

/* Asks for the ActiveState of a unit. Returns 0 or a negative errno. */
int manager_ask_state(manager *manager, const char *path, sd_bus_slot **ret_slot,
                      sd_bus_message_handler_t on_reply, void *context);

/* Starts a unit; the reply is the job. Returns 0 or a negative errno. */
int manager_start(manager *manager, const char *unit, sd_bus_slot **ret_slot,
                  sd_bus_message_handler_t on_reply, void *context);

/* Returns whether an error is the manager's answer about a unit. After any other error, only
 * another try shows whether the unit can be started. */
bool manager_is_answer(const sd_bus_error *error);

void manager_deinit(manager *manager);
