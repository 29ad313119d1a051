/* An observer that counts its calls. */
#pragma once

#include <darwinnotify/darwinnotify.h>
#include <stdatomic.h>
#include <stdio.h>

#include "centers.h"
#include "late.h"
#include "test-peer.h"
#include "test.h"

typedef struct tally {
        _Atomic uint64_t n_calls;
        _Atomic uint64_t n_posts;
        _Atomic uint64_t n_destroyed;
        _Atomic bool blocks; /* while set, a call does not return */
} tally;

static inline void tally_invoke(const dn_event *event, void *context)
{
        tally *self = context;

        self->n_calls++;
        self->n_posts += event->n_posts;
        WAIT_UNTIL(!self->blocks);
}

static inline void tally_destroy(void *context)
{
        ((tally *)context)->n_destroyed++;
}

#define TALLY_HANDLER(self) \
        (&(dn_handler){.invoke = tally_invoke, .context = (self), .destroy = tally_destroy})

/* The numbers of the handlers that were called, in order; at most 64. */
static int noted[64];
static _Atomic int n_noted;

static inline void note_number(const dn_event *event, void *context)
{
        int at = n_noted; /* gcc does not treat an atomic index as an index */

        noted[at] = (int)(intptr_t)context;
        n_noted++;
}

#define NOTING(number) \
        (&(dn_handler){.invoke = note_number, .context = (void *)(intptr_t)(number)})

/* For dn_center_add_observer(), with the tally as the observer. */
static inline void tally_callback(dn_center *center, void *observer, const char *name,
                                  const void *object, const dn_dict *user_info)
{
        ((tally *)observer)->n_calls++;
}

static inline dn_observer *observe_ok(dn_center *center, const char *name,
                                      const dn_handler *handler, const dn_executor *executor)
{
        dn_observer *observer = NULL;
        uint64_t began_us = test_now_us();
        int r = dn_center_observe(center, name, handler, executor, &observer);

        CHECK_EQ(settle_name(center, name, r, began_us), 0);
        CHECK(observer);
        return observer;
}

static inline dn_observer *tally_observe_on(dn_center *center, const char *name, tally *self,
                                            const dn_executor *executor)
{
        return observe_ok(center, name, TALLY_HANDLER(self), executor);
}

static inline dn_observer *tally_observe(dn_center *center, const char *name, tally *self)
{
        return tally_observe_on(center, name, self, NULL);
}

/* Returns "STEM.NUMBER", valid until this thread has made four more. */
static inline const char *numbered(const char *stem, unsigned number)
{
        static _Thread_local char names[4][64];
        static _Thread_local unsigned next;
        char *name = names[next++ % 4];

        snprintf(name, sizeof names[0], "%s.%u", stem, number);
        return name;
}

/* Observes that many numbered names. */
static inline void tally_observe_all(const char *stem, tally *seen, unsigned n)
{
        for (unsigned i = 0; i < n; i++)
                tally_observe(dn_center_darwin(), numbered(stem, i), &seen[i]);
}

/* Registers now, or as soon as the bus answers, which may take longer than a call waits if the bus
 * is busy or gone. Posts made meanwhile are still received. */
static inline dn_observer *tally_observe_soon(dn_center *center, const char *name, tally *self)
{
        dn_observer *observer = NULL;
        int r = dn_center_observe(center, name, TALLY_HANDLER(self), NULL, &observer);

        CHECK_EQ(r < 0 ? r : 0, 0);
        CHECK(observer);
        return observer;
}

static inline dn_observer *tally_observe_prefix(const char *prefix, tally *self)
{
        dn_observer *observer = NULL;

        CHECK_EQ(dn_center_observe_prefix(dn_center_darwin(), prefix, TALLY_HANDLER(self), NULL,
                                          &observer),
                 0);
        return observer;
}

static inline dn_observer *tally_drop(dn_observer *observer)
{
        dn_observer_cancel(observer);
        return dn_observer_unref(observer);
}

/* Expects the bus to have no room for an observer; one that it has not refused yet when the call
 * returns is dropped and tried again. */
