/* The units that are started when a name is posted. */
#pragma once

#include <stdbool.h>

#include "agent.h"
#include "starts/note.h"
#include "starts/section.h"

typedef struct starts starts;

/* What is reported about a unit. */
typedef struct unit_report {
        const char *name;
        const section *section;
        const char *fault; /* why it is not started; NULL: it is */
        const note *note;
} unit_report;

/* Prepares the units of the manager on the session bus. Returns NULL without memory. */
starts *starts_new(agent *agent);

/* Compares all counts again: the table has changed. */
void starts_renew(starts *starts);

/* Returns whether all units have been read, or there is no manager. */
bool starts_is_settled(const starts *starts);

/* Returns whether the manager of the user's units is there. */
bool starts_has_manager(const starts *starts);

/* Calls a function for each unit with the section, in the order of their names. */
void starts_each(const starts *starts, void (*each)(const unit_report *report, void *context),
                 void *context);

/* NULL is allowed. Returns NULL. */
starts *starts_free(starts *starts);
