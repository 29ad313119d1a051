/* Lets a test see and change the calls that the library makes to the bus. Include it in only one
 * file of a test program. */
#pragma once

#include <dlfcn.h>
#include <stdarg.h>
#include <systemd/sd-bus.h>

#include "test.h"

/* May change the destination of a call and its first argument, which is NULL if there is none.
 * Defined by the test. */
static void on_call(const char *member, const char **destination, const char **argument);

/* Called after libsystemd has queued a call. A test may define it with a value. */
static void (*after_call)(sd_bus *connection, const char *member);

/* Overrides libsystemd's. */
int sd_bus_call_method_async(sd_bus *connection, sd_bus_slot **slot, const char *destination,
                             const char *path, const char *interface, const char *member,
                             sd_bus_message_handler_t handler, void *context, const char *types,
                             ...)
{
        int (*call)(sd_bus *, sd_bus_slot **, const char *, const char *, const char *,
                    const char *, sd_bus_message_handler_t, void *, const char *, ...);
        const char *argument;
        va_list arguments;
        int r;

        va_start(arguments, types);
        argument = *types ? va_arg(arguments, const char *) : NULL;
        va_end(arguments);
        on_call(member, &destination, &argument);
        *(void **)&call = dlsym(RTLD_NEXT, "sd_bus_call_method_async");
        CHECK(call);
        r = call(connection, slot, destination, path, interface, member, handler, context, types,
                 argument, UINT32_C(0));
        if (after_call)
                after_call(connection, member);
        return r;
}
