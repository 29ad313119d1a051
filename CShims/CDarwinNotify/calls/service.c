/* Services: names on the bus under which requests are answered. */
#include "calls/service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus/dbus.h"
#include "calls/kinds.h"
#include "calls/message.h"
#include "darwinnotify/error.h"
#include "util/gate.h"
#include "util/host.h"
#include "util/reserved.h"

/* Flags and replies of RequestName. */
#define NAME_DO_NOT_QUEUE UINT32_C(4)
#define NAME_PRIMARY_OWNER 1
#define NAME_IN_QUEUE 2
#define NAME_ALREADY_OWNER 4

/* --- Life --------------------------------------------------------------------------------- */

dn_service *dn__service_ref(dn_service *service)
{
        if (service)
                atomic_fetch_add_explicit(&service->n_refs, 1, memory_order_relaxed);
        return service;
}

/* The only caller of the destroy hook of a service. A service takes the handler when it is made;
 * dn_service_open() destroys the context of a handler that was not taken. */
static void end_context(const dn_service_handler *handler)
{
        dn__host_release(handler->destroy, handler->context);
}

void dn__service_unref(dn_service *service)
{
        if (!service || atomic_fetch_sub_explicit(&service->n_refs, 1, memory_order_acq_rel) != 1)
                return;
        end_context(&service->handler);
        dn__executor_unref(service->executor);
        if (service->calls)
                dn__calls_release(service->calls);
        dn__lock_deinit(&service->lock);
        dn__kinds_free(service);
        free(service);
}

/* Takes the handler if it succeeds. */
static dn_service *make_service(dn__calls *calls, const char *name, dn_service_handler *handler)
{
        size_t n_bytes = strlen(name) + 1;
        dn_service *service = calloc(1, sizeof(*service) + n_bytes);

        if (!service)
                return NULL;
        memcpy(service->name, name, n_bytes);
        dn__service_write_path(name, service->path);
        service->fork_id = dn__fork_id();
        dn__lock_init(&service->lock);
        service->calls = calls;
        service->origin = calls;
        service->handler = *handler;
        *handler = (dn_service_handler){ 0 };
        atomic_init(&service->n_refs, 1);
        dn__calls_retain(calls);
        return service;
}

/* Returns the calls of an open service, to be released; NULL if it is closed, or the parent's. */
static dn__calls *get_calls(dn_service *service)
{
        if (!service || service->fork_id != dn__fork_id())
                return NULL;
        DN__AUTO_LOCK(&service->lock);
        if (service->calls)
                dn__calls_retain(service->calls);
        return service->calls;
}

/* Without the lock of the connection, which the last release may close. */
static void leave_calls(dn_service *service)
{
        dn__calls *calls;

        dn__lock_acquire(&service->lock);
        calls = DN__TAKE(service->calls);
        dn__lock_release(&service->lock);
        if (calls)
                dn__calls_release(calls);
}

/* --- Reports of the name ------------------------------------------------------------------ */

/* Odd changes gain the name, even ones lose it. Returns false if there is none to report, or the
 * service is closed. `is_going_on`: this run has already reported a change. If it is false and
 * another run is reporting, that one also reports this change. */
static bool take_change(dn_service *service, bool is_going_on, bool *ret_has_name)
{
        dn__calls *calls = get_calls(service);
        bool has_change = false;

        if (!calls)
                return false;
        dn__lock_acquire(&calls->dbus->lock);
        if (is_going_on || !service->is_reporting) {
                has_change = dn__link_is_linked(&service->link) &&
                             service->n_reported < service->n_changes;
                service->is_reporting = has_change;
        }
        if (has_change)
                *ret_has_name = ++service->n_reported % 2;
        dn__lock_release(&calls->dbus->lock);
        dn__calls_release(calls);
        return has_change;
}

typedef struct name_report {
        const dn_service_handler *handler;
        bool has_name;
} name_report;

static void run_name_changed(void *context)
{
        const name_report *report = context;

        report->handler->name_changed(report->has_name, report->handler->context);
}

/* On the executor. */
static void run_report(void *argument)
{
        DN__GATE_FOR_WORK();
        dn_service *service = argument;
        dn__calls *calls = service->origin;
        name_report report = { .handler = &service->handler };

        /* A forked child may have inherited the work in one of the host's queues. */
        if (!dn__calls_are_current(calls))
                return;
        for (bool goes_on = false; take_change(service, goes_on, &report.has_name); goes_on = true)
                (void)dn__host_handle(run_name_changed, &report);
        dn__service_unref(service);
        dn__calls_release(calls);
}

/* On the service thread, which alone hands the report over. */
static void set_has_name(dn__calls *calls, dn_service *service, bool has_name)
        DN__REQUIRES(&calls->dbus->lock)
{
        if (has_name == service->has_name)
                return;
        service->has_name = has_name;
        service->n_changes++;
        if (!service->handler.name_changed || dn__link_is_linked(&service->report.link))
                return;
        service->report = (dn__job){ { 0 }, service->executor, run_report, service };
        dn__calls_retain(calls);
        (void)dn__service_ref(service);
        dn__calls_add_job(calls, &service->report);
}

