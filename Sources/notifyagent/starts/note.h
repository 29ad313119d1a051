/* What the agent remembers of a unit, across its own end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How often a name was posted, as far as that can be compared. */
typedef struct count {
        uint64_t region;     /* the table; 0: there is none */
        uint64_t named;      /* when its slot got the name */
        uint64_t generation;
} count;

typedef struct note_name {
        char *name;
        count count; /* that the unit has been started for, or is about to be */
} note_name;

/* All zero: nothing is remembered. */
typedef struct note {
        note_name *names;
        size_t n_names;
        bool exists;
        bool is_open;         /* the start was begun, and has not been seen to end */
        char *cause;          /* the name that it was last started for, or NULL */
        uint64_t started_us;  /* since 1970 UTC */
} note;

/* Reads the note of a unit; one that cannot be read counts as none. */
void note_read(note *note, const char *unit);

/* Writes it, whole or not at all. Returns 0 or a negative errno. */
int note_write(const note *note, const char *unit);

/* Returns the count of a name, or NULL. */
count *note_find(note *note, const char *name);

/* Sets the count of a name. Returns 0 or -ENOMEM. */
int note_set(note *note, const char *name, const count *count);

void note_deinit(note *note);
