/* A connection to a bus, which is re-established when it is lost. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

struct agent;
struct path_watch;
typedef struct bus bus;

/* A user of a bus. Its functions run in the loop. */
typedef struct bus_user {
        void (*found)(struct bus_user *user); /* there is a connection */
        void (*lost)(struct bus_user *user);  /* there is none, or none any longer */
        struct bus_user *next;
} bus_user;

struct bus {
        struct agent *agent;
        bool is_system;
        sd_bus *connection; /* NULL: there is none now */
        sd_event_source *retry;
        unsigned n_tries; /* since there was one */
        bool has_said_loss;
        char *socket; /* the path at which it listens; NULL: unknown */
        struct path_watch *watch; /* of that path, while there is no connection */
        bus_user *users;
};

/* A method of a service. */
typedef struct bus_method {
        const char *service, *path, *interface, *member;
        uint64_t timeout_us; /* for the reply */
} bus_method;

void bus_init(bus *bus, struct agent *agent, bool is_system);
void bus_add_user(bus *bus, bus_user *user);

/* Connects for the first time and informs the users. */
void bus_open(bus *bus);

/* Tries to connect now if there is no connection. */
void bus_try(bus *bus);

/* Calls a method, without starting its service, with arguments as for sd_bus_message_append().
 * `on_reply` gets the reply or an error, unless the slot is released before. Returns 0 or a
 * negative errno, -ENOTCONN if there is no connection. */
int bus_call(const bus *bus, const bus_method *method, sd_bus_slot **ret_slot,
             sd_bus_message_handler_t on_reply, void *context, const char *types, ...);
int bus_callv(const bus *bus, const bus_method *method, sd_bus_slot **ret_slot,
              sd_bus_message_handler_t on_reply, void *context, const char *types,
              va_list arguments);

/* Returns "system" or "session". */
const char *bus_get_label(const bus *bus);

void bus_deinit(bus *bus);
