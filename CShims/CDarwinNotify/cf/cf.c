/* CFNotificationCenter-style registration: identified by a bare pointer, with a plain callback. */
#include "cf/cf.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "darwinnotify/center.h"
#include "darwinnotify/observer.h"
#include "util/cleanup.h"
#include "util/fork.h"
#include "util/gate.h"
#include "util/hash.h"

/* The key by which observers are removed. */
typedef struct key {
        const dn_center *center;
        const void *observer;
} key;

/* Enough that one observer with many registrations does not slow down the others. */
#define N_LISTS 256

/* The registrations of this process, in a list that their key chooses. */
typedef struct registry {
        dn__per_process process;
        dn__lock lock;
        dn__link lists[N_LISTS] DN__GUARDED_BY(&lock);
} registry;

/* The context of one observer. */
typedef struct registration {
        registry *registry;
        dn_callback_fn callback;
        key key;
        const void *object; /* text: a copy stored after the name */
        int behavior;
        _Atomic bool is_removed; /* may happen before the call that adds it returns */

        unsigned n_refs;     /* of the observer and the call that adds it; guarded */
        dn__link link;       /* while in the registry; guarded, like the field below */
        dn_observer *handle; /* borrowed, valid while in the registry; NULL: not known yet */
        char name[];         /* constant; empty: all names */
} registration;

/* --- The registry --------------------------------------------------------------------------- */

static _Atomic(dn__per_process *) shared;

static void init_registry(void *state)
{
        registry *registry = state;

        dn__lock_init(&registry->lock);
        for (size_t i = 0; i < N_LISTS; i++)
                dn__list_init(&registry->lists[i]);
}

void dn__cf_free(void)
{
        free(dn__per_process_take(&shared));
}

static dn__link *list_of(registry *registry, const key *key) DN__REQUIRES(&registry->lock)
{
        return &registry->lists[dn__hash64(key, sizeof(*key)) % N_LISTS];
}

/* --- The handler ---------------------------------------------------------------------------- */

static void invoke(const dn_event *event, void *context)
{
        registration *registration = context;

        if (atomic_load(&registration->is_removed))
                return;
        registration->callback(event->center, (void *)registration->key.observer, event->name,
                               event->object, event->user_info);
}

/* Releases a reference. That of the observer also takes the registration out of its list. */
static void give_back(registration *registration, bool is_of_observer)
{
        registry *registry = registration->registry;
        bool is_last;

        dn__lock_acquire(&registry->lock);
        if (is_of_observer)
                dn__list_remove(&registration->link);
        is_last = --registration->n_refs == 0;
        dn__lock_release(&registry->lock);
        if (is_last)
                free(registration);
}

static void destroy(void *context)
{
        give_back(context, true);
}

/* --- Adding --------------------------------------------------------------------------------- */

/* Returns whether the center compares objects as text. */
static bool has_texts(const dn_center *center)
{
        return dn_center_get_objects(center) == DN_OBJECTS_TEXTS;
}

/* Enters the registry before the first call, so a callback can remove itself. */
static registration *registration_new(const dn_center *center, const char *name, const void *object)
{
        size_t n_name_bytes = strlen(name) + 1;
        size_t n_object_bytes = has_texts(center) && object ? strlen(object) + 1 : 0;
        registry *registry = dn__process_state_get(&shared, sizeof(*registry), init_registry);
        registration *registration =
                registry ? calloc(1, sizeof(*registration) + n_name_bytes + n_object_bytes) : NULL;

        if (!registration)
                return NULL;
        registration->registry = registry;
        registration->n_refs = 2;
        memcpy(registration->name, name, n_name_bytes);
        if (n_object_bytes)
                registration->object =
                        memcpy(registration->name + n_name_bytes, object, n_object_bytes);
        else if (dn_center_get_objects(center) == DN_OBJECTS_POINTERS)
                registration->object = object;
        return registration;
}

static void enter(registration *registration)
{
        registry *registry = registration->registry;

        DN__AUTO_LOCK(&registry->lock);
        dn__list_append(list_of(registry, &registration->key), &registration->link);
}

/* Consumes one of the references. */
static int observe(dn_center *center, const char *name, registration *registration,
                   dn_observer **ret_handle)
{
        dn_filter filter = {
                .name = name,
                .object = registration->object,
                .behavior = registration->behavior,
        };
        dn_handler handler = { .invoke = invoke, .context = registration, .destroy = destroy };

        return dn_center_observe_filtered(center, &filter, &handler, NULL, ret_handle);
}

/* Makes an observer's handle available for removal; if already removed, cancels it here. */
static void set_handle(registration *registration, dn_observer *handle)
{
        registry *registry = registration->registry;
        bool is_removed;

        dn__lock_acquire(&registry->lock);
        registration->handle = handle;
        is_removed = atomic_load(&registration->is_removed);
        dn__lock_release(&registry->lock);
        if (is_removed)
                dn_observer_cancel(handle);
}

int dn_center_add_observer(dn_center *center, const void *observer, dn_callback_fn callback,
                           const char *name, const void *object, int behavior)
{
        DN__GATE();
        registration *registration;
        dn_observer *handle = NULL;
        int r;

        if (!center || !callback ||
            (!name && dn_center_get_objects(center) == DN_OBJECTS_NONE))
                return -EINVAL;
        registration = registration_new(center, name ? name : "", object);
        if (!registration)
                return -ENOMEM;
        registration->callback = callback;
        registration->key = (key){ center, observer };
        registration->behavior = behavior;
        enter(registration);
        r = observe(center, name, registration, &handle);
        if (handle)
                set_handle(registration, handle);
        (void)dn_observer_unref(handle);
        give_back(registration, false);
        return r;
}

/* --- Removing ------------------------------------------------------------------------------- */

static bool is_same_object(const registration *registration, const void *object)
{
        if (has_texts(registration->key.center))
                return registration->object && strcmp(registration->object, object) == 0;
        return registration->object == object;
}

static bool matches(const registration *registration, const key *key, const char *name,
                    const void *object)
{
        return registration->key.center == key->center &&
               registration->key.observer == key->observer &&
               (!name || strcmp(registration->name, name) == 0) &&
               (!object || is_same_object(registration, object));
}

/* Removes the first matching registration from the registry. Returns whether there was one, and a
 * reference to its observer, or NULL if the call that adds it will cancel it. */
static bool take_match(const key *key, const char *name, const void *object,
                       dn_observer **ret_handle)
{
        registry *registry = dn__per_process_find(&shared);
        dn__link *list;

        if (!registry)
                return false;
        DN__AUTO_LOCK(&registry->lock);
        list = list_of(registry, key);
        DN__LIST_EACH(registration, found, list, link) {
                if (!matches(found, key, name, object))
                        continue;
                atomic_store(&found->is_removed, true);
                *ret_handle = dn_observer_ref(found->handle);
                dn__list_remove(&found->link);
                return true;
        }
        return false;
}

int dn_center_remove_observer(dn_center *center, const void *observer, const char *name,
                              const void *object)
{
        DN__GATE();
        key key = { center, observer };
        dn_observer *handle;

        if (!center || !observer)
                return -EINVAL;
        if (name && !*name)
                return 0; /* internally, the empty name stands for all names */
        if (dn_center_get_objects(center) == DN_OBJECTS_NONE)
                object = NULL;
        while (take_match(&key, name, object, &handle)) {
                dn_observer_cancel(handle);
                (void)dn_observer_unref(handle);
        }
        return 0;
}

int dn_center_remove_every_observer(dn_center *center, const void *observer)
{
        DN__GATE();
        return dn_center_remove_observer(center, observer, NULL, NULL);
}
