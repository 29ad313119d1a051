/* Watches over the file of a table: tells when it is removed or replaced. */
#include "shm/place.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "util/fork.h"

/* The link count of a file is one of its attributes. */
#define FILE_EVENTS (IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)
#define DIRECTORY_EVENTS (IN_ONLYDIR | IN_MOVE_SELF | IN_DELETE_SELF)

struct dn__place {
        int fd;
        dn__fork_guard *fork_guard;
};

/* The file is named by its descriptor: at its path there may be another one already. */
static int add_watches(int fd, const dn__region *region)
{
        char path[PATH_MAX];

        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", dn__region_get_fd(region));
        if (inotify_add_watch(fd, path, FILE_EVENTS) < 0)
                return -1;
        (void)snprintf(path, sizeof(path), "%s", region->path);
        /* What becomes of a directory is of use only while the file is there. */
        return inotify_add_watch(fd, dirname(path), DIRECTORY_EVENTS);
}

dn__place *dn__place_new(const dn__region *region)
{
        dn__place *place = calloc(1, sizeof(*place));

        if (!place)
                return NULL;
        dn__fork_hold_off();
        place->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (place->fd >= 0)
                place->fork_guard = dn__fork_guard_new(place->fd);
        dn__fork_let_go();
        if (place->fd < 0) {
                free(place);
                return NULL;
        }
        return add_watches(place->fd, region) < 0 ? dn__place_free(place) : place;
}

int dn__place_get_fd(const dn__place *place)
{
        return place->fd;
}

bool dn__place_is_intact(const dn__place *place)
{
        return dn__fork_guard_is_intact(place->fork_guard);
}

bool dn__place_read(dn__place *place)
{
        _Alignas(struct inotify_event) char bytes[4096];
        bool has_changed = false;

        while (dn__place_is_intact(place) && read(place->fd, bytes, sizeof(bytes)) > 0)
                has_changed = true;
        return has_changed;
}

dn__place *dn__place_free(dn__place *place)
{
        if (!place)
                return NULL;
        (void)dn__fork_guard_close(place->fork_guard, place->fd);
        free(place);
        return NULL;
}
