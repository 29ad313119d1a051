/* Finds out along which of many paths something may have changed. */
#pragma once

#include <stdbool.h>

#include "util/fork.h"
#include "util/list.h"
#include "util/map.h"

/* Everything that is listened to for the paths. Protected by its owner's lock. */
typedef struct dn__paths {
        int fd; /* of inotify; readable when something has happened somewhere; -1: none */
        dn__fork_guard *guard;
        dn__map inodes;
} dn__paths;

/* One path. All zero: nothing is listened to. */
typedef struct dn__path {
        struct step *steps;
        bool may_have_changed; /* set by dn__paths_read(); cleared by the owner */
        bool is_incomplete;    /* could not be listened to everywhere */
} dn__path;

/* Returns 0 or a negative errno. */
int dn__paths_init(dn__paths *paths);

/* Call when no path is being resolved. */
void dn__paths_deinit(dn__paths *paths);

/* Returns false if there is no descriptor, or the host has closed it: it must not be used. Call
 * dn__paths_close(), leave all paths, deinit, and begin again. */
bool dn__paths_are_intact(const dn__paths *paths);

/* Closes the descriptor if it is still the library's; then nothing is listened to any more. */
void dn__paths_close(dn__paths *paths);

/* Listens to every existing directory on the way to a file, to the file itself and to all symbolic
 * links in between; no longer to what was on its way before. Whatever changes there from now on is
 * an event. If the path ends early, the last directory reports its continuation. Returns 0, or
 * -ENOSPC or -ENOMEM if it could not listen everywhere. */
int dn__path_resolve(dn__paths *paths, dn__path *path, const char *absolute);

/* Stops listening. */
void dn__path_leave(dn__paths *paths, dn__path *path);

/* Reads some of the waiting events, and marks the paths that they may concern. Returns whether
 * there were any. */
bool dn__paths_read(dn__paths *paths);
