/* An observer that records its calls. */
#pragma once

#include <darwinnotify/darwinnotify.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "centers.h"
#include "late.h"
#include "test-child.h"
#include "test.h"

/* One line for each call: NAME, then " @OBJECT", " JSON", " xPOSTS" and " -DROPPED" if there are
 * any. */
typedef struct record {
        pthread_mutex_t lock;
        char *text;
        size_t n_bytes;
        size_t n_allocated;
        _Atomic uint64_t n_calls;
        _Atomic uint64_t n_dropped;
        _Atomic uint64_t n_may_have_missed;
        _Atomic uint64_t n_destroyed;
        _Atomic bool blocks; /* while set, a call does not return */
} record;

static inline void record_init(record *self)
{
        *self = (record){ 0 };
        pthread_mutex_init(&self->lock, NULL);
}

static inline void record_write(record *self, const dn_event *event)
{
        char *json = dn_dict_copy_json(event->user_info), *line = NULL;
        size_t n_bytes = 0;
        FILE *out = open_memstream(&line, &n_bytes);

        fprintf(out, "%s", event->name);
        if (event->object)
                fprintf(out, " @%s", (const char *)event->object);
        if (json)
                fprintf(out, " %s", json);
        if (event->n_posts != 1)
                fprintf(out, " x%llu", (unsigned long long)event->n_posts);
        if (event->n_dropped)
                fprintf(out, " -%llu", (unsigned long long)event->n_dropped);
        fprintf(out, "\n");
        fclose(out);
        pthread_mutex_lock(&self->lock);
        if (self->n_bytes + n_bytes >= self->n_allocated) {
                self->n_allocated = 2 * (self->n_bytes + n_bytes + 1);
                self->text = realloc(self->text, self->n_allocated);
        }
        memcpy(self->text + self->n_bytes, line, n_bytes + 1);
        self->n_bytes += n_bytes;
        pthread_mutex_unlock(&self->lock);
        free(line);
        free(json);
}

static inline void record_invoke(const dn_event *event, void *context)
{
        record *self = context;

        record_write(self, event);
        self->n_dropped += event->n_dropped;
        self->n_may_have_missed += event->may_have_missed != 0;
        self->n_calls++;
        WAIT_UNTIL(!self->blocks);
}

static inline void record_destroy(void *context)
{
        ((record *)context)->n_destroyed++;
}

#define RECORD_HANDLER(self) \
        (&(dn_handler){.invoke = record_invoke, .context = (self), .destroy = record_destroy})

/* The lines so far; the caller frees them. */
static inline char *record_copy(record *self)
{
        char *copy;

        pthread_mutex_lock(&self->lock);
        copy = strdup(self->text ? self->text : "");
        pthread_mutex_unlock(&self->lock);
        return copy;
}

/* Waits for that many calls, then compares all lines. */
static inline void record_expect(record *self, uint64_t n_calls, const char *expected)
{
        char *seen;

        WAIT_UNTIL_EQ(self->n_calls, n_calls);
        seen = record_copy(self);
        CHECK_STREQ(seen, expected);
        free(seen);
}

/* Expects {"i": 0} to {"i": N - 1} in that many calls. */
static inline void record_expect_numbers(record *self, int n_calls)
{
        char *seen, *at;

        WAIT_UNTIL_EQ(self->n_calls, n_calls);
        seen = at = record_copy(self);
        for (int i = 0; i < n_calls; i++) {
                at = strstr(at, "\"i\": ");
                CHECK(at);
                CHECK_EQ(atoi(at + 5), i);
                at++;
        }
        free(seen);
}

static inline void record_deinit(record *self)
{
        free(self->text);
        pthread_mutex_destroy(&self->lock);
}

static inline dn_observer *record_observe(dn_center *center, const dn_filter *filter, record *self)
{
        dn_observer *observer = NULL;
        uint64_t began_us = test_now_us();

        record_init(self);
        int r = dn_center_observe_filtered(center, filter, RECORD_HANDLER(self), NULL, &observer);
        CHECK_EQ(settle_observer(center, filter, r, began_us), 0);
        return observer;
}

static inline dn_observer *record_drop(dn_observer *observer, record *self)
{
        dn_observer_cancel_wait(observer);
        record_deinit(self);
        return dn_observer_unref(observer);
}

/* Posts with {"i": number}. */
static inline int try_post_number(dn_center *center, const char *name, const char *object,
                                  int64_t number)
{
        dn_dict_builder *builder = dn_dict_builder_new();

        dn_dict_builder_set_int64(builder, "i", number);
        AUTO_DICT *user_info = finish(builder);
        return dn_center_post(center, name, object, user_info, 0);
}

static inline int post_number(dn_center *center, const char *name, const char *object,
                              int64_t number)
{
        uint64_t began_us = test_now_us();

        return settle(center, try_post_number(center, name, object, number), began_us);
}

#if DN_HAS_BUS
/* Arguments: name, object or "-", how often. Posts numbers from 0. */
ROLE(postNumbers)
{
        const char *object = strcmp(args[1], "-") == 0 ? NULL : args[1];

        for (long i = 0, n = atol(args[2]); i < n; i++)
                if (post_number(dn_center_distributed(), args[0], object, i) < 0)
                        return 1;
        return dn_flush(TEST_DEADLINE_US) < 0;
}
#endif

static inline void post_numbers_elsewhere(const char *name, const char *object, const char *count)
{
        test_child *child = test_spawn_role("postNumbers", name, object, count, NULL);

        CHECK_EQ(test_child_wait(child), 0);
}
