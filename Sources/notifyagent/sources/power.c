/* Whether the system runs on battery. */
#include "sources/sources.h"
#include "sources/upower.h"

static int ask(service *service)
{
        return service_get(service, UPOWER_PATH, UPOWER_NAME, "OnBattery");
}

static int answer(service *service, sd_bus_message *reply, uint64_t *ret_value)
{
        int is_on_battery, r = sd_bus_message_read(reply, "v", "b", &is_on_battery);

        (void)service;
        if (r < 0)
                return r;
        *ret_value = !is_on_battery;
        return 1;
}

static const service_kind upower = {
        .name = UPOWER_NAME,
        .is_on_system_bus = true,
        .rules = { UPOWER_RULE },
        .ask = ask,
        .answer = answer,
};

const source_kind source_power = {
        .name = "power",
        .origin = "OnBattery of " UPOWER_NAME,
        .names = {
                { .text = "com.apple.system.powersources.source", .events = EVENT_BOTH },
                { .text = "com.apple.springboard.pluggedin", .events = EVENT_BOTH,
                  .has_state = true },
        },
        .services = { &upower },
};
