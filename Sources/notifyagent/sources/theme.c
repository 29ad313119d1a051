/* Whether the desktop is dark. */
#include "sources/sources.h"

#define NAME "org.freedesktop.portal.Desktop"
#define PATH "/org/freedesktop/portal/desktop"
#define SETTINGS "org.freedesktop.portal.Settings"
#define NAMESPACE "org.freedesktop.appearance"

/* Of the values of the setting: 0 no preference, 1 dark, 2 light. */
#define DARK 1

/* Newer portals have ReadOne() too; all have this one, which wraps the value once more. */
static int ask(service *service)
{
        return service_call(service, PATH, SETTINGS, "Read", "ss", NAMESPACE, "color-scheme");
}

static int answer(service *service, sd_bus_message *reply, uint64_t *ret_value)
{
        uint32_t scheme;
        int r = sd_bus_message_read(reply, "v", "v", "u", &scheme);

        (void)service;
        if (r < 0)
                return r;
        *ret_value = scheme == DARK;
        return 1;
}

static const service_kind portal = {
        .name = NAME,
        .rules = { "interface='" SETTINGS "',member='SettingChanged',arg0='" NAMESPACE "'" },
        .ask = ask,
        .answer = answer,
};

const source_kind source_theme = {
        .name = "theme",
        .origin = "color-scheme of " NAME,
        .names = {
                { .text = "AppleInterfaceThemeChangedNotification", .events = EVENT_BOTH,
                  .is_distributed = true },
        },
        .services = { &portal },
};
