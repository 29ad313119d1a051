/* Whether the user's session is locked, as reported by its screen locker. */
#include <string.h>
#include <unistd.h>

#include "sources/sources.h"

#define NAME "org.freedesktop.login1"
#define MANAGER_PATH "/org/freedesktop/login1"
#define MANAGER NAME ".Manager"

/* The user, then its session with a display, then whether that is locked. */
enum { USER, DISPLAY, LOCKED };

static int ask(service *service)
{
        return service_call(service, MANAGER_PATH, MANAGER, "GetUser", "u", (uint32_t)getuid());
}

static int ask_display(service *service, sd_bus_message *reply)
{
        const char *user;
        int r = sd_bus_message_read(reply, "o", &user);

        service->step = DISPLAY;
        return r < 0 ? r : service_get(service, user, NAME ".User", "Display");
}

/* Without such a session nothing is locked. */
static int ask_locked(service *service, sd_bus_message *reply, uint64_t *ret_value)
{
        const char *session, *path;
        int r = sd_bus_message_read(reply, "v", "(so)", &session, &path);

        if (r < 0)
                return r;
        if (!*session) {
                *ret_value = 0;
                return 1;
        }
        service->step = LOCKED;
        return service_get(service, path, NAME ".Session", "LockedHint");
}

static int answer(service *service, sd_bus_message *reply, uint64_t *ret_value)
{
        if (service->step == USER)
                return ask_display(service, reply);
        if (service->step == DISPLAY)
                return ask_locked(service, reply, ret_value);
        return service_answer_flag(service, reply, ret_value);
}

/* The user is not logged in, or the session has just ended. */
static bool is_none(const char *error)
{
        return strcmp(error, NAME ".NoSuchUser") == 0 ||
               strcmp(error, NAME ".NoSuchSession") == 0 ||
               strcmp(error, SD_BUS_ERROR_UNKNOWN_OBJECT) == 0;
}

static const service_kind logind = {
        .name = NAME,
        .is_on_system_bus = true,
        .rules = {
                "interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',"
                "arg0='" NAME ".Session'",
                "interface='" MANAGER "',member='SessionNew'",
                "interface='" MANAGER "',member='SessionRemoved'",
        },
        .ask = ask,
        .answer = answer,
        .is_none = is_none,
};

const source_kind source_lock = {
        .name = "lock",
        .origin = "LockedHint of the session in " NAME,
        .names = {
                { .text = "com.apple.sessionagent.screenIsLocked", .events = EVENT_ON,
                  .has_state = true },
                { .text = "com.apple.sessionagent.screenIsUnlocked", .events = EVENT_OFF },
                { .text = "com.apple.springboard.lockstate", .events = EVENT_BOTH,
                  .has_state = true },
                { .text = "com.apple.springboard.lockcomplete", .events = EVENT_ON },
                { .text = "com.apple.screenIsLocked", .events = EVENT_ON, .is_distributed = true },
                { .text = "com.apple.screenIsUnlocked", .events = EVENT_OFF,
                  .is_distributed = true },
        },
        .services = { &logind },
};
