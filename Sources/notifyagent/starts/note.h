/* What the agent remembers of a unit, across its own end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "center/own-table.h"

typedef struct note_name {
        char *text;
        dn__table_count count; /* that the unit has been started for, or is about to be */
} note_name;

/* All zero: nothing is remembered. */
typedef struct note {
        note_name *names; /* sorted */
        size_t n_names;
        bool exists;
        bool is_open;         /* the start was begun, and has not been seen to end */
        bool may_have_missed; /* while it is open: it is also for posts that were not counted */
        char *cause;          /* the name that it was last started for, or NULL */
        uint64_t started_us;  /* since 1970 UTC */
} note;

/* Reads the note of a unit; one that cannot be read counts as none. */
void note_read(note *note, const char *unit);

/* Writes it, whole or not at all. Returns 0 or a negative errno. */
int note_write(note *note, const char *unit);

/* Returns the count of a name, or NULL. */
const dn__table_count *note_find(const note *note, const char *name);

/* Sets the count of a name. Returns 0 or -ENOMEM. */
int note_set(note *note, const char *name, const dn__table_count *count);

/* Calls a function for each name, whose count it may change. The name is forgotten if it returns
 * false. */
void note_each(note *note, bool (*keep)(const char *name, dn__table_count *count, void *context),
               void *context);

void note_deinit(note *note);