/* --- The name ----------------------------------------------------------------------------- */

static int read_name_answer(sd_bus_message *message)
{
        const sd_bus_error *error = sd_bus_message_get_error(message);
        uint32_t answer = 0;
        int r;

        if (error) {
                r = dn__call_read_error(error);
                return r == -EACCES || r == -ENOBUFS ? r : -EINVAL;
        }
        (void)sd_bus_message_read(message, "u", &answer); /* 0: not a reply of the bus */
        if (answer == NAME_PRIMARY_OWNER || answer == NAME_ALREADY_OWNER)
                return 0;
        return answer == NAME_IN_QUEUE ? DN_NAME_QUEUED : -EEXIST;
}

static int answered_name(sd_bus_message *message, void *context, sd_bus_error *error);

static void request_name(dn__calls *calls, dn_service *service) DN__REQUIRES(&calls->dbus->lock)
{
        dn__connection *connection = &calls->dbus->connection;
        dn__query query = { "RequestName", "su", service->name, answered_name, service,
                                  service->may_queue ? 0 : NAME_DO_NOT_QUEUE };

        if (!dn__connection_is_usable(connection))
                return;
        (void)dn__connection_ask(connection, &query, &service->query);
        dn__loop_wake(calls->loop);
}

static int answered_name(sd_bus_message *message, void *context, sd_bus_error *error)
{
        dn_service *service = context;

        (void)error;
        dn__cleanup_assert_locked(&service->calls->dbus->lock);
        service->query = sd_bus_slot_unref(service->query);
        if (!dn__connection_is_bus(message)) {
                request_name(service->calls, service);
                return 1;
        }
        service->answer = read_name_answer(message);
        set_has_name(service->calls, service, service->answer == 0);
        /* The name may have been requested before it was allowed to queue. */
        if (service->answer == -EEXIST && service->may_queue)
                request_name(service->calls, service);
        dn__condition_broadcast(&service->calls->dbus->changed);
        return 1;
}

void dn__services_connected(dn__calls *calls)
{
        DN__LIST_EACH(dn_service, service, &calls->services, link)
                request_name(calls, service);
}

void dn__services_disconnected(dn__calls *calls)
{
        DN__LIST_EACH(dn_service, service, &calls->services, link) {
                service->query = sd_bus_slot_unref(service->query);
                set_has_name(calls, service, false);
        }
}

static dn_service *find_named(dn__calls *calls, const char *name) DN__REQUIRES(&calls->dbus->lock)
{
        DN__LIST_EACH(dn_service, service, &calls->services, link)
                if (strcmp(service->name, name) == 0)
                        return service;
        return NULL;
}

bool dn__service_note_name(dn__calls *calls, const char *name, bool is_ours)
{
        dn_service *service = find_named(calls, name);

        if (service)
                set_has_name(calls, service, is_ours);
        return service != NULL;
}

/* --- Exported kinds ----------------------------------------------------------------------- */

static int change_kinds(dn_service *service, int (*change)(dn_service *service, const char *kind),
                        const char *kind)
{
        dn__calls *calls = get_calls(service);
        int r;

        if (!calls)
                return -EINVAL;
        dn__lock_acquire(&calls->dbus->lock);
        r = change(service, kind);
        dn__lock_release(&calls->dbus->lock);
        dn__calls_release(calls);
        return r;
}

int dn_service_export(dn_service *service, const char *kind)
{
        DN__GATE();
        char interface[DN__CALL_NAME_BYTES];

        if (!dn__kind_split(kind, interface))
                return -EINVAL;
        return change_kinds(service, dn__kinds_add, kind);
}

int dn_service_unexport(dn_service *service, const char *kind)
{
        DN__GATE();

        return kind ? change_kinds(service, dn__kinds_remove, kind) : -EINVAL;
}

/* --- Opening and closing ------------------------------------------------------------------ */

/* Takes a service out of the list, under the lock. */
static void unlist(dn_service *service)
{
        dn__list_remove(&service->link);
        service->query = sd_bus_slot_unref(service->query);
        service->has_name = false;
}

/* Waits for the bus to answer, unless this is the thread that would read the reply. */
static int await_name(dn__calls *calls, dn_service *service) DN__REQUIRES(&calls->dbus->lock)
{
        uint64_t deadline_us = 0;

        if (dn__loop_is_current(calls->loop))
                return service->query ? DN_NAME_QUEUED : DN_NOT_CONNECTED;
        service->answer = DN_NOT_CONNECTED;
        while (service->query && dn__dbus_wait(calls->dbus, &deadline_us))
                continue;
        return service->answer;
}

