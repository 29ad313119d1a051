/* Files whose changes are reported, wherever along their path something changes. */
#pragma once

#include "agent.h"

typedef struct path_watch path_watch;

/* Calls a function, in the loop, whenever a file may have changed, appeared or vanished; without a
 * path, when the table has changed. It may be called too often. In an agent that posts nothing, it
 * is never called. Returns NULL, with a line in the journal, if that is not possible. */
path_watch *path_watch_new(agent *agent, const char *path, void (*changed)(void *context),
                           void *context);

/* NULL is allowed. Returns NULL. */
path_watch *path_watch_free(path_watch *watch);
