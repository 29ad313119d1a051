/* A source: something that happens on this system, and the names that say so. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent.h"
#include "service.h"

#define SOURCE_MAX_NAMES 6
#define SOURCE_MAX_SERVICES 3
#define SOURCE_TEXT_BYTES 256

/* After which events a name is posted. A source with a value has the first two. */
enum {
        EVENT_ON = 1 << 0,  /* the value is no longer 0 */
        EVENT_OFF = 1 << 1, /* it is 0 again */
        EVENT_BOTH = EVENT_ON | EVENT_OFF,
        EVENT_CHANGED = EVENT_ON, /* of sources without a value */
};

typedef struct source_name {
        const char *text;
        unsigned events;
        bool is_distributed; /* of the distributed center, else of the Darwin center */
        bool has_state;      /* the value */
        bool is_inverse;     /* the state is 1 while the value is 0 */
} source_name;

/* Each kind has a file of its own. */
typedef struct source_kind {
        const char *name;
        const char *origin; /* what it looks at */
        source_name names[SOURCE_MAX_NAMES + 1];
        /* Of several values, the largest counts. */
        const service_kind *services[SOURCE_MAX_SERVICES];
        bool is_off_when_missing; /* without its services the value is 0; else it stays */
        size_t data_bytes;        /* what it keeps, all zero at first */
        /* Begins. Returns 0, or a negative errno if it is missing here. NULL: services do all. */
        int (*start)(struct source *source);
        /* Looks what has changed. NULL: the services are asked. */
        void (*look)(struct source *source);
        void (*stop)(struct source *source); /* after `start`, even if that failed; or NULL */
} source_kind;

/* What is said once for each source. */
typedef enum source_problem {
        PROBLEM_SYSTEM,  /* a call of the system fails */
        PROBLEM_REFUSED, /* a service answers with an error, or not in time */
        PROBLEM_GARBAGE, /* it answers something else */
        PROBLEM_POST,    /* a name cannot be posted, or its state cannot be set */
} source_problem;

typedef struct source {
        const source_kind *kind;
        agent *agent;
        int error; /* of `start` */
        service services[SOURCE_MAX_SERVICES];
        size_t n_services;
        int tokens[SOURCE_MAX_NAMES]; /* of the names with a state */
        bool is_known;
        uint64_t value;
        unsigned complaints; /* bits of those made */
        max_align_t data[];
} source;

/* A descriptor that says when to look. */
typedef struct source_watch {
        int fd;
        sd_event_source *event;
} source_watch;

/* Takes over a descriptor, which source_watch_end() closes. Returns 0 or a negative errno. */
int source_watch_start(source_watch *watch, source *source, int fd, uint32_t events,
                       sd_event_io_handler_t on_events);

/* Looks whenever the kernel says that one of its files has changed. Returns 0 or a negative errno.
 */
int source_watch_file(source_watch *watch, source *source, const char *path);

void source_watch_end(source_watch *watch);

source *source_new(agent *agent, const source_kind *kind);
int source_start(source *source);
void source_look(source *source);

/* Sets the states again and posts the names whose state was wrong: the table has changed. */
void source_renew(source *source);

/* Posts the names of some events. */
void source_post(source *source, unsigned events);

/* Sets the value. If it has changed, sets the states, then posts. */
void source_set(source *source, uint64_t value);

/* Called by its services when one has gained or lost information. */
void source_service_changed(source *source);

/* Writes a line for the journal, once for each kind of problem. */
__attribute__((format(printf, 3, 4))) void source_complain(source *source, source_problem problem,
                                                           const char *format, ...);

bool source_is_settled(const source *source);

/* Returns whether its names are posted now; if not, writes what is missing. */
bool source_is_there(const source *source, char ret_missing[SOURCE_TEXT_BYTES]);

/* Returns the state that a name has now. */
uint64_t source_get_state(const source *source, const source_name *name);

/* NULL is allowed. Returns NULL. */
source *source_free(source *source);
