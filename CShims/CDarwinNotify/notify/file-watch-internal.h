/* What the parts of the file watch share. */
#pragma once

#include "notify/file-watch.h"
#include "notify/file-way.h"
#include "util/lock.h"

/* What a process has one of. It lives until the process ends, and so does its thread. */
typedef struct dn__files {
        dn__per_process process;
        int fd; /* of the places, to be read without the lock */
        dn__lock lock;
        dn__file_places places DN__GUARDED_BY(&lock);
        dn__link watches DN__GUARDED_BY(&lock);
        dn__link due DN__GUARDED_BY(&lock); /* the soonest first */
        bool is_started DN__GUARDED_BY(&lock);
} dn__files;

struct dn__file_watch {
        dn__files *files;
        char *path;
        unsigned flags;
        void (*changed)(int token);
        int token;
        dn__file_status status; /* of the last look; whoever looks has it alone */

        /* Under the lock of the files: */
        dn__link link;
        dn__link due;
        uint64_t due_us;
        dn__file_way way;
        unsigned n_refs;
        bool is_new; /* the first look has not ended */
        bool is_freed;
        bool is_written;
};

/* Puts a watch into the queue of those to be looked at, unless it is to be looked at sooner. */
void dn__file_look_later(dn__files *files, dn__file_watch *watch, uint64_t span_us)
        DN__REQUIRES(&files->lock);

/* Reads the status and listens to the way, until nothing has moved in between. The status is set
 * in any case. Returns 0, or a negative errno if it could not listen to all. */
int dn__file_listen_and_read(dn__file_watch *watch, dn__file_status *ret_status);

/* Looks, then calls. */
void dn__file_look(dn__file_watch *watch);

/* The thread. `context` are the files. */
void dn__file_thread_main(void *context);

/* Frees the watch with the last reference to it. */
void dn__file_watch_unref(dn__file_watch *watch);
