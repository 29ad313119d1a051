/* A list of observers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "darwinnotify/observer.h"

#define DN__CROWD_N_FIXED 8

/* All zero: empty. Does not own the observers. */
typedef struct dn__crowd {
        dn_observer *fixed[DN__CROWD_N_FIXED], **more; /* NULL: `fixed` is enough */
        size_t n_observers;
        size_t n_allocated;
} dn__crowd;

/* Returns false, without adding it, if out of memory. */
bool dn__crowd_add(dn__crowd *crowd, dn_observer *observer);

/* Returns the observers as an array. */
static inline dn_observer **dn__crowd_get(dn__crowd *crowd)
{
        return crowd->more ? crowd->more : crowd->fixed;
}

/* Empties the list. */
void dn__crowd_clear(dn__crowd *crowd);
