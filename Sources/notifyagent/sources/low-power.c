/* Whether the system saves power. */
#include <string.h>

#include "sources/sources.h"

#define OLD_NAME "net.hadess.PowerProfiles"
#define OLD_PATH "/net/hadess/PowerProfiles"
#define NEW_NAME "org.freedesktop.UPower.PowerProfiles"
#define NEW_PATH "/org/freedesktop/UPower/PowerProfiles"
#define PROPERTY "ActiveProfile"
#define RULE "interface='org.freedesktop.DBus.Properties',member='PropertiesChanged'"

static int answer(service *service, sd_bus_message *reply, uint64_t *ret_value)
{
        const char *profile;
        int r = sd_bus_message_read(reply, "v", "s", &profile);

        (void)service;
        if (r < 0)
                return r;
        *ret_value = strcmp(profile, "power-saver") == 0;
        return 1;
}

static const service_kind old_profiles = {
        .name = OLD_NAME,
        .is_on_system_bus = true,
        .rules = { "path='" OLD_PATH "'," RULE },
        .path = OLD_PATH,
        .property = PROPERTY,
        .answer = answer,
};

static const service_kind new_profiles = {
        .name = NEW_NAME,
        .is_on_system_bus = true,
        .rules = { "path='" NEW_PATH "'," RULE },
        .path = NEW_PATH,
        .property = PROPERTY,
        .answer = answer,
};

const source_kind source_low_power = {
        .name = "low-power",
        .origin = PROPERTY " of " NEW_NAME " or " OLD_NAME,
        .names = {
                { .text = "com.apple.system.lowpowermode", .events = EVENT_BOTH,
                  .has_state = true },
        },
        .services = { &new_profiles, &old_profiles },
};
