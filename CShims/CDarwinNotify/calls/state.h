/* The state of the requests of a process on one bus, in both directions. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/client.h"
#include "bus/state.h"
#include "calls/names.h"
#include "darwinnotify/call.h"
#include "darwinnotify/service.h"
#include "delivery/hub.h"
#include "util/list.h"
#include "util/map.h"

/* Limit of callers that are remembered between their requests. */
#define DN__CALLERS_MAX_IDLE 256

typedef struct dn__calls dn__calls;

/* Work for an executor. Only the service thread hands it over, so that its order is kept. */
typedef struct dn__job {
        dn__link link;
        dn__executor *executor; /* borrowed; the work keeps it; NULL: the service thread */
        dn_work_fn run;
        void *argument;
} dn__job;

/* Match rules for names that may change hands. */
typedef struct dn__name_rules {
        dn__calls *calls; /* constant, as the next two */
        const char *wide; /* the rule of all names */
        void (*ask_again)(dn__calls *calls); /* about the names; the wide rule was requested */
        size_t n_narrow;    /* names with a rule of their own */
        bool has_wide;      /* the bus has, or was asked for, the wide rule */
        bool has_made_room; /* for that rule, at the limit of the bus */
} dn__name_rules;

struct dn__calls {
        dn__bus_client client;
        dn__dbus *dbus; /* its lock guards the fields below, which the compiler cannot express */
        dn__loop *loop;       /* constant, as the next three */
        dn__hub *hub;         /* borrowed: it outlives them */
        dn_center *center;
        uint64_t fork_id;

        dn__link jobs;
        dn__link calls; /* in progress: dn_call */
        dn__map by_serial; /* replies that they wait for */
        size_t n_calls;
        size_t n_call_bytes;
        /* No later than the earliest deadline of a call. It is left unchanged when that call ends,
         * so that a later call need not wake the thread. */
        uint64_t until_us;

        dn__link services; /* dn_service */
        dn__map callers;
        dn__link busy_callers;
        dn__link idle_callers; /* by age, oldest first */
        size_t n_idle_callers;
        sd_bus_message_handler_t answered_who; /* constant: handles the reply about a caller */
        dn__name_rules caller_rules;

        dn__map owners;            /* dn__owner */
        dn__link due_owners;       /* whose state is to be delivered: */
        uint64_t owners_us;        /* not before, for want of memory */
        dn__name_rules owner_rules;

        uint64_t last_id;
        _Atomic size_t n_users; /* calls and requests that exist, open services: each keeps the
                                 * center open */
};

/* A process that has made requests. Here and below, `calls->dbus->lock` guards the fields that
 * change. `n_refs` is atomic, and `info` is constant once the handler has the request. */
typedef struct dn__caller {
        dn__map_entry entry;
        dn__link link;     /* in `busy_callers` or `idle_callers` */
        bool is_idle;
        bool has_rule;     /* of its own */
        dn__link requests; /* in progress, in the order of their arrival */
        size_t n_requests;
        size_t n_bytes; /* of their arguments */
        dn__calls *calls;
        sd_bus_slot *process_query;
        sd_bus_slot *query; /* the last one: who it is; NULL: answered */
        uint32_t user;
        int32_t process;
        char name[];
} dn__caller;

/* A name on the bus. */
struct dn_service {
        dn__link link; /* in `services`; unlinked: closed */
        uint64_t fork_id;
        dn__lock lock;    /* never held together with another one; guards: */
        dn__calls *calls; /* kept; NULL: closed, perhaps by dn_shutdown(). The handler of `query`
                           * reads it under the lock of the connection alone: closing drops the
                           * query under that lock first */
        dn__calls *origin; /* constant: the same, also kept by a report */
        dn__executor *executor;
        dn_service_handler handler;
        const char **kinds; /* sorted */
        size_t n_kinds;
        sd_bus_slot *query; /* the request for the name; NULL: answered */
        int answer;            /* of the last one: 0, DN_NAME_QUEUED or a negative errno */
        bool may_queue;
        bool has_name;
        uint64_t n_changes;  /* of `has_name` while open */
        uint64_t n_reported; /* of these, to the handler */
        bool is_reporting;
        dn__job report;      /* of changes */
        _Atomic unsigned n_refs; /* held by its owner, each request, each job */
        char path[DN__CALL_NAME_BYTES];
        char name[];
};

struct dn_request {
        dn_request_info info;
        dn_sender from; /* info.caller */
        dn__link link;      /* in the caller's `requests` */
        dn__caller *caller; /* NULL: nobody waits for the reply any more */
        dn__calls *calls;    /* keeps them */
        dn_service *service; /* keeps it */
        sd_bus_message *message; /* to be answered; NULL with `caller` */
        size_t n_bytes;
        bool has_begun; /* the handler has it */
        _Atomic unsigned n_refs; /* held by the caller's list, each job, the handler */
        dn__job begin;
        dn__job cancel;
        char text[]; /* the sender, then the kind */
};

/* A reply that a call waits for. */
typedef struct dn__awaited {
        dn__map_entry entry; /* in `by_serial` */
        uint64_t serial;
        dn_call *call;
        bool is_awaited;
} dn__awaited;

struct dn_call {
        dn__awaited answer;
        dn__awaited owner_answer; /* who owns the service's name; before `answer`, if it matters */
        char *owner;          /* NULL: nobody when the call was sent, so anybody may answer */
        bool is_owner_known;
        dn__link link; /* in `calls`; unlinked: it has ended */
        dn__calls *calls;
        uint64_t until_us;
        size_t n_bytes; /* of its arguments */
        dn__executor *executor;
        dn_call_handler handler;
        dn__job job;           /* calls the handler */
        dn_outcome outcome;    /* owns what it points to, once the call has ended */
        _Atomic unsigned n_refs; /* held by the caller, and until its end is reported */
        char service[];        /* for a cancellation */
};

/* Adds work, under the lock, and makes the service thread hand it over. */
void dn__calls_add_job(dn__calls *calls, dn__job *job) DN__REQUIRES(&calls->dbus->lock);

/* Hands over one piece of work, or all added work. On the service thread, without the lock. */
void dn__job_hand_over(const dn__job *job);
void dn__calls_hand_over(dn__calls *calls);

/* Sends a message, under the lock. With `ret_serial`, its reply is awaited. Returns 0 or a
 * negative errno: -ENOTCONN if it was made for an earlier connection. */
int dn__calls_send(dn__calls *calls, sd_bus_message *message, uint64_t *ret_serial)
        DN__REQUIRES(&calls->dbus->lock);

/* Calls a method of the bus that takes one string, without awaiting a reply. */
void dn__calls_tell_bus(dn__calls *calls, const char *method, const char *argument)
        DN__REQUIRES(&calls->dbus->lock);

/* Connects a center that is to make requests or answer them. The caller gets a reference to its
 * hub. Returns 0; -EINVAL if the center has no calls; -ENOTCONN if it has no bus; or the negative
 * errno of dn__hub_get() or dn__carrier_start(). */
int dn__calls_start(dn_center *center, dn__hub **ret_hub);

/* Count who uses the calls; the last one lets the center close. A forked child releases nothing. */
void dn__calls_retain(dn__calls *calls);
void dn__calls_release(dn__calls *calls);

static inline bool dn__calls_are_current(const dn__calls *calls)
{
        return calls->fork_id == dn__fork_id();
}
