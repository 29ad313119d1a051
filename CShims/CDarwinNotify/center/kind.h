/* What defines a center and its kind. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "darwinnotify/center.h"
#include "post/post.h"
#include "util/fork.h"

typedef struct dn__hub dn__hub;

/* Operations and properties of one kind of center. Each kind has its own file. */
typedef struct dn__center_ops {
        dn__reach reach;    /* the furthest a post can go */
        dn_objects objects; /* unless they are ignored, observers may omit the name */
        bool has_executors; /* they call observers; else the poster does */
        bool has_prefixes;  /* observers may select all names with a prefix */
        bool is_queued;     /* posts are delivered separately and may be held back */

        /* Sets up a new hub. Returns 0 or a negative errno. */
        int (*open)(dn__hub *hub);
        /* Destroys an unused hub and releases the reference it was made with. */
        void (*close)(dn__hub *hub);
        /* Posts. Returns as dn_center_post(). */
        int (*post)(dn__hub *hub, dn__post *post);
} dn__center_ops;

/* A forked child shares the center pointer but not the hub: it creates its own at its first call
 * and leaves the parent's alone, whose locks may be held by threads that do not exist in the
 * child. */
struct dn_center {
        const dn__center_ops *ops;
        const char *bus; /* NULL: one of the shared centers */
        _Atomic(dn__per_process *) hub;
        _Atomic unsigned n_refs; /* held by dn_center_open() and each linked observer; the shared
                                  * centers start with one that is never released */
};
