/* Reports when names are marked in the table that other processes use, and moves on when the table
 * is replaced. */
#pragma once

#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "carrier/direct/storm.h"
#include "shm/place.h"
#include "shm/region.h"
#include "util/bell.h"
#include "util/loop.h"

/* The next table comes into use. `has_all`: it already has the names of the old one, or never
 * will. */
typedef void dn__moved_fn(void *context, const dn__region *from, const dn__region *to,
                          bool has_all);

/* Embedded in its user. One thread of that user, the reader, calls the functions below. */
typedef struct dn__lookout {
        _Atomic(dn__region *) region; /* earlier ones stay mapped */
        _Atomic bool is_told;         /* the reader has not looked since */
        bool is_watching;             /* the posts of every name are marked */
        dn__loop *loop;               /* NULL: not started */
        dn__source source;
        const dn__region *left; /* of the thread: the region that it has reported as left */
        dn__storm storm;        /* of the thread */
        _Atomic size_t n_marks; /* what the reader's looks have cost and the thread has not noted */
        dn__bell bell;
        dn__place *place;          /* NULL: the system has no watches left */
        uint64_t place_us;         /* when to try again to get one */
        const dn__region *watched; /* the region whose file is watched over, if it can be */
        uint64_t look_us;          /* when to look for the next table; or DN__NEVER */
        dn__moved_fn *moved;
        void *context;
} dn__lookout;

/* Opens the table of `key` (the scope of an address). Returns 0 or a negative errno. */
int dn__lookout_init(dn__lookout *lookout, const char *key, dn__moved_fn *moved, void *context);

/* All zero is allowed. */
void dn__lookout_deinit(dn__lookout *lookout);

/* Asks for the posts of every name to be marked from now on. Returns 0 or -ENOMEM. */
int dn__lookout_watch(dn__lookout *lookout);
void dn__lookout_unwatch(dn__lookout *lookout);

#define DN__LOOKOUT_N_WAITS 2

/* Returns what to wait for before the next look, and lowers the deadline if that must come
 * earlier. */
void dn__lookout_prepare(dn__lookout *lookout, struct pollfd ret_waits[DN__LOOKOUT_N_WAITS],
                         uint64_t *until_us);

/* Moves to the next table if this one was removed or replaced. Call it before taking the marks. */
void dn__lookout_look(dn__lookout *lookout);

/* Takes the marks, as dn__marks_take(). */
void dn__lookout_take_marks(dn__lookout *lookout, void (*look)(void *context, size_t slot_index),
                            void *context);

/* Makes the first look from this time on check whether the table is in place, or a later look if
 * such a check has failed recently. */
void dn__lookout_doubt(dn__lookout *lookout, uint64_t at_us);
