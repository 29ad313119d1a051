/* What the agent remembers of a unit after the agent itself has ended. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "center/own-table.h"

typedef struct note_name {
        char *text;
        dn__table_count count; /* for which the unit was or is about to be started */
} note_name;

/* All zero: nothing is remembered. */
typedef struct note {
        note_name *names; /* sorted */
        size_t n_names;
        bool exists;
        bool is_open;         /* the start has begun, but has not been seen to end */
        bool may_have_missed; /* while open: uncounted posts may also be a cause */
        char *cause;          /* the name for which it was last started, or NULL */
        uint64_t started_us;  /* since 1970 UTC */
} note;

/* Reads the note of a unit. A note that cannot be read counts as missing. */
void note_read(note *note, const char *unit);

/* Writes the note of a unit, completely or not at all. Returns 0 or a negative errno. */
int note_write(note *note, const char *unit);

/* Returns the count of a name, or NULL. */
const dn__table_count *note_find(const note *note, const char *name);

/* Sets the count of a name. Returns 0 or -ENOMEM. */
int note_set(note *note, const char *name, const dn__table_count *count);

/* Calls a function for each name; it may change the count. If it returns false, the name is
 * forgotten. */
void note_each(note *note, bool (*keep)(const char *name, dn__table_count *count, void *context),
               void *context);

void note_deinit(note *note);
