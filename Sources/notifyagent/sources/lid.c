/* Whether the lid is closed. */
#include "sources/sources.h"
#include "sources/upower.h"

static int ask(service *service)
{
        return service_get(service, UPOWER_PATH, UPOWER_NAME, "LidIsClosed");
}

static int answer(service *service, sd_bus_message *reply, uint64_t *ret_value)
{
        int is_closed, r = sd_bus_message_read(reply, "v", "b", &is_closed);

        (void)service;
        if (r < 0)
                return r;
        *ret_value = (uint64_t)is_closed;
        return 1;
}

static const service_kind upower = {
        .name = UPOWER_NAME,
        .is_on_system_bus = true,
        .rules = { UPOWER_RULE },
        .ask = ask,
        .answer = answer,
};

const source_kind source_lid = {
        .name = "lid",
        .origin = "LidIsClosed of " UPOWER_NAME,
        .names = {
                { .text = "com.apple.system.powermanagement.clamshellstate", .events = EVENT_BOTH,
                  .has_state = true },
        },
        .services = { &upower },
};
