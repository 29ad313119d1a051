/* A thread that watches the posts on a bus. */
#pragma once

#include <darwinnotify/inspect.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

#define MAX_RECORDS 4096
#define ENDED 7 /* what the callback returns for the name "end" */

typedef struct record {
        uint64_t time_us;
        char center[16];
        char name[64];
        char sender[64];
        int64_t pid;
        char program[64]; /* empty: NULL */
        uint64_t generation;
        uint64_t region;
        char object[64];     /* empty: NULL */
        char user_info[128]; /* as JSON; empty: NULL */
        uint64_t number;
} record;

/* The records belong to the thread until it has counted them. */
typedef struct watch {
        pthread_t thread;
        const char *bus;
        const char *prefix;
        record records[MAX_RECORDS];
        _Atomic size_t n_records;
        _Atomic bool is_ready;
        _Atomic bool blocks; /* while set, a call does not return */
        _Atomic bool has_ended;
        int result;
} watch;

static inline int on_ready(void *context)
{
        ((watch *)context)->is_ready = true;
        return 0;
}

static inline int on_post(const dn_post_record *post, void *context)
{
        watch *self = context;
        record *copy = &self->records[self->n_records];

        CHECK(pthread_equal(pthread_self(), self->thread));
        CHECK(self->is_ready && self->n_records < MAX_RECORDS);
        *copy = (record){.time_us = post->time_us,
                         .pid = post->pid,
                         .generation = post->generation,
                         .region = post->region};
        snprintf(copy->center, sizeof copy->center, "%s", post->center);
        snprintf(copy->name, sizeof copy->name, "%s", post->name);
        snprintf(copy->sender, sizeof copy->sender, "%s", post->sender);
        snprintf(copy->program, sizeof copy->program, "%s", post->program ? post->program : "");
        char *json = dn_dict_copy_json(post->user_info);
        snprintf(copy->object, sizeof copy->object, "%s", post->object ? post->object : "");
        snprintf(copy->user_info, sizeof copy->user_info, "%s", json ? json : "");
        copy->number = post->number;
        free(json);
        self->n_records++;
        WAIT_UNTIL(!self->blocks);
        return strcmp(post->name, "end") == 0 ? ENDED : 0;
}

static inline void *run_watch(void *context)
{
        watch *self = context;
        dn_watcher watcher = {.ready = on_ready, .post = on_post, .context = self};

        self->thread = pthread_self();
        self->result = dn_watch_posts(self->bus, self->prefix, &watcher);
        self->has_ended = true;
        return NULL;
}

static inline void watch_start(watch *self, const char *bus, const char *prefix)
{
        self->bus = bus;
        self->prefix = prefix;
        (void)test_start_thread(run_watch, self);
        WAIT_UNTIL(self->is_ready || self->has_ended);
        CHECK(!self->has_ended);
}

static inline int watch_join(watch *self)
{
        WAIT_UNTIL(self->has_ended);
        pthread_join(self->thread, NULL);
        return self->result;
}

static inline const char *own_program(void)
{
        return program_invocation_short_name;
}

/* Checks a post by a process that runs this program. */
static inline void check_from(const record *found, const char *name, pid_t pid)
{
        CHECK_STREQ(found->name, name);
        CHECK_EQ(found->pid, pid);
        CHECK_STREQ(found->program, own_program());
}
