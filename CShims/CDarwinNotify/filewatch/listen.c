/* Listens for everything that can change what a path leads to. */
#include "filewatch/listen.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/hash.h"

/* ---- places ---------------------------------------------------------------------------------- */

int dn__file_places_init(dn__file_places *places)
{
        int r = 0;

        dn__fork_hold_off();
        *places = (dn__file_places){ .fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC) };
        if (places->fd < 0)
                r = -errno;
        else
                places->guard = dn__fork_guard_new(places->fd);
        dn__fork_let_go();
        return r;
}

void dn__file_places_deinit(dn__file_places *places)
{
        assert(places->by_number.n_entries == 0);
        places->guard = dn__fork_guard_close(places->guard, places->fd);
        dn__map_deinit(&places->by_number);
}

bool dn__file_places_are_intact(const dn__file_places *places)
{
        return dn__fork_guard_is_intact(places->guard);
}

int dn__file_places_open_again(dn__file_places *places)
{
        dn__file_places_deinit(places);
        return dn__file_places_init(places);
}

dn__file_place *dn__file_places_find(const dn__file_places *places, int number)
{
        uint64_t hash = dn__hash64(&number, sizeof(number));
        dn__map_entry *entry = dn__map_find(&places->by_number, hash, &number, sizeof(number));

        return entry ? DN__CONTAINER(entry, dn__file_place, entry) : NULL;
}

static dn__file_place *place_new(dn__file_places *places, int number)
{
        dn__file_place *place = calloc(1, sizeof(*place));

        if (!place)
                return NULL;
        place->number = number;
        place->entry.key = &place->number;
        place->entry.n_key_bytes = sizeof(place->number);
        place->entry.hash = dn__hash64(&number, sizeof(number));
        dn__list_init(&place->uses);
        if (dn__map_add(&places->by_number, &place->entry) == 0)
                return place;
        free(place);
        return NULL;
}

int dn__file_places_add(dn__file_places *places, const char *path, uint32_t events,
                        dn__file_use *use)
{
        int number = inotify_add_watch(places->fd, path, events | IN_MASK_ADD);
        dn__file_place *place;

        assert(!use->place);
        if (number < 0)
                return -errno;
        place = dn__file_places_find(places, number);
        if (!place)
                place = place_new(places, number);
        if (!place) {
                (void)inotify_rm_watch(places->fd, number);
                return -ENOMEM;
        }
        use->place = place;
        dn__list_append(&place->uses, &use->link);
        return 0;
}

/* The kernel may have removed the watch itself when the inode was deleted: it does not reuse the
 * number soon. */
void dn__file_places_remove(dn__file_places *places, dn__file_use *use)
{
        dn__file_place *place = use->place;

        if (!place)
                return;
        dn__list_remove(&use->link);
        use->place = NULL;
        if (!dn__list_is_empty(&place->uses))
                return;
        (void)inotify_rm_watch(places->fd, place->number);
        dn__map_remove(&places->by_number, &place->entry);
        free(place);
}

/* --- the path --------------------------------------------------------------------------------- */

#define ENTRY_EVENTS (IN_CREATE | IN_DELETE | IN_MOVE)
#define SELF_EVENTS (IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)
#define IN_DIRECTORY (IN_ONLYDIR | IN_DONT_FOLLOW)

/* Writing through a mapping causes no event, but unmapping does. */
#define FILE_EVENTS (IN_MODIFY | IN_CLOSE_WRITE | SELF_EVENTS)

/* What cannot be watched is observed from its directory. */
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
        /* inotify needs read permission for a file, unlike its status. */
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
