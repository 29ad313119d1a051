/* The agent: its event loop, its buses, its sources. */
#include "agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "say.h"
#include "source.h"
#include "sources/sources.h"
#include "starts/starts.h"

static int add_sources(agent *agent)
{
        agent->sources = calloc(n_source_kinds, sizeof(*agent->sources));
        if (!agent->sources)
                return -ENOMEM;
        for (size_t i = 0; i < n_source_kinds; i++) {
                agent->sources[i] = source_new(agent, source_kinds[i]);
                if (!agent->sources[i])
                        return -ENOMEM;
                agent->n_sources++;
        }
        return 0;
}

static int run_callbacks(sd_event_source *event, int fd, uint32_t events, void *context)
{
        agent *agent = context;

        (void)event, (void)fd, (void)events;
        (void)dn_loop_process(agent->loop);
        return 0;
}

static int open_loop(agent *agent)
{
        int r = dn_loop_new(&agent->loop);

        return r < 0 ? r
                     : sd_event_add_io(agent->event, NULL, dn_loop_get_fd(agent->loop), EPOLLIN,
                                       run_callbacks, agent);
}

int agent_init(agent *agent, bool posts)
{
        int r;

        *agent = (struct agent){ 0 };
        r = sd_event_new(&agent->event);
        if (r >= 0 && posts)
                r = open_loop(agent);
        if (r < 0)
                return r;
        bus_init(&agent->system_bus, agent, true);
        bus_init(&agent->session_bus, agent, false);
        agent->starts = starts_new(agent);
        return agent->starts ? add_sources(agent) : -ENOMEM;
}

int agent_start(agent *agent)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < agent->n_sources; i++)
                r = source_start(agent->sources[i]);
        if (r < 0)
                return r;
        bus_open(&agent->system_bus);
        bus_open(&agent->session_bus);
        return 0;
}

void agent_look(agent *agent)
{
        bus_try(&agent->system_bus);
        bus_try(&agent->session_bus);
        for (size_t i = 0; i < agent->n_sources; i++)
                source_look(agent->sources[i]);
}

static bool is_settled(const agent *agent)
{
        for (size_t i = 0; i < agent->n_sources; i++)
                if (!source_is_settled(agent->sources[i]))
                        return false;
        return starts_is_settled(agent->starts);
}

static uint64_t now_us(void)
{
        struct timespec now;

        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void agent_settle(agent *agent, unsigned timeout_ms)
{
        uint64_t until_us = now_us() + timeout_ms * UINT64_C(1000), now;
        int status;

        /* After a request to end, one more run would leave nothing for sd_event_loop(). */
        while (!is_settled(agent) && sd_event_get_exit_code(agent->event, &status) < 0 &&
               (now = now_us()) < until_us)
                if (sd_event_run(agent->event, until_us - now) < 0)
                        return;
}

void agent_deinit(agent *agent)
{
        for (size_t i = 0; i < agent->n_sources; i++)
                (void)source_free(agent->sources[i]);
        free(agent->sources);
        agent->starts = starts_free(agent->starts);
        bus_deinit(&agent->system_bus);
        bus_deinit(&agent->session_bus);
        (void)dn_loop_close(agent->loop);
        (void)sd_event_unref(agent->event);
}
