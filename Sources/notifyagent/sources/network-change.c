/* Any change of the network configuration, after the names of its parts. */
#include "pace.h"
#include "sources/sources.h"

static void post(void *context)
{
        source_post(context, EVENT_CHANGED);
}

static pace *pace_of(source *source)
{
        return (pace *)source->data;
}

static int start(source *source)
{
        pace_init(pace_of(source), source->agent->event, post, source);
        return 0;
}

/* It reports what the other sources have found. */
static void look(source *source)
{
        (void)source;
}

static void stop(source *source)
{
        pace_deinit(pace_of(source));
}

void network_changed(agent *agent)
{
        for (size_t i = 0; i < agent->n_sources; i++)
                if (agent->sources[i]->kind == &source_network_change)
                        pace_ask(pace_of(agent->sources[i]));
}

const source_kind source_network_change = {
        .name = "network-change",
        .origin = "network or dns, at most every 100 ms",
        .names = {
                { .text = "com.apple.system.config.network_change", .events = EVENT_CHANGED },
        },
        .data_bytes = sizeof(pace),
        .start = start,
        .look = look,
        .stop = stop,
};
