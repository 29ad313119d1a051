/* The thread that receives changes for all files that a process watches. */
#pragma once

#include "filewatch/listen.h"
#include "util/lock.h"
#include "util/loop.h"

typedef struct dn__file_watch dn__file_watch;

/* Looks at a file, calls back if it has changed, and releases the reference to the watch. */
typedef void (*dn__files_look_fn)(dn__file_watch *watch);

/* One per process, with its own thread: looking at a file may take long on a slow file system.
 * Lives until dn__files_close(). */
typedef struct dn__files {
        dn__per_process process;
        dn__loop *loop;
        dn__source source;
        dn__files_look_fn look;
        int fd;             /* the inotify descriptor, readable without the lock */
        uint64_t gather_us; /* when to read again; used by the thread only */
        dn__lock lock;
        dn__file_places places DN__GUARDED_BY(&lock);
        dn__link watches DN__GUARDED_BY(&lock);
        dn__link due DN__GUARDED_BY(&lock); /* earliest first */
} dn__files;

struct dn__file_watch {
        dn__files *files;
        char *path;
        unsigned flags;
        void (*changed)(int token);
        int token;
        dn__file_status status; /* from the last look; accessed only by the looking thread */

        /* Guarded by the lock of the files: */
        dn__link link;
        dn__link due;
        uint64_t due_us;
        dn__file_way way;
        unsigned n_refs;
        bool is_new; /* the first look has not finished */
        bool is_freed;
        bool is_written;
};

/* Returns this process's watcher, which looks at files with `look`; NULL and a negative errno on
 * failure. */
dn__files *dn__files_get_shared(dn__files_look_fn look, int *ret_error);

/* Ends the watcher, which has no watches any more. Does not wait for its thread. */
void dn__files_close(void);

/* Queues a watch for a look, unless an earlier one is already queued. */
void dn__files_look_later(dn__files *files, dn__file_watch *watch, uint64_t span_us)
        DN__REQUIRES(&files->lock);
