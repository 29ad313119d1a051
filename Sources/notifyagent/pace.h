/* Work that is done at once, but not more often than every 100 ms. */
#pragma once

#include <stdint.h>
#include <systemd/sd-event.h>

#define PACE_US 100000

typedef struct pace {
        sd_event *event; /* borrowed */
        sd_event_source *timer;
        uint64_t next_us; /* not before; 0: at once */
        void (*run)(void *context);
        void *context;
} pace;

void pace_init(pace *pace, sd_event *event, void (*run)(void *context), void *context);

/* Runs the work now, or as soon as it may be done again: once, however often it is asked for. */
void pace_ask(pace *pace);

/* All zero is allowed. */
void pace_deinit(pace *pace);
