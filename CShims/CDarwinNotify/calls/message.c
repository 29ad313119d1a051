/* How requests are encoded as D-Bus messages (docs/wire.md). */
#include "calls/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/values.h"
#include "bus/wire.h"
#include "calls/names.h"
#include "darwinnotify/call.h"
#include "darwinnotify/service.h"
#include "util/stream.h"
#include "util/text.h"

/* --- Reading ------------------------------------------------------------------------------ */

int dn__call_read_arguments(sd_bus_message *message, dn_dict **ret_arguments)
{
        const char *signature = sd_bus_message_get_signature(message, true);

        if (!signature || *signature == '\0')
                return dn_dict_builder_finish(dn_dict_builder_new(), ret_arguments);
        if (strcmp(signature, "a{sv}") != 0)
                return -EINVAL;
        return dn__values_read(message, ret_arguments);
}

int dn__call_read_reply(sd_bus_message *message, dn_dict **ret_reply)
{
        dn_dict *reply = NULL;
        int r;

        r = sd_bus_message_at_end(message, true);
        if (r > 0)
                return dn_dict_builder_finish(dn_dict_builder_new(), ret_reply);
        r = r < 0 ? -EBADMSG : dn__values_read_as(message, DN_REPLY_VALUE, &reply);
        if (r == 0 && sd_bus_message_at_end(message, true) <= 0) {
                dn_dict_unref(reply);
                return -EBADMSG;
        }
        if (r == 0)
                *ret_reply = reply;
        return r;
}

dn_dict *dn__call_read_details(sd_bus_message *message)
{
        dn_dict *details = NULL;
        const char *text;

        if (sd_bus_message_rewind(message, true) < 0 ||
            sd_bus_message_read_basic(message, 's', &text) <= 0 ||
            sd_bus_message_at_end(message, true) != 0)
                return NULL;
        return dn__values_read_as(message, DN_REPLY_VALUE, &details) == 0 ? details : NULL;
}

/* Of a program that the bus could not start. */
static bool is_failed_start(const char *name)
{
        static const char prefix[] = "org.freedesktop.DBus.Error.Spawn.";

        return strncmp(name, prefix, sizeof(prefix) - 1) == 0;
}

int dn__call_read_error(const sd_bus_error *error)
{
        static const struct {
                const char *name;
                int error;
        } meanings[] = {
                { SD_BUS_ERROR_SERVICE_UNKNOWN, -ENXIO },
                { SD_BUS_ERROR_NAME_HAS_NO_OWNER, -ENXIO },
                { SD_BUS_ERROR_UNKNOWN_OBJECT, -ENXIO },
                { SD_BUS_ERROR_NO_REPLY, -ECONNRESET },
                { SD_BUS_ERROR_DISCONNECTED, -ECONNRESET },
                { SD_BUS_ERROR_ACCESS_DENIED, -EACCES },
                { SD_BUS_ERROR_AUTH_FAILED, -EACCES },
                { SD_BUS_ERROR_LIMITS_EXCEEDED, -ENOBUFS },
                { SD_BUS_ERROR_NO_MEMORY, -EREMOTEIO },
        };

        for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
                if (strcmp(error->name, meanings[i].name) == 0)
                        return meanings[i].error;
        return is_failed_start(error->name) ? -ENXIO : -EREMOTEIO;
}

/* --- Writing ------------------------------------------------------------------------------ */

int dn__call_make_answer(sd_bus_message *call, const dn__answer *answer,
                         sd_bus_message **ret_message)
{
        sd_bus_error error = { .name = answer->error };

        if (!error.name)
                return sd_bus_message_new_method_return(call, ret_message);
        /* Errors are named like interfaces. A bus disconnects a sender of any other name. */
        if (sd_bus_interface_name_is_valid(error.name) <= 0)
                error.name = DN_ERROR_FAILED;
        return sd_bus_message_new_method_error(call, ret_message, &error);
}

static int append_text(sd_bus_message *message, const char *text)
{
        bool is_valid = text && dn__utf8_is_valid(text, strlen(text));

        return sd_bus_message_append_basic(message, 's', is_valid ? text : "");
}

int dn__call_append_answer(sd_bus_message *message, const dn__answer *answer)
{
        dn_value value;
        int r = answer->error ? append_text(message, answer->text) : 0;

        if (r >= 0 && dn_dict_get(answer->values, DN_REPLY_VALUE, &value))
                r = dn__values_append_variant(message, &value);
        else if (r >= 0 && !answer->error)
                r = sd_bus_message_append(message, "v", "a{sv}", 0);
        return r;
}

/* --- Introspection ------------------------------------------------------------------------ */

static const char doctype[] =
        "<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\"\n"
        "\"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">\n<node>\n";

static const char standard[] =
        " <interface name=\"org.freedesktop.DBus.Introspectable\">\n"
        "  <method name=\"Introspect\"><arg name=\"xml\" type=\"s\" direction=\"out\"/></method>\n"
        " </interface>\n"
        " <interface name=\"org.freedesktop.DBus.Peer\">\n"
        "  <method name=\"Ping\"/>\n"
        "  <method name=\"GetMachineId\"><arg name=\"id\" type=\"s\" direction=\"out\"/></method>\n"
        " </interface>\n"
        " <interface name=\"" DN__CALLS_INTERFACE "\">\n"
        "  <method name=\"" DN__CALLS_CANCEL "\">"
        "<arg name=\"serial\" type=\"u\" direction=\"in\"/></method>\n"
        " </interface>\n";

/* The kinds of one interface follow each other. */
static void write_kinds(FILE *text, const char *const *kinds, size_t n_kinds)
{
        char last[DN__CALL_NAME_BYTES] = "", interface[DN__CALL_NAME_BYTES];

        for (size_t i = 0; i < n_kinds; i++) {
                const char *member = dn__kind_split(kinds[i], interface);

                if (strcmp(interface, last) != 0)
                        (void)fprintf(text, "%s <interface name=\"%s\">\n",
                                      *last ? " </interface>\n" : "", interface);
                (void)fprintf(text,
                              "  <method name=\"%s\">"
                              "<arg name=\"arguments\" type=\"a{sv}\" direction=\"in\"/>"
                              "<arg name=\"response\" type=\"v\" direction=\"out\"/></method>\n",
                              member);
                memcpy(last, interface, sizeof(last));
        }
        if (n_kinds)
                (void)fputs(" </interface>\n", text);
}

char *dn__introspection_new(const char *const *kinds, size_t n_kinds)
{
        dn__stream text;
        FILE *stream = dn__stream_open(&text);

        if (!stream)
                return NULL;
        (void)fprintf(stream, "%s%s", doctype, standard);
        write_kinds(stream, kinds, n_kinds);
        (void)fputs("</node>\n", stream);
        return dn__stream_close(stream, &text);
}

char *dn__introspection_new_parent(const char *child)
{
        dn__stream text;
        FILE *stream = dn__stream_open(&text);

        if (!stream)
                return NULL;
        (void)fprintf(stream, "%s <node name=\"%.*s\"/>\n</node>\n", doctype,
                      (int)strcspn(child, "/"), child);
        return dn__stream_close(stream, &text);
}
