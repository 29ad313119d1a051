/* Tracks who owns names on the bus, for the observers of each. */
#include "calls/owners.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/name-rules.h"
#include "delivery/delivery.h"
#include "delivery/payloads.h"

/* Reports that any name changes hands. */
#define WIDE_RULE "type='signal',sender='" DN__BUS_NAME "',member='NameOwnerChanged'"

/* How long a state waits for memory. */
#define RETRY_US (10 * DN__US_PER_MS)

/* The longest name of a connection, with a NUL. */
#define CONNECTION_BYTES 256

/* What is known about a name. */
typedef enum owner_state {
        OWNER_UNKNOWN, /* the bus has not answered yet */
        OWNER_NO_BUS,
        OWNER_KNOWN,   /* also that there is none */
} owner_state;

/* The lock of the connection guards all fields that change. */
struct dn__owner {
        dn__map_entry entry; /* in `owners` */
        dn__link due_link;   /* in `due_owners` while the state is to be delivered */
        dn__calls *calls;
        dn__name topic; /* its text is at the end of `name` */
        size_t n_users;
        sd_bus_slot *query; /* who owns it; NULL: answered */
        bool has_rule;         /* of its own */
        owner_state state;
        char owner[CONNECTION_BYTES]; /* the connection's name; "": nobody */
        char name[];
};

/* --- States --------------------------------------------------------------------------------- */

static void become_due(dn__owner *owner)
{
        if (owner->state != OWNER_UNKNOWN && !dn__link_is_linked(&owner->due_link))
                dn__list_append(&owner->calls->due_owners, &owner->due_link);
}

static void set_state(dn__owner *owner, owner_state state, const char *connection)
{
        if (owner->state == state && strcmp(owner->owner, connection) == 0)
                return;
        owner->state = state;
        (void)snprintf(owner->owner, sizeof(owner->owner), "%s", connection);
        become_due(owner);
}

/* Takes a state that is due, as a payload; NULL if there is none. If out of memory, it stays
 * due. */
static dn__payload *take_due(dn__calls *calls)
{
        dn__payload *payload;
        dn__owner *owner;

        DN__AUTO_LOCK(&calls->dbus->lock);
        owner = DN__LIST_FIRST(dn__owner, &calls->due_owners, due_link);
        if (!owner || dn__clock_now_us() < calls->owners_us)
                return NULL;
        payload = dn__payload_new(&(dn__post){
                .name = owner->topic,
                .body.object = owner->state == OWNER_NO_BUS ? NULL : owner->owner,
        });
        if (payload)
                dn__list_remove(&owner->due_link);
        else
                calls->owners_us = dn__clock_after_us(RETRY_US);
        return payload;
}

/* Some observers have missed a state for want of memory. The others skip what they know. */
static void put_back(dn__calls *calls, const dn__name *topic)
{
        DN__AUTO_LOCK(&calls->dbus->lock);

        calls->owners_us = dn__clock_after_us(RETRY_US);
        DN__MAP_EACH(dn__owner, owner, &calls->owners, entry)
                if (strcmp(owner->topic.text, topic->text) == 0)
                        become_due(owner);
}

static void hand_on(dn__calls *calls, dn__payload *payload)
{
        dn__hub *hub = calls->hub;
        bool is_missed = false;
        dn__topic *topic;

        dn__hub_lock(hub);
        topic = dn__topic_find(hub, &payload->post.name);
        if (topic)
                is_missed = !dn__payloads_hand_to(topic, payload);
        dn__hub_unlock_and_run(hub);
        if (is_missed)
                put_back(calls, &payload->post.name);
        dn__payload_unref(payload);
}

uint64_t dn__owners_get_until(const dn__calls *calls)
{
        dn__cleanup_assert_locked(&calls->dbus->lock);
        return dn__list_is_empty(&calls->due_owners) ? DN__NEVER : calls->owners_us;
}

/* Only the service thread delivers states, so that they stay in order. */
void dn__owners_hand_on(dn__calls *calls)
{
        dn__payload *payload;

        while ((payload = take_due(calls)))
                hand_on(calls, payload);
}

/* --- The bus -------------------------------------------------------------------------------- */

static int answered_owner(sd_bus_message *message, void *context, sd_bus_error *error);

static void ask_for_name(dn__calls *calls, dn__owner *owner) DN__REQUIRES(&calls->dbus->lock)
{
        dn__query query = { "GetNameOwner", "s", owner->name, answered_owner, owner, 0 };

        owner->query = sd_bus_slot_unref(owner->query);
        (void)dn__connection_ask(&calls->dbus->connection, &query, &owner->query);
}

/* Anything but a name means that there is none. */
static int answered_owner(sd_bus_message *message, void *context, sd_bus_error *error)
{
        dn__owner *owner = context;
        const char *connection = NULL;

        (void)error;
        dn__cleanup_assert_locked(&owner->calls->dbus->lock);
        owner->query = sd_bus_slot_unref(owner->query);
        if (!dn__connection_is_bus(message)) {
                ask_for_name(owner->calls, owner);
                return 1;
        }
        if (!sd_bus_message_is_method_error(message, NULL))
                (void)sd_bus_message_read_basic(message, 's', &connection);
        set_state(owner, OWNER_KNOWN, connection ? connection : "");
        return 1;
}

