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
        void (*changed)(void *context); /* it is there, or it has read its files anew */
        void (*lost)(void *context);    /* what it was doing may or may not be done */
        void *context;

        sd_bus_slot *rules[MANAGER_N_RULES];
        sd_bus_slot *call; /* in progress: for the folders */
        bool is_stale;     /* they are to be asked for again */
        bool is_settled;   /* it is known whether it is there */
        bool is_there;
        char **folders; /* of units, those that count first; NULL-terminated */
} manager;

/* `is_heard`: its signals are needed, not only what it says when it is asked. */
void manager_init(manager *manager, bus *bus, bool is_heard);

/* The path of a unit's object; to be freed, NULL without memory. */
char *manager_format_path(const char *unit);

/* Hears of the ends of all jobs, or of changes of one unit, until the slot is released. Returns 0
 * or a negative errno. */
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

/* Returns whether an error is what the manager says of a unit. After any other one, only another
 * try shows whether it can be started. */
bool manager_is_answer(const sd_bus_error *error);

void manager_deinit(manager *manager);
