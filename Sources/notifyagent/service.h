/* A service on a bus whose value a source follows. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#include "bus.h"

#define SERVICE_MAX_RULES 3

struct source;
typedef struct service service;

/* What a source asks a service for. */
typedef struct service_kind {
        const char *name; /* its well-known name */
        bool is_on_system_bus;
        bool is_optional; /* the source is there without it */
        /* The match rules, without their sender, of the signals after which it is asked again. */
        const char *rules[SERVICE_MAX_RULES];
        /* The property of an object that is asked for, of the interface with the service's name. */
        const char *path, *property;
        /* Sends the first call instead, with service_call() or service_get(). Returns a negative
         * errno if it could not. Without it and a property, the source looks by itself. */
        int (*ask)(service *service);
        /* Reads a reply. Returns 1 and a value; 0 if it has sent the next call; or a negative errno
         * if the reply is not what was expected. */
        int (*answer)(service *service, sd_bus_message *reply, uint64_t *ret_value);
        /* Returns whether an error means that the value is 0. NULL: none does. */
        bool (*is_none)(const char *error);
        /* Takes a signal instead. NULL: it is asked again. */
        void (*heard)(service *service, sd_bus_message *signal);
} service_kind;

struct service {
        bus_user user; /* the first field */
        const service_kind *kind;
        struct source *source;
        bus *bus;
        sd_bus_slot *slots[SERVICE_MAX_RULES + 1]; /* of the rules */
        sd_bus_slot *call; /* in progress */
        unsigned step;     /* of the calls of one question; of its kind */
        bool is_stale;     /* to be asked again after the call */
        bool is_settled;   /* it is known whether it is there, and its value */
        bool is_there;     /* and answers */
        uint64_t value;
};

void service_init(service *service, const service_kind *kind, struct source *source);

/* Asks it again, if it is there. */
void service_ask(service *service);

/* Sends a call whose arguments are given as for sd_bus_message_append(). Returns 0 or a negative
 * errno. */
int service_call(service *service, const char *path, const char *interface, const char *member,
                 const char *types, ...);

/* Asks for a property; the reply has a variant. Returns 0 or a negative errno. */
int service_get(service *service, const char *path, const char *interface, const char *property);

/* Reads the reply for a property that is a boolean: an `answer` of a kind. */
int service_answer_flag(service *service, sd_bus_message *reply, uint64_t *ret_value);

void service_deinit(service *service);
