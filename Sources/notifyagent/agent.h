/* The agent: its event loop, its buses, its sources. */
#pragma once

#include <darwinnotify/loop.h>
#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-event.h>

#include "bus.h"

struct source;
struct starts;

typedef struct agent {
        sd_event *event;
        dn_loop *loop;  /* where callbacks of the library run; NULL: nothing is posted */
        bus system_bus;
        bus session_bus;
        struct source **sources; /* owned */
        size_t n_sources;
        struct starts *starts; /* owned */
} agent;

/* Prepares an agent with all sources. With `posts` it holds names, sets states and posts; without,
 * it only looks. Returns 0 or a negative errno. */
int agent_init(agent *agent, bool posts);

/* Begins: opens the buses and starts the sources. Returns 0 or a negative errno. */
int agent_start(agent *agent);

/* Makes all sources look again, and the buses try to connect. */
void agent_look(agent *agent);

/* Runs the loop until every source has found out whether it is available, up to a time limit or a
 * request to end. */
void agent_settle(agent *agent, unsigned timeout_ms);

void agent_deinit(agent *agent);

static inline bool agent_posts(const agent *agent)
{
        return agent->loop;
}
