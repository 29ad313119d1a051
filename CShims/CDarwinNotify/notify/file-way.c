/* Listening to all that can change what a path leads to. */
#include "notify/file-way.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ENTRY_EVENTS (IN_CREATE | IN_DELETE | IN_MOVE)
#define SELF_EVENTS (IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)
#define IN_DIRECTORY (IN_ONLYDIR | IN_DONT_FOLLOW)

/* Writing through a mapping says nothing, but the end of the mapping does. */
#define FILE_EVENTS (IN_MODIFY | IN_CLOSE_WRITE | SELF_EVENTS)

/* What cannot be watched is seen from the directory that it is in. */
static int unless_unreachable(int r)
{
        switch (r) {
        case -EACCES:
        case -EPERM:
        case -ENOENT:
        case -ENOTDIR:
        case -ELOOP:
        case -ENAMETOOLONG:
                return 0;
        default:
                return r;
        }
}

static int listen_to_step(dn__file_places *places, const dn__file_step *step,
                          dn__file_listener *listener)
{
        listener->name = step->name;
        return unless_unreachable(dn__file_places_add(places, step->directory,
                                                      ENTRY_EVENTS | SELF_EVENTS | IN_DIRECTORY,
                                                      &listener->use));
}

static int listen_to_file(dn__file_places *places, const char *path, const dn__file_status *status,
                          const dn__file_step *last_step, dn__file_listener *listener)
{
        uint32_t events = S_ISDIR(status->mode) ? ENTRY_EVENTS | SELF_EVENTS : FILE_EVENTS;
        int r;

        listener->is_of_file = true;
        if (status->error)
                return 0;
        r = dn__file_places_add(places, path, events, &listener->use);
        /* inotify wants the right to read a file, which its status does not. */
        if (r == -EACCES && last_step) {
                listener->name = last_step->name;
                r = dn__file_places_add(places, last_step->directory, FILE_EVENTS | IN_DIRECTORY,
                                        &listener->use);
        }
        return unless_unreachable(r);
}

int dn__file_way_init(dn__file_way *way, dn__file_places *places, dn__file_route *route,
                      const char *path, const dn__file_status *status, void *owner)
{
        const dn__file_step *steps = route->steps;
        size_t n_steps = route->n_steps;
        int r = 0;

        *way = (dn__file_way){ *route, calloc(n_steps + 1, sizeof(*way->listeners)) };
        *route = (dn__file_route){ 0 };
        if (!way->listeners)
                r = -ENOMEM;
        for (size_t i = 0; i <= n_steps && r == 0; i++) {
                way->listeners[i].owner = owner;
                if (i < n_steps)
                        r = listen_to_step(places, &steps[i], &way->listeners[i]);
                else
                        r = listen_to_file(places, path, status,
                                           n_steps > 0 ? &steps[n_steps - 1] : NULL,
                                           &way->listeners[i]);
        }
        if (r < 0)
                dn__file_way_deinit(way, places);
        return r;
}

void dn__file_way_deinit(dn__file_way *way, dn__file_places *places)
{
        for (size_t i = 0; way->listeners && i <= way->route.n_steps; i++)
                dn__file_places_remove(places, &way->listeners[i].use);
        free(way->listeners);
        dn__file_route_deinit(&way->route);
        *way = (dn__file_way){ 0 };
}

bool dn__file_listener_wants(const dn__file_listener *listener, const struct inotify_event *event)
{
        return !listener->name || event->len == 0 || strcmp(listener->name, event->name) == 0;
}

bool dn__file_listener_hears_write(const dn__file_listener *listener,
                                   const struct inotify_event *event)
{
        return listener->is_of_file && event->mask & (IN_MODIFY | ENTRY_EVENTS);
}
