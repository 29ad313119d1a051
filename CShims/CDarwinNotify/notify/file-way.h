/* Listening to all that can change what a path leads to. */
#pragma once

#include <stdbool.h>

#include "notify/file-places.h"
#include "notify/file-route.h"
#include "notify/file-status.h"

/* One place that is listened to. */
typedef struct dn__file_listener {
        dn__file_use use;
        void *owner;
        const char *name; /* the only entry of interest, or NULL; borrowed from the route */
        bool is_of_file;  /* and not of a step to it */
} dn__file_listener;

/* All zero listens to nothing. */
typedef struct dn__file_way {
        dn__file_route route;
        dn__file_listener *listeners; /* one for each step, then that of the file itself */
} dn__file_way;

/* Takes the route over, in any case. `status` is of the path and may be out of date: then another
 * way is needed anyhow. Returns 0 or what dn__file_places_add() says, where it is not for want of
 * rights or of the file. */
int dn__file_way_init(dn__file_way *way, dn__file_places *places, dn__file_route *route,
                      const char *path, const dn__file_status *status, void *owner);
void dn__file_way_deinit(dn__file_way *way, dn__file_places *places);

static inline dn__file_listener *dn__file_listener_of(dn__link *link)
{
        return DN__CONTAINER(link, dn__file_listener, use.link);
}

/* Whether an event of the place is about what is listened to. */
bool dn__file_listener_wants(const dn__file_listener *listener, const struct inotify_event *event);

/* Whether the event says that something was written into the file. */
bool dn__file_listener_hears_write(const dn__file_listener *listener,
                                   const struct inotify_event *event);
