/* Listens for everything that can change what a path leads to. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/inotify.h>

#include "filewatch/path.h"
#include "util/fork.h"
#include "util/list.h"
#include "util/map.h"

/* inotify has one watch per inode, whoever asks and by whatever path. */
typedef struct dn__file_place {
        dn__map_entry entry; /* by number */
        int number;
        dn__link uses;
} dn__file_place;

/* Embedded in users of a place. All zero: uses none. */
typedef struct dn__file_use {
        dn__file_place *place;
        dn__link link; /* in the place's uses */
} dn__file_use;

/* Not locked: protected by its owner. */
typedef struct dn__file_places {
        int fd;
        dn__fork_guard *guard;
        dn__map by_number;
} dn__file_places;

/* Returns 0 or the negative error of inotify_init1(). */
int dn__file_places_init(dn__file_places *places);

/* Call when no place is in use any more. */
void dn__file_places_deinit(dn__file_places *places);

/* Returns whether the descriptor still is the one that was opened: the host may close all. */
bool dn__file_places_are_intact(const dn__file_places *places);

/* Opens another descriptor, when no place is in use any more. Returns as dn__file_places_init(). */
int dn__file_places_open_again(dn__file_places *places);

/* Adds inotify events to those watched at a path, for `use`. Returns 0, -ENOMEM, -ENOSPC if the
 * user has too many watches, or another negative error of inotify_add_watch(). */
int dn__file_places_add(dn__file_places *places, const char *path, uint32_t events,
                        dn__file_use *use);

/* An unused `use` is allowed. */
void dn__file_places_remove(dn__file_places *places, dn__file_use *use);

/* Returns the place with an event's watch number, or NULL if it is no longer used. */
dn__file_place *dn__file_places_find(const dn__file_places *places, int number);

/* One place being listened to. */
typedef struct dn__file_listener {
        dn__file_use use;
        void *owner;
        const char *name; /* the only entry of interest, or NULL for any; borrowed from the route */
        bool is_of_file;  /* of the file, not of a step on the way to it */
} dn__file_listener;

/* All zero: listens to nothing. */
typedef struct dn__file_way {
        dn__file_route route;
        dn__file_listener *listeners; /* one per step, then the file's own */
} dn__file_way;

/* Always consumes the route. `status` is the path's and may be out of date: then another way is
 * needed anyway. Returns 0 or the error of dn__file_places_add(), except for missing permissions or
 * files. */
int dn__file_way_init(dn__file_way *way, dn__file_places *places, dn__file_route *route,
                      const char *path, const dn__file_status *status, void *owner);
void dn__file_way_deinit(dn__file_way *way, dn__file_places *places);

static inline dn__file_listener *dn__file_listener_of(dn__link *link)
{
        return DN__CONTAINER(link, dn__file_listener, use.link);
}

/* Returns whether an event of the place concerns this listener. */
bool dn__file_listener_wants(const dn__file_listener *listener, const struct inotify_event *event);

/* Returns whether the event says that the file was written to. */
bool dn__file_listener_hears_write(const dn__file_listener *listener,
                                   const struct inotify_event *event);
