/* The end of a sleep, after which everything may be different. It has no name of its own. */
#include "sources/sources.h"

static void heard(service *service, sd_bus_message *signal)
{
        int is_beginning;

        if (sd_bus_message_read(signal, "b", &is_beginning) >= 0 && !is_beginning)
                agent_look(service->source->agent);
}

static void look(source *source)
{
        (void)source;
}

static const service_kind logind = {
        .name = "org.freedesktop.login1",
        .is_on_system_bus = true,
        .rules = { "interface='org.freedesktop.login1.Manager',member='PrepareForSleep'" },
        .heard = heard,
};

const source_kind source_sleep = {
        .name = "sleep",
        .origin = "PrepareForSleep of org.freedesktop.login1: all others look again afterwards",
        .services = { &logind },
        .look = look,
};
