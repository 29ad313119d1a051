/* What inotify watches for several users at a time. */
#include "notify/file-places.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/hash.h"

int dn__file_places_init(dn__file_places *places)
{
        int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

        if (fd < 0)
                return -errno;
        *places = (dn__file_places){ .fd = fd, .guard = dn__fork_guard_new(fd) };
        return 0;
}

void dn__file_places_deinit(dn__file_places *places)
{
        places->guard = dn__fork_guard_free(places->guard);
        (void)close(places->fd);
        dn__map_deinit(&places->by_number);
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

/* The kernel may have removed the watch itself, when the inode went: it does not use the number
 * again soon. */
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
