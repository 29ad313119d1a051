/* Whether the screen saver is active. */
#include "sources/sources.h"

#define GNOME "org.gnome.ScreenSaver"
#define FREEDESKTOP "org.freedesktop.ScreenSaver"

static int ask_gnome(service *service)
{
        return service_call(service, "/org/gnome/ScreenSaver", GNOME, "GetActive", "");
}

static int ask_freedesktop(service *service)
{
        return service_call(service, "/org/freedesktop/ScreenSaver", FREEDESKTOP, "GetActive", "");
}

static int answer(service *service, sd_bus_message *reply, uint64_t *ret_value)
{
        int is_active, r = sd_bus_message_read(reply, "b", &is_active);

        (void)service;
        if (r < 0)
                return r;
        *ret_value = (uint64_t)is_active;
        return 1;
}

static const service_kind gnome = {
        .name = GNOME,
        .rules = { "interface='" GNOME "',member='ActiveChanged'" },
        .ask = ask_gnome,
        .answer = answer,
};

static const service_kind freedesktop = {
        .name = FREEDESKTOP,
        .rules = { "interface='" FREEDESKTOP "',member='ActiveChanged'" },
        .ask = ask_freedesktop,
        .answer = answer,
};

const source_kind source_screen = {
        .name = "screen",
        .origin = "GetActive of " GNOME " or " FREEDESKTOP,
        .names = {
                { .text = "com.apple.springboard.hasBlankedScreen", .events = EVENT_BOTH,
                  .has_state = true },
                { .text = "com.apple.iokit.hid.displayStatus", .events = EVENT_BOTH,
                  .has_state = true, .is_inverse = true },
                { .text = "com.apple.screensaver.didstart", .events = EVENT_ON,
                  .is_distributed = true },
                { .text = "com.apple.screensaver.willstop", .events = EVENT_OFF,
                  .is_distributed = true },
                { .text = "com.apple.screensaver.didstop", .events = EVENT_OFF,
                  .is_distributed = true },
        },
        .services = { &gnome, &freedesktop },
        .is_off_when_missing = true,
};
