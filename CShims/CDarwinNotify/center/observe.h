/* Registers observers. */
#pragma once

#include <stdbool.h>

#include "center/executor.h"
#include "center/hub.h"
#include "center/observer.h"
#include "center/topic.h"

/* The properties of a new observer. */
typedef struct dn__observer_spec {
        const void *object; /* NULL: all */
        dn_handler handler;
        dn__executor *executor; /* NULL: posters call it */
        dn__backlog *backlog;   /* NULL: it receives the posts of its inbox */
        bool is_suspended;      /* initially */
} dn__observer_spec;

/* Adds an observer to a held topic, with its own reference to the executor. On failure neither the
 * handler nor the backlog is consumed. `ret_observer` may be NULL and is set before the first
 * invocation. Returns 0 or -ENOMEM. */
int dn__observe_topic(dn__topic *topic, const dn__observer_spec *spec, dn_observer **ret_observer);

/* Registers an observer of a name. Consumes the handler and the executor reference, also on
 * failure, and the backlog on success. Returns as dn_center_observe(). */
int dn__observe_name(dn__hub *hub, const dn__name *name, const dn__observer_spec *spec,
                     dn_observer **ret_observer);