/* The rule comes before the query, so that no change is missed. */
static void begin_to_track(dn__calls *calls, dn__owner *owner) DN__REQUIRES(&calls->dbus->lock)
{
        if (!dn__connection_is_usable(&calls->dbus->connection))
                return;
        owner->has_rule = dn__name_rules_add(&calls->owner_rules, owner->name);
        ask_for_name(calls, owner);
        dn__loop_wake(calls->loop);
}

static dn__owner *find_owner(dn__calls *calls, const char *name)
        DN__REQUIRES(&calls->dbus->lock)
{
        dn__map_entry *entry = dn__map_find_text(&calls->owners, name);

        return entry ? DN__CONTAINER(entry, dn__owner, entry) : NULL;
}

void dn__owners_note(dn__calls *calls, const char *name, const char *connection)
{
        dn__owner *owner;

        dn__cleanup_assert_locked(&calls->dbus->lock);
        owner = find_owner(calls, name);
        if (owner)
                set_state(owner, OWNER_KNOWN, connection);
}

void dn__owners_connected(dn__calls *calls)
{
        dn__cleanup_assert_locked(&calls->dbus->lock);
        DN__MAP_EACH(dn__owner, owner, &calls->owners, entry)
                begin_to_track(calls, owner);
}

void dn__owners_disconnected(dn__calls *calls)
{
        dn__cleanup_assert_locked(&calls->dbus->lock);
        dn__name_rules_disconnected(&calls->owner_rules);
        DN__MAP_EACH(dn__owner, owner, &calls->owners, entry) {
                owner->query = sd_bus_slot_unref(owner->query);
                owner->has_rule = false;
                set_state(owner, OWNER_NO_BUS, "");
        }
}

void dn__owners_expect_nothing(dn__calls *calls)
{
        dn__cleanup_assert_locked(&calls->dbus->lock);
        if (dn__connection_is_ready(&calls->dbus->connection) ||
            !atomic_load(&calls->dbus->is_tried))
                return;
        DN__MAP_EACH(dn__owner, owner, &calls->owners, entry)
                set_state(owner, OWNER_NO_BUS, "");
}

static void ask_for_all(dn__calls *calls)
{
        dn__cleanup_assert_locked(&calls->dbus->lock);
        DN__MAP_EACH(dn__owner, owner, &calls->owners, entry)
                ask_for_name(calls, owner);
}

void dn__owners_init(dn__calls *calls)
{
        dn__list_init(&calls->due_owners);
        calls->owner_rules = (dn__name_rules){ calls, WIDE_RULE, ask_for_all, 0, false, false };
}

/* --- Uses ----------------------------------------------------------------------------------- */

static dn__owner *make_owner(dn__calls *calls, const char *name, const dn__name *topic)
        DN__REQUIRES(&calls->dbus->lock)
{
        size_t n_bytes = strlen(name);
        dn__owner *owner = calloc(1, sizeof(*owner) + n_bytes + 1 + topic->n_bytes + 1);

        if (!owner)
                return NULL;
        memcpy(owner->name, name, n_bytes + 1);
        owner->topic = dn__name_copy(topic, owner->name + n_bytes + 1);
        owner->calls = calls;
        owner->entry = dn__map_key(owner->name, n_bytes);
        if (dn__map_add(&calls->owners, &owner->entry) == 0)
                return owner;
        free(owner);
        return NULL;
}

int dn__owner_track(dn__calls *calls, const char *name, const dn__name *topic,
                    dn__owner **ret_owner)
{
        dn__owner *owner;

        DN__AUTO_LOCK(&calls->dbus->lock);
        owner = find_owner(calls, name);
        if (!owner) {
                owner = make_owner(calls, name, topic);
                if (!owner)
                        return -ENOMEM;
                begin_to_track(calls, owner);
                dn__owners_expect_nothing(calls);
        }
        owner->n_users++;
        *ret_owner = owner;
        return 0;
}

void dn__owners_report(dn__calls *calls, const char *name)
{
        dn__owner *owner;

        DN__AUTO_LOCK(&calls->dbus->lock);
        owner = find_owner(calls, name);
        if (!owner)
                return; /* race: only if another thread has just cancelled the observer */
        become_due(owner);
        dn__loop_wake(calls->loop);
}

/* Frees a name that is no longer tracked. */
static void forget_owner(dn__calls *calls, dn__owner *owner) DN__REQUIRES(&calls->dbus->lock)
{
        if (owner->has_rule)
                dn__name_rules_remove(&calls->owner_rules, owner->name);
        dn__list_remove(&owner->due_link);
        (void)sd_bus_slot_unref(owner->query);
        dn__map_remove(&calls->owners, &owner->entry);
        free(owner);
}

/* The parent's is left alone in a forked child. */
void dn__owner_release(dn__owner *owner)
{
        dn__calls *calls = owner ? owner->calls : NULL;

        if (!calls || !dn__calls_are_current(calls))
                return;
        DN__AUTO_LOCK(&calls->dbus->lock);
        if (--owner->n_users == 0)
                forget_owner(calls, owner);
}
