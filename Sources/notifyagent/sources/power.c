/* Whether the system runs on battery. */
#include "sources/sources.h"
#include "sources/upower.h"

static int answer(service *service, sd_bus_message *reply, uint64_t *ret_value)
{
        uint64_t is_on_battery;
        int r = service_answer_flag(service, reply, &is_on_battery);

        if (r > 0)
                *ret_value = !is_on_battery;
        return r;
}

static const service_kind upower = {
        .name = UPOWER_NAME,
        .is_on_system_bus = true,
        .rules = { UPOWER_RULE },
        .path = UPOWER_PATH,
        .property = "OnBattery",
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
