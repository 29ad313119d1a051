/* The signals of the distributed center (docs/wire.md). */
#include <string.h>

#include "bus/values.h"
#include "bus/wire.h"

/* Bits of the second argument. Unknown bits are ignored. */
enum {
        FLAG_IMMEDIATE = 1 << 0,
        FLAG_ALL_SESSIONS = 1 << 1,
        FLAG_OBJECT = 1 << 2,
        FLAG_USER_INFO = 1 << 3,
};

static uint32_t flags_of(const dn__body *body)
{
        return (body->is_immediate ? FLAG_IMMEDIATE : 0u) |
               (body->is_for_all_sessions ? FLAG_ALL_SESSIONS : 0u) |
               (body->object ? FLAG_OBJECT : 0u) | (body->user_info ? FLAG_USER_INFO : 0u);
}

static int append_distributed(sd_bus_message *message, const dn__post *post)
{
        const dn__body *body = &post->body;
        int r;

        r = sd_bus_message_append(message, "sus", post->name.text, flags_of(body),
                                  body->object ? body->object : "");
        if (r >= 0)
                r = dn__values_append(message, body->user_info);
        return r < 0 ? r : sd_bus_message_append(message, "t", body->number);
}

/* Returns whether the arguments have the right types. There may be fewer or more of them: a missing
 * one is empty. */
static bool has_known_types(const char *signature)
{
        static const char types[] = "susa{sv}t";
        size_t n_bytes = strlen(signature);

        return strncmp(signature, types, n_bytes < strlen(types) ? n_bytes : strlen(types)) == 0;
}

static bool read_distributed(sd_bus_message *message, const char *signature, dn__post *post)
{
        size_t n_types = strlen(signature);
        dn__body *body = &post->body;
        const char *object = NULL;
        dn_dict *user_info = NULL;
        uint32_t flags = 0;

        if (!has_known_types(signature))
                return false;
        if ((n_types >= strlen("su") && sd_bus_message_read_basic(message, 'u', &flags) <= 0) ||
            (n_types >= strlen("sus") && sd_bus_message_read_basic(message, 's', &object) <= 0) ||
            (n_types >= strlen("susa{sv}") && dn__values_read(message, &user_info) < 0) ||
            (n_types >= strlen("susa{sv}t") &&
             sd_bus_message_read_basic(message, 't', &body->number) <= 0)) {
                dn_dict_unref(user_info);
                return false;
        }
        body->is_immediate = flags & FLAG_IMMEDIATE;
        body->is_for_all_sessions = flags & FLAG_ALL_SESSIONS;
        body->object = flags & FLAG_OBJECT ? object : NULL;
        body->user_info = flags & FLAG_USER_INFO ? user_info : dn_dict_unref(user_info);
        return true;
}

const dn__wire dn__wire_distributed = {
        .center = "distributed",
        .path = "/org/darwinnotify/Distributed1",
        .interface_prefix = "org.darwinnotify.Distributed1.",
        .append = append_distributed,
        .read = read_distributed,
};