/* Requests to two services with one object path could not be told apart. */
static bool has_path(dn__calls *calls, const char *name) DN__REQUIRES(&calls->dbus->lock)
{
        char path[DN__CALL_NAME_BYTES], other[DN__CALL_NAME_BYTES];

        dn__service_write_path(name, path);
        DN__LIST_EACH(dn_service, service, &calls->services, link) {
                dn__service_write_path(service->name, other);
                if (strcmp(path, other) == 0)
                        return true;
        }
        return false;
}

static int enlist(dn__calls *calls, dn_service *service, bool may_queue)
{
        int r;

        DN__AUTO_LOCK(&calls->dbus->lock);
        if (has_path(calls, service->name))
                return -EEXIST;
        dn__list_append(&calls->services, &service->link);
        service->may_queue = may_queue;
        request_name(calls, service);
        r = await_name(calls, service);
        service->may_queue = true;
        if (r < 0)
                unlist(service);
        return r;
}

static int open_service(dn__calls *calls, const dn_service_plan *plan, dn_service_handler *handler,
                        const dn_executor *executor, dn_service **ret_service)
{
        dn_service *service = make_service(calls, plan->name, handler);
        int r;

        if (!service)
                return -ENOMEM;
        r = dn__executor_new(executor, calls->loop, &service->executor);
        for (size_t i = 0; r == 0 && plan->kinds && plan->kinds[i]; i++)
                r = dn_service_export(service, plan->kinds[i]);
        if (r == 0)
                r = enlist(calls, service, plan->options & DN_SERVICE_QUEUE);
        if (r < 0)
                dn__service_unref(service);
        else
                *ret_service = service;
        return r;
}

static bool service_is_valid(const dn_service_plan *plan, const dn_service_handler *handler)
{
        return plan && (plan->options & ~(uint32_t)DN_SERVICE_QUEUE) == 0 &&
               dn__reserved_is_zero(plan->reserved) && dn__service_name_is_valid(plan->name) &&
               handler->invoke && dn__reserved_is_zero(handler->reserved);
}

int dn_service_open(dn_center *center, const dn_service_plan *plan,
                    const dn_service_handler *handler, const dn_executor *executor,
                    dn_service **ret_service)
{
        DN__GATE();
        dn_service_handler owned = handler ? *handler : (dn_service_handler){ 0 };
        dn__hub *hub DN__UNREFS_HUB = NULL;
        int r = -EINVAL;

        if (center && service_is_valid(plan, &owned) && ret_service)
                r = dn__calls_start(center, &hub);
        if (r == 0)
                r = open_service(hub->calls, plan, &owned, executor, ret_service);
        end_context(&owned);
        return r;
}

static void give_up(dn__calls *calls, dn_service *service) DN__REQUIRES(&calls->dbus->lock)
{
        if (!dn__link_is_linked(&service->link))
                return; /* race: only while dn_shutdown() closes it on another thread */
        unlist(service);
        dn__calls_tell_bus(calls, "ReleaseName", service->name);
}

dn_service *dn_service_close(dn_service *service)
{
        DN__GATE();
        dn__calls *calls = get_calls(service);

        if (calls) {
                dn__lock_acquire(&calls->dbus->lock);
                give_up(calls, service);
                dn__lock_release(&calls->dbus->lock);
                leave_calls(service);
                dn__calls_release(calls);
        }
        if (service && service->fork_id == dn__fork_id())
                dn__service_unref(service);
        return NULL;
}

void dn__services_close(dn__calls *calls)
{
        dn_service *first;

        do {
                dn__lock_acquire(&calls->dbus->lock);
                first = dn__service_ref(DN__LIST_FIRST(dn_service, &calls->services, link));
                if (first)
                        give_up(calls, first);
                dn__lock_release(&calls->dbus->lock);
                if (first)
                        leave_calls(first);
                dn__service_unref(first);
        } while (first);
}

bool dn_service_has_name(dn_service *service)
{
        DN__GATE();
        dn__calls *calls = get_calls(service);
        bool has_name;

        if (!calls)
                return false;
        dn__lock_acquire(&calls->dbus->lock);
        has_name = service->has_name;
        dn__lock_release(&calls->dbus->lock);
        dn__calls_release(calls);
        return has_name;
}

/* --- Looking ------------------------------------------------------------------------------ */

dn_service *dn__service_find(dn__calls *calls, const char *path, const char **ret_child)
{
        size_t n_bytes = strcmp(path, "/") == 0 ? 0 : strlen(path);
        dn_service *found = NULL;

        DN__LIST_EACH(dn_service, service, &calls->services, link) {
                const char *rest;

                if (strncmp(service->path, path, n_bytes) != 0)
                        continue;
                rest = service->path + n_bytes;
                if (*rest && *rest != '/')
                        continue;
                found = service;
                *ret_child = *rest ? rest + 1 : NULL;
                if (!*rest)
                        break;
        }
        return dn__service_ref(found);
}
