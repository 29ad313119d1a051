/* Calls whose bus answers later than they wait for it, as on a machine that stands still. */
#pragma once

#include <darwinnotify/darwinnotify.h>

#include "test.h"

/* For calls that must not find themselves without the bus. */
static inline void await_bus(dn_center *center)
{
        WAIT_UNTIL_EQ(dn_center_is_on_bus(center), 1);
}

/* A call waits 0.9 s for its bus, then takes effect without it. */
static inline bool is_late(uint64_t began_us)
{
        return test_now_us() - began_us > 800000;
}

/* Returns the result of an observation or a post that began then, or 0 if it only found no bus yet.
 * If so, or if it was late, first waits for the bus: until then posts of a name are merged, and
 * those of foreign programs are lost. Gives up after a while where there is none. */
static inline int settle(dn_center *center, int r, uint64_t began_us)
{
        uint64_t until_us = test_now_us() + TEST_STUCK_US;

        if (r < 0 || (r == 0 && !is_late(began_us)))
                return r;
        if (center == dn_center_local()) /* it was late by its callbacks */
                return r;
        if (!is_late(began_us) && dn_center_is_on_bus(center) == 1)
                return r;
        while (dn_center_is_on_bus(center) == 0) {
                if (test_now_us() > until_us)
                        return r;
                test_breathe();
        }
        return 0;
}

static inline void ignore_event(const dn_event *event, void *context)
{
}

/* As settle(), for an observation. If it was late, others follow it until one is not: the bus
 * answers in order, and has the rules then. */
static inline int settle_observer(dn_center *center, const dn_filter *filter, int r,
                                  uint64_t began_us)
{
        r = settle(center, r, began_us);
        for (int i = 0; r == 0 && is_late(began_us) && i < 20; i++) {
                dn_observer *next = NULL;

                began_us = test_now_us();
                r = dn_center_observe_filtered(center, filter,
                                               &(dn_handler){.invoke = ignore_event}, NULL, &next);
                dn_observer_cancel(next);
                dn_observer_unref(next);
        }
        return r;
}

static inline int settle_name(dn_center *center, const char *name, int r, uint64_t began_us)
{
        return settle_observer(center, &(dn_filter){.name = name}, r, began_us);
}

/* --- The second in which running handlers may return ------------------------------------------ */

/* How a process exits whose second was over before its handler could return. */
#define EXITED_LATE 75
