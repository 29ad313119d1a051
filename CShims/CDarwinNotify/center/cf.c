/* Registration in the shape of CFNotificationCenter: by a bare pointer, with a plain callback. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "center/engine.h"
#include "center/topic.h"
#include "util/hash.h"

/* The registrations of one observer pointer. The key of the map is the pointer itself. */
typedef struct bundle {
        dn__map_entry entry;
        const void *observer;
        dn__link registrations;
} bundle;

/* The context of one observer. */
typedef struct registration {
        unsigned n_refs;    /* of the observer, and of the call that adds it; guarded */
        dn__engine *engine; /* borrowed: the observer keeps it */
        dn_callback_fn callback;
        const void *observer;
        bundle *bundle;      /* while it is in the table; guarded, like what follows */
        dn__link link;
        dn_observer *handle; /* borrowed, valid while it is in the table; NULL: not there yet */
} registration;

/* --- The table ----------------------------------------------------------------------------- */

static bundle *find_bundle(dn__engine *engine, const void *observer) DN__REQUIRES(&engine->lock)
{
        dn__map_entry *entry = dn__map_find(&engine->registrations,
                                            dn__hash64(&observer, sizeof(observer)), &observer,
                                            sizeof(observer));

        return entry ? DN__CONTAINER(entry, bundle, entry) : NULL;
}

static bundle *add_bundle(dn__engine *engine, const void *observer) DN__REQUIRES(&engine->lock)
{
        bundle *bundle = calloc(1, sizeof(*bundle));

        if (!bundle)
                return NULL;
        bundle->observer = observer;
        bundle->entry = (dn__map_entry){ NULL, dn__hash64(&observer, sizeof(observer)),
                                         &bundle->observer, sizeof(observer) };
        dn__list_init(&bundle->registrations);
        if (dn__map_add(&engine->registrations, &bundle->entry) == 0)
                return bundle;
        free(bundle);
        return NULL;
}

static bool insert(dn__engine *engine, registration *registration) DN__REQUIRES(&engine->lock)
{
        bundle *bundle = find_bundle(engine, registration->observer);

        if (!bundle)
                bundle = add_bundle(engine, registration->observer);
        if (!bundle)
                return false;
        registration->bundle = bundle;
        dn__list_append(&bundle->registrations, &registration->link);
        return true;
}

static void take_out(dn__engine *engine, registration *registration) DN__REQUIRES(&engine->lock)
{
        bundle *bundle = registration->bundle;

        if (!bundle)
                return;
        dn__list_remove(&registration->link);
        registration->bundle = NULL;
        if (!dn__list_is_empty(&bundle->registrations))
                return;
        dn__map_remove(&engine->registrations, &bundle->entry);
        free(bundle);
}

/* --- The handler --------------------------------------------------------------------------- */

static void invoke(const dn_event *event, void *context)
{
        registration *registration = context;

        registration->callback(event->center, (void *)registration->observer, event->name,
                               event->object, event->user_info);
}

static void registration_unref(registration *registration)
{
        dn__engine *engine = registration->engine;
        bool is_last;

        dn__lock_acquire(&engine->lock);
        is_last = --registration->n_refs == 0;
        dn__lock_release(&engine->lock);
        if (is_last)
                free(registration);
}

static void destroy(void *context)
{
        registration *registration = context;
        dn__engine *engine = registration->engine;

        dn__lock_acquire(&engine->lock);
        take_out(engine, registration);
        dn__lock_release(&engine->lock);
        registration_unref(registration);
}

/* --- Adding -------------------------------------------------------------------------------- */

/* It is in the table before its first call, so that a callback can remove itself. */
static registration *registration_new(dn__engine *engine, const void *observer,
                                      dn_callback_fn callback, dn__executor **ret_executor)
{
        registration *registration = calloc(1, sizeof(*registration));
        bool is_in;

        if (!registration)
                return NULL;
        registration->n_refs = 2;
        registration->engine = engine;
        registration->callback = callback;
        registration->observer = observer;
        dn__lock_acquire(&engine->lock);
        is_in = insert(engine, registration);
        *ret_executor = dn__executor_ref(engine->executor);
        dn__lock_release(&engine->lock);
        if (is_in)
                return registration;
        (void)dn__executor_unref(*ret_executor);
        free(registration);
        return NULL;
}

/* The name is checked; empty stands for all. */
static int add(dn_center *center, dn__engine *engine, const void *observer,
               dn_callback_fn callback, const char *name, const void *object)
{
        dn__executor *executor = NULL;
        registration *registration;
        dn_handler handler;
        int r = 0;

        registration = registration_new(engine, observer, callback, &executor);
        if (!registration)
                return -ENOMEM;
        handler = (dn_handler){ invoke, registration, destroy };
        if (!executor && !center->is_local)
                r = dn__executor_new(NULL, engine->service, &executor);
        if (r == 0)
                r = dn__engine_observe(engine, name, strlen(name),
                                       center->is_local ? object : NULL, handler, executor,
                                       &registration->handle);
        else
                dn__handler_destroy(handler);
        (void)dn_observer_unref(registration->handle);
        registration_unref(registration);
        return r;
}

int dn_center_add_observer(dn_center *center, const void *observer, dn_callback_fn callback,
                           const char *name, const void *object, int behavior)
{
        dn__engine *engine;
        size_t n_bytes;
        int r = 0;

        (void)behavior;
        if (!center || !callback)
                return -EINVAL;
        if (name || !center->is_local)
                r = dn__center_check_name(center, name, &n_bytes);
        if (r < 0)
                return r;
        engine = dn__engine_get(center);
        if (!engine)
                return -ENOMEM;
        r = add(center, engine, observer, callback, name ? name : "", object);
        dn__engine_unref(engine);
        return r;
}

/* --- Removing ------------------------------------------------------------------------------ */

/* One that is only being added, by another thread, is added after this. */
static bool matches(const registration *registration, const char *name, const void *object)
{
        const dn_observer *handle = registration->handle;

        return handle && (!name || strcmp(handle->group->topic->name, name) == 0) &&
               (!object || handle->object == object);
}

/* Takes the first registration that matches out of the table. Returns its observer, with a
 * reference, or NULL. */
static dn_observer *take_match(dn__engine *engine, const void *observer, const char *name,
                               const void *object)
{
        dn_observer *found = NULL;
        bundle *bundle;

        dn__lock_acquire(&engine->lock);
        bundle = find_bundle(engine, observer);
        for (dn__link *link = bundle ? bundle->registrations.next : NULL;
             link && link != &bundle->registrations; link = link->next) {
                registration *registration = DN__CONTAINER(link, struct registration, link);

                if (!matches(registration, name, object))
                        continue;
                found = dn_observer_ref(registration->handle);
                take_out(engine, registration);
                break;
        }
        dn__lock_release(&engine->lock);
        return found;
}

int dn_center_remove_observer(dn_center *center, const void *observer, const char *name,
                              const void *object)
{
        dn__engine *engine;
        dn_observer *found;

        if (!center || !observer)
                return -EINVAL;
        if (name && !*name)
                return 0; /* inside, the empty name stands for all */
        engine = dn__engine_get(center);
        if (!engine)
                return 0; /* then nothing can be registered either */
        if (!center->is_local)
                object = NULL;
        while ((found = take_match(engine, observer, name, object))) {
                dn_observer_cancel(found);
                (void)dn_observer_unref(found);
        }
        dn__engine_unref(engine);
        return 0;
}

int dn_center_remove_every_observer(dn_center *center, const void *observer)
{
        return dn_center_remove_observer(center, observer, NULL, NULL);
}
