/* One unit that is started when a name is posted. */
#pragma once

#include <darwinnotify/observer.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "agent.h"
#include "starts/note.h"
#include "starts/section.h"

#define UNIT_MANAGER "org.freedesktop.systemd1"
#define UNIT_MANAGER_PATH "/org/freedesktop/systemd1"
#define UNIT_MANAGER_INTERFACE UNIT_MANAGER ".Manager"
#define UNIT_FAULT_BYTES 320

struct unit {
        agent *agent;
        struct unit *next;
        char *name;
        char *path; /* of its object */
        section section;
        char fault[UNIT_FAULT_BYTES]; /* why it is not started; empty: it is */
        bool is_stale;                /* not yet found again among the files */
        bool is_enabled;

        dn_observer **observers; /* one for each match, while it counts */
        size_t n_observers;
        note note;

        bool is_due; /* to be started */
        bool may_have_missed;
        bool is_again; /* due to a post while it was running */
        char *cause;   /* the name */
        unsigned n_in_a_row;
        uint64_t next_us; /* not to be started before; monotonic */
        sd_event_source *timer;
        sd_bus_slot *call; /* in progress: its state, or its start */
        char *job;         /* in progress, or NULL */
};

typedef struct unit unit;

unit *unit_new(agent *agent, const char *name);

/* Begins to listen for its matches, compares what was counted with its note, and repeats a start
 * that was not seen to end. */
void unit_listen(unit *unit);

/* Stops listening. */
void unit_ignore(unit *unit);

/* Compares all counts with its note. */
void unit_compare(unit *unit);

/* Does what is due: starts it, or asks first whether it runs. */
void unit_go(unit *unit);

/* A job of the manager has ended. */
void unit_job_ended(unit *unit, const char *job);

/* The manager is gone; what was in progress may or may not be done. */
void unit_lose_manager(unit *unit);

unit *unit_free(unit *unit);
