/* A D-Bus carrier without a center: it has a loop, and a sink that notes what arrives. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "bus/dbus.h"
#include "test-bus.h"
#include "test-peer.h"
#include "test.h"
#include "util/thread.h"

#define LONE_MAX_POSTS 64

/* What a post was when it arrived. */
typedef struct arrival {
        char name[64];
        char sender[64];
        bool is_own;
        bool is_after_other_table; /* the sink was warned before */
        uint64_t generation;
        uint64_t number;
        uint64_t n_lost;
} arrival;

typedef struct lone_carrier {
        dn__loop *loop;
        dn__carrier *carrier;
        dn__subscription *subscription; /* of one name, or NULL */
        _Atomic unsigned n_posts;
        arrival posts[LONE_MAX_POSTS];
        _Atomic unsigned n_other_tables;
        _Atomic unsigned n_missed;
        _Atomic unsigned n_changes;
        _Atomic unsigned n_closed;
        _Atomic bool is_freed;
} lone_carrier;

static inline uint64_t lone_received(void *context, const dn__post *post)
{
        lone_carrier *self = context;
        arrival *to = &self->posts[self->n_posts];

        CHECK(self->n_posts < LONE_MAX_POSTS);
        (void)snprintf(to->name, sizeof to->name, "%s", post->name.text);
        (void)snprintf(to->sender, sizeof to->sender, "%s", post->origin.sender);
        to->is_own = post->origin.is_own;
        to->is_after_other_table = self->n_other_tables > 0;
        to->generation = post->generation;
        to->number = post->body.number;
        to->n_lost = post->body.n_lost;
        self->n_posts++;
        return 1;
}

static inline void lone_other_table(void *context)
{
        ((lone_carrier *)context)->n_other_tables++;
}

static inline void lone_may_have_missed(void *context)
{
        ((lone_carrier *)context)->n_missed++;
}

static inline void lone_connection_changed(void *context)
{
        ((lone_carrier *)context)->n_changes++;
}

static inline void lone_closed(void *context)
{
        lone_carrier *self = context;

        self->n_closed++;
        (void)dn__loop_close(self->loop);
}

static inline void lone_ended(void *context)
{
        lone_carrier *self = context;

        dn__carrier_free(self->carrier);
        self->is_freed = true;
}

/* Not started yet. */
static inline void lone_open(lone_carrier *self, const dn__wire *wire, const char *bus)
{
        static const dn__sink sink = {lone_received, lone_other_table, lone_may_have_missed,
                                      lone_connection_changed, lone_closed};
        dn__loop_options loop = {"dn-service", .polls = true, .closed = lone_ended,
                                 .context = self};
        dn__address address = {0};
        dn__dbus_options options = {&address, wire, NULL, &sink, self};

        CHECK_EQ(dn__address_resolve(bus, &address), 0);
        CHECK_EQ(dn__loop_new(&loop, &self->loop), 0);
        options.loop = self->loop;
        CHECK_EQ(dn__dbus_new(&options, &self->carrier), 0);
}

static inline void lone_start(lone_carrier *self)
{
        uint64_t deadline_us = 0;

        CHECK_EQ(dn__carrier_start(self->carrier, &deadline_us), 0);
}

/* Waits until the bus calls the carrier with the posts of a name. */
static inline void lone_subscribe(lone_carrier *self, const char *text)
{
        dn__name name;
        uint64_t deadline_us = 0;

        CHECK_EQ(dn__name_init(&name, text, DN__REACH_BEYOND), 0);
        CHECK_EQ(dn__carrier_subscribe(self->carrier, &name, false, &self->subscription), 0);
        WAIT_UNTIL_EQ((deadline_us = 0,
                       dn__carrier_await(self->carrier, self->subscription, &deadline_us)),
                      0);
}

static inline int lone_post(lone_carrier *self, const char *text, bool is_queued)
{
        dn__post post = {.origin.is_own = true, .is_queued = is_queued};

        CHECK_EQ(dn__name_init(&post.name, text, DN__REACH_BEYOND), 0);
        return self->carrier->ops->post(self->carrier, &post);
}

static inline void lone_close(lone_carrier *self)
{
        dn__carrier_unsubscribe(self->carrier, self->subscription);
        dn__carrier_close(self->carrier);
        WAIT_UNTIL(self->is_freed);
        CHECK_EQ(self->n_closed, 1);
        dn__thread_join_all();
}
