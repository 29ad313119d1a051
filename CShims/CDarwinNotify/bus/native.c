/* Whether this connection is native to its table. */
#include "bus/native.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/text.h"

#define NAME_PREFIX "org.darwinnotify.Table."
#define NAME_BYTES (sizeof(NAME_PREFIX) + 1 + 16)

void dn__native_init(dn__native *native, dn__connection *connection, dn__rules *rules)
{
        *native = (dn__native){ .connection = connection, .rules = rules };
}

static void write_name(uint64_t region, char ret_name[NAME_BYTES])
{
        (void)snprintf(ret_name, NAME_BYTES, NAME_PREFIX "t%016" PRIx64, region);
}

static void release_name(dn__native *native)
{
        char name[NAME_BYTES];

        write_name(native->named, name);
        dn__connection_tell(native->connection, "ReleaseName", name);
        native->named = 0;
        native->has_name = false;
}

static int name_answered(sd_bus_message *answer, void *context, sd_bus_error *error)
{
        dn__native *native = context;

        (void)error;
        native->name_call = sd_bus_slot_unref(native->name_call);
        native->has_name = !sd_bus_message_is_method_error(answer, NULL);
        return 1;
}

/* Returns whether ours is the only table on the bus; false if the names cannot be read. */
static bool is_alone(const dn__native *native, sd_bus_message *answer)
{
        char own[NAME_BYTES];
        const char *name;
        int r;

        write_name(native->named, own);
        if (sd_bus_message_is_method_error(answer, NULL) ||
            sd_bus_message_enter_container(answer, 'a', "s") <= 0)
                return false;
        while ((r = sd_bus_message_read_basic(answer, 's', &name)) > 0)
                if (dn__text_begins_with(name, NAME_PREFIX) && strcmp(name, own) != 0)
                        return false;
        return r == 0;
}

/* The bus answers in order: the name is decided. */
static int list_answered(sd_bus_message *answer, void *context, sd_bus_error *error)
{
        dn__native *native = context;

        (void)error;
        native->list_call = sd_bus_slot_unref(native->list_call);
        native->is_native = native->has_name && is_alone(native, answer);
        dn__rules_decide(native->rules, native->is_native);
        return 1;
}

static void ask_for_name(dn__native *native)
{
        char name[NAME_BYTES];
        dn__question for_name = { "RequestName", "su", name, name_answered, native };
        dn__question for_list = { "ListNames", "", NULL, list_answered, native };

        write_name(native->region, name);
        (void)snprintf(native->path, sizeof(native->path), "%s/t%016" PRIx64,
                       native->connection->wire->path, native->region);
        if (dn__connection_ask(native->connection, &for_name, &native->name_call) < 0 ||
            dn__connection_ask(native->connection, &for_list, &native->list_call) < 0)
                return; /* the connection is broken and will reconnect */
        native->named = native->region;
        dn__rules_await_decision(native->rules);
}

static void drop_questions(dn__native *native)
{
        native->name_call = sd_bus_slot_unref(native->name_call);
        native->list_call = sd_bus_slot_unref(native->list_call);
        native->is_native = false;
}

void dn__native_begin(dn__native *native)
{
        if (native->region && !native->named && dn__connection_is_ready(native->connection) &&
            !dn__rules_are_requested(native->rules))
                ask_for_name(native);
}

void dn__native_disconnected(dn__native *native)
{
        drop_questions(native);
        native->named = 0;
        native->has_name = false;
}

void dn__native_set_region(dn__native *native, uint64_t region)
{
        if (native->region == region)
                return;
        native->region = region;
        if (!dn__connection_is_ready(native->connection))
                return;
        drop_questions(native);
        dn__rules_decide(native->rules, false);
        if (native->named && !dn__rules_are_requested(native->rules))
                release_name(native);
}

void dn__native_settle(dn__native *native)
{
        if (native->named && !native->is_native && !native->list_call)
                release_name(native);
}

const char *dn__native_get_path(const dn__native *native, const dn__post *post)
{
        return native->is_native && post->generation && post->region == native->named
                       ? native->path
                       : native->connection->wire->path;
}
