/* Whether the lid is closed. */
#include "sources/sources.h"
#include "sources/upower.h"

static const service_kind upower = {
        .name = UPOWER_NAME,
        .is_on_system_bus = true,
        .rules = { UPOWER_RULE },
        .path = UPOWER_PATH,
        .property = "LidIsClosed",
        .answer = service_answer_flag,
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
