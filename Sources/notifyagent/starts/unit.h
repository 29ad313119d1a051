/* One unit that is started when a name is posted. */
#pragma once

#include <darwinnotify/observer.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent.h"
#include "starts/files.h"
#include "starts/manager.h"
#include "starts/note.h"
#include "starts/section.h"
#include "starts/start.h"

/* One match of a unit that counts. */
typedef struct listener {
        struct unit *unit;
        const char *match; /* borrowed */
        dn_observer *observer;
        int token; /* its check says whether the name was posted; NAME_NOT_HELD: a prefix */
} listener;

typedef struct unit {
        agent *agent;
        struct unit *next;
        char *name;
        bool is_stale; /* not found again among the files */
        section section;
        const char *fault; /* why it is not started, perhaps a problem of the section; or NULL */

        listener *listeners; /* one for each match, while it counts */
        size_t n_listeners;
        note note;
        start start;
} unit;

/* Returns NULL without memory. */
unit *unit_new(agent *agent, manager *manager, const char *name);

/* Takes over what was read from the unit's files, and listens for its matches if it counts.
 * Consumes the section; NULL: the unit keeps what is known of it. */
void unit_take(unit *unit, const file *file, section *section);

/* Compares the counts with the unit's note, and does what is due. */
void unit_compare(unit *unit);

/* The manager is gone. */
void unit_lose_manager(unit *unit);

/* NULL is allowed. Returns NULL. */
unit *unit_free(unit *unit);
