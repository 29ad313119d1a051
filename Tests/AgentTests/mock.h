/* Services of python-dbusmock, which stand in for those of a desktop. */
#pragma once

#include <darwinnotify/darwinnotify.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <systemd/sd-bus.h>

#include "stage.h"

#define PYTHON "/usr/bin/python3" /* with the modules of the distribution */
#define MOCK "org.freedesktop.DBus.Mock"

typedef struct mock {
        sd_bus *connection; /* of the test */
} mock;

static inline mock mock_begin(const stage *stage)
{
        static mock mock; /* leak checkers find it at the end */

        CHECK(sd_bus_new(&mock.connection) >= 0);
        CHECK(sd_bus_set_address(mock.connection, test_bus_address(stage->bus)) >= 0);
        CHECK(sd_bus_set_bus_client(mock.connection, 1) >= 0);
        CHECK(sd_bus_start(mock.connection) >= 0);
        return mock;
}

static inline bool mock_owns(const mock *mock, const char *name)
{
        sd_bus_message *reply = NULL;
        int is_owned = 0;

        CHECK(sd_bus_call_method(mock->connection, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                 "org.freedesktop.DBus", "NameHasOwner", NULL, &reply, "s",
                                 name) >= 0);
        CHECK(sd_bus_message_read(reply, "b", &is_owned) >= 0);
        sd_bus_message_unref(reply);
        return is_owned;
}

/* Starts a template, or skips the test. Returns when it has its name. */
static inline test_child *mock_start(const mock *mock, const char *template, const char *name)
{
        const char *const look[] = {PYTHON, "-c", "import dbusmock", NULL};

        SKIP_IF(access(PYTHON, X_OK) < 0 || test_run_program(look, NULL, 0) != 0,
                "python3-dbusmock is not installed");
        test_child *child = test_spawn_program((const char *[]){
                "sh", "-c", "exec \"$0\" -m dbusmock --template \"$1\" >/dev/null 2>&1", PYTHON,
                template, NULL});
        WAIT_UNTIL(mock_owns(mock, name));
        return child;
}

/* Starts an object without a template. */
static inline test_child *mock_start_empty(const mock *mock, const char *name, const char *path,
                                           const char *interface)
{
        const char *const look[] = {PYTHON, "-c", "import dbusmock", NULL};

        SKIP_IF(access(PYTHON, X_OK) < 0 || test_run_program(look, NULL, 0) != 0,
                "python3-dbusmock is not installed");
        test_child *child = test_spawn_program((const char *[]){
                "sh", "-c",
                "exec \"$0\" -m dbusmock --session \"$1\" \"$2\" \"$3\" >/dev/null 2>&1", PYTHON,
                name, path, interface, NULL});
        WAIT_UNTIL(mock_owns(mock, name));
        return child;
}

/* Calls a method; the arguments are as for sd_bus_message_append(). */
static inline void mock_call(const mock *mock, const char *name, const char *path,
                             const char *interface, const char *member, const char *types, ...)
{
        sd_bus_message *message = NULL, *reply = NULL;
        sd_bus_error error = SD_BUS_ERROR_NULL;
        va_list arguments;

        CHECK(sd_bus_message_new_method_call(mock->connection, &message, name, path, interface,
                                             member) >= 0);
        va_start(arguments, types);
        if (*types)
                CHECK(sd_bus_message_appendv(message, types, arguments) >= 0);
        va_end(arguments);
        if (sd_bus_call(mock->connection, message, TEST_DEADLINE_US, &error, &reply) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", member, error.message);
        sd_bus_message_unref(message);
        sd_bus_message_unref(reply);
}

/* Changes a property, and reports that as a service does. */
static inline void mock_set(const mock *mock, const char *name, const char *path,
                            const char *interface, const char *property, const char *type, ...)
{
        sd_bus_message *message = NULL, *reply = NULL;
        va_list arguments;

        CHECK(sd_bus_message_new_method_call(mock->connection, &message, name, path, MOCK,
                                             "UpdateProperties") >= 0);
        CHECK(sd_bus_message_append(message, "s", interface) >= 0);
        CHECK(sd_bus_message_open_container(message, 'a', "{sv}") >= 0);
        CHECK(sd_bus_message_open_container(message, 'e', "sv") >= 0);
        CHECK(sd_bus_message_append(message, "s", property) >= 0);
        CHECK(sd_bus_message_open_container(message, 'v', type) >= 0);
        va_start(arguments, type);
        CHECK(sd_bus_message_appendv(message, type, arguments) >= 0);
        va_end(arguments);
        for (int i = 0; i < 3; i++)
                CHECK(sd_bus_message_close_container(message) >= 0);
        CHECK(sd_bus_call(mock->connection, message, TEST_DEADLINE_US, NULL, &reply) >= 0);
        sd_bus_message_unref(message);
        sd_bus_message_unref(reply);
}

/* --- Distributed notifications --------------------------------------------------------------- */

typedef struct heard {
        _Atomic int n;
} heard;

static inline void mock_note(const dn_event *event, void *context)
{
        ((heard *)context)->n += (int)event->n_posts;
}

static inline void mock_hear_distributed(heard *heard, const char *name)
{
        CHECK_EQ(dn_center_observe(dn_center_distributed(), name,
                                   &(dn_handler){.invoke = mock_note, .context = heard}, NULL,
                                   NULL),
                 0);
}
