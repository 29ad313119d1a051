/* The starts of a unit, each once after the posts that made it due, with pauses in between. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "starts/manager.h"
#include "starts/note.h"

/* What a start needs; borrowed. */
typedef struct start_frame {
        sd_event *event;
        manager *manager;
        const char *unit;
        note *note;
        /* Called when a start begins: it does not cover later posts. */
        void (*counted)(void *context);
        void *context;
} start_frame;

typedef struct start {
        start_frame frame;
        char *path; /* of the unit's object */
        bool is_due;
        bool may_have_missed;
        bool is_again; /* due because of a post while the unit was running */
        char *cause;   /* the name that was posted last */
        unsigned n_in_a_row;
        uint64_t next_us; /* the earliest time of the next start; monotonic */
        sd_event_source *timer;
        sd_bus_slot *rules[2]; /* while it is due, or a job is in progress */
        sd_bus_slot *call;     /* in progress: asks for the state, or starts the unit */
        char *job;             /* in progress, or NULL */
} start;

/* Returns 0 or -ENOMEM. */
int start_init(start *start, const start_frame *frame);

/* Makes a start due for a post. */
void start_for(start *start, const char *name, bool may_have_missed);

/* Repeats a start that was not seen to end. */
void start_repeat(start *start);

/* Does what is due. */
void start_go(start *start);

/* Forgets what is due. */
void start_cancel(start *start);

/* The manager is gone. */
void start_lose_manager(start *start);

void start_deinit(start *start);
