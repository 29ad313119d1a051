/* What inotify watches for several users at a time. */
#pragma once

#include <stdint.h>
#include <sys/inotify.h>

#include "util/fork.h"
#include "util/list.h"
#include "util/map.h"

/* inotify has one watch for an inode, whoever asked and by whatever path. */
typedef struct dn__file_place {
        dn__map_entry entry; /* by number */
        int number;
        dn__link uses;
} dn__file_place;

/* Embedded in what uses a place. All zero uses none. */
typedef struct dn__file_use {
        dn__file_place *place;
        dn__link link; /* in its uses */
} dn__file_use;

/* Not locked: that is up to the owner. */
typedef struct dn__file_places {
        int fd;
        dn__fork_guard *guard;
        dn__map by_number;
} dn__file_places;

/* Returns 0 or what inotify_init1() says, negative. */
int dn__file_places_init(dn__file_places *places);

/* To be called when nothing is in use any more. */
void dn__file_places_deinit(dn__file_places *places);

/* Watches a path for more of the events of inotify, for `use`. Returns 0, -ENOMEM, -ENOSPC when the
 * user has too many watches, or what else inotify_add_watch() says, negative. */
int dn__file_places_add(dn__file_places *places, const char *path, uint32_t events,
                        dn__file_use *use);

/* A use of none is allowed. */
void dn__file_places_remove(dn__file_places *places, dn__file_use *use);

/* Returns the place with the number that an event has, or NULL if it is not used any more. */
dn__file_place *dn__file_places_find(const dn__file_places *places, int number);