static inline void expect_refusal(dn_center *center, const char *name, tally *self)
{
        await_bus(center);
        for (uint64_t n = self->n_destroyed + 1;; n++) {
                dn_observer *observer = NULL;
                uint64_t began_us = test_now_us();
                int r = dn_center_observe(center, name, TALLY_HANDLER(self), NULL, &observer);
                if (r != 0 || !is_late(began_us)) {
                        CHECK_EQ(r, -ENOBUFS);
                        CHECK(!observer);
                        CHECK_EQ(self->n_destroyed, n);
                        return;
                }
                tally_drop(observer);
                WAIT_UNTIL_EQ(self->n_destroyed, n);
        }
}

static inline void post_ok(dn_center *center, const char *name)
{
        uint64_t began_us = test_now_us();
        int r = dn_center_post(center, name, NULL, NULL, 0);

        CHECK_EQ(settle(center, r, began_us), 0);
}

/* Posts now, or as soon as there is a bus that accepts it. */
static inline void post_soon(dn_center *center, const char *name)
{
        int r = dn_center_post(center, name, NULL, NULL, 0);

        CHECK(r >= 0);
}

/* Returns when everything this process has posted so far has passed through the delivery thread. */
static inline void fence_executor(void)
{
        static _Atomic unsigned n_fences;
        dn_center *center = dn_center_darwin();
        tally end = {0};
        dn_observer *observer = NULL;
        const char *name = FORMAT("self.fence.%u", n_fences++);

        CHECK(dn_center_observe(center, name, TALLY_HANDLER(&end), NULL, &observer) != -EINVAL);
        dn_center_post(center, name, NULL, NULL, 0);
        WAIT_UNTIL_EQ(end.n_calls, 1);
        tally_drop(observer);
        WAIT_UNTIL_EQ(end.n_destroyed, 1);
}

static inline uint64_t statistic(int number)
{
        return statistic_of(dn_center_darwin(), number);
}

/* Posts each name that it reads: the peer where there is no bus. */
ROLE(testPeer)
{
        char line[1024];

        while (fgets(line, sizeof line, stdin)) {
                line[strcspn(line, "\n")] = '\0';
                if (dn_center_post(dn_center_darwin(), line, NULL, NULL, 0) < 0)
                        return 1;
                printf("posted\n");
        }
        return 0;
}

/* Posts again each second: what reaches the bus before it has the rule is lost. */
static inline void post_each_second(test_peer *peer, const char *name, uint64_t *next_us)
{
        if (test_now_us() < *next_us)
                return;
        test_peer_post(peer, name);
        *next_us = test_now_us() + 1000000;
}

/* Returns the name of this process's connection to a peer that watches every post. */
static inline const char *own_name(test_peer *peer)
{
        static test_signal own;

        post_ok(dn_center_darwin(), "who");
        test_peer_next(peer, &own);
        CHECK_STREQ(own.name, "who");
        return own.sender;
}

/* Waits for the echo of a post of this process. */
static inline void wait_for_echo(test_peer *peer, const char *mark)
{
        post_ok(dn_center_darwin(), mark);
        test_peer_await(peer, mark, NULL);
}

/* Returns when everything `peer` has sent so far, and the echo of this process's own posts, has
 * passed through the bus, the service thread and the delivery thread; without a bus through the
 * table, the direct thread and the delivery thread. `peer` must watch TEST_WIRE_RULE. */
static inline void fence_bus(test_peer *peer)
{
        static _Atomic unsigned n_fences;
        dn_center *center = dn_center_darwin();
        tally end = {0};
        const char *name = FORMAT("fence.end%u", n_fences++);
        uint64_t next_us = 0;

        if (test_peer_is_on_bus(peer))
                wait_for_echo(peer, FORMAT("%s.mark", name));
        /* Not earlier: during a flood the bus answers later than a call waits. */
        dn_observer *observer = tally_observe(center, name, &end);
        WAIT_UNTIL((post_each_second(peer, name, &next_us), end.n_calls > 0));
        tally_drop(observer);
        WAIT_UNTIL_EQ(end.n_destroyed, 1);
}
