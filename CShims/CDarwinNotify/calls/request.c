/* Requests of other processes: from the message to the reply. */
#include "calls/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bus/wire.h"
#include "calls/answer.h"
#include "calls/callers.h"
#include "calls/kinds.h"
#include "calls/message.h"
#include "calls/request-run.h"
#include "calls/service.h"
#include "post/dict.h"
#include "util/gate.h"
#include "util/host.h"

static void run_drop(void *request)
{
        dn__request_unref(request);
}

/* Releases a reference, perhaps the last one, after the lock. */
static void drop(dn__calls *calls, dn_request *request) DN__REQUIRES(&calls->dbus->lock)
{
        request->cancel.executor = NULL;
        request->cancel.run = run_drop;
        dn__calls_add_job(calls, &request->cancel);
}

/* Ends a request whose caller no longer waits. */
static void cancel_request(dn__calls *calls, dn_request *request)
        DN__REQUIRES(&calls->dbus->lock)
{
        /* The bus remembers the waiting caller until there is a reply. */
        atomic_fetch_add_explicit(&request->n_refs, 1, memory_order_relaxed);
        dn__request_refuse(calls, request, DN_ERROR_CANCELLED, "The caller has stopped waiting.");
        if (request->has_begun && request->service->handler.cancel)
                dn__calls_add_job(calls, &request->cancel);
        else
                drop(calls, request);
}

/* Hands a request to its handler, or refuses it: its caller is known. */
static void admit(dn__calls *calls, dn_request *request) DN__REQUIRES(&calls->dbus->lock)
{
        request->from.user = request->caller->user;
        request->from.process = request->caller->process;
        request->from.is_own = dn__connection_is_own(&calls->dbus->connection, request->from.name);
        atomic_fetch_add_explicit(&request->n_refs, 1, memory_order_relaxed);
        if (!request->service->handler.allow && request->from.user != geteuid()) {
                calls->dbus->counts.n_ignored++;
                dn__request_refuse(calls, request, SD_BUS_ERROR_ACCESS_DENIED,
                                   "The service answers only processes of its own user.");
                drop(calls, request);
        } else {
                dn__calls_add_job(calls, &request->begin);
        }
}

/* --- Callers ------------------------------------------------------------------------------ */

static dn_request *first_of(const dn__caller *caller)
{
        return dn__list_is_empty(&caller->requests)
                       ? NULL
                       : DN__CONTAINER(caller->requests.next, dn_request, link);
}

static void cancel_all_of(dn__calls *calls, dn__caller *caller) DN__REQUIRES(&calls->dbus->lock)
{
        dn_request *first;

        while ((first = first_of(caller)))
                cancel_request(calls, first);
        dn__caller_forget(calls, caller);
}

void dn__requests_left(dn__calls *calls, const char *name)
{
        dn__caller *caller = dn__caller_find(calls, name);

        if (caller)
                cancel_all_of(calls, caller);
}

void dn__requests_disconnected(dn__calls *calls)
{
        dn__link *const lists[] = { &calls->busy_callers, &calls->idle_callers };

        for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
                while (!dn__list_is_empty(lists[i]))
                        cancel_all_of(calls, DN__CONTAINER(lists[i]->next, dn__caller, link));
        dn__callers_disconnected(calls);
}

/* If the caller has left before its rule was in place, its requests are cancelled. */
int dn__request_answered_who(sd_bus_message *message, void *context, sd_bus_error *error)
{
        dn__caller *caller = context;
        dn__calls *calls = caller->calls;
        dn__user_answer answer;

        (void)error;
        dn__cleanup_assert_locked(&calls->dbus->lock);
        answer = dn__caller_read_user(calls, caller, message);
        for (dn__link *link = caller->requests.next, *next;
             answer == DN__USER_READ && link != &caller->requests; link = next) {
                next = link->next;
                admit(calls, DN__CONTAINER(link, dn_request, link));
        }
        if (answer == DN__USER_GONE)
                cancel_all_of(calls, caller);
        return 1;
}

static void cancel_by_serial(dn__calls *calls, sd_bus_message *message)
{
        uint64_t found;
        uint32_t serial;
        dn__caller *caller;

        DN__AUTO_LOCK(&calls->dbus->lock);
        caller = dn__caller_find(calls, sd_bus_message_get_sender(message));
        if (!caller || sd_bus_message_read(message, "u", &serial) <= 0)
                return;
        for (dn__link *link = caller->requests.next; link != &caller->requests;
             link = link->next) {
                dn_request *request = DN__CONTAINER(link, dn_request, link);

                if (sd_bus_message_get_cookie(request->message, &found) >= 0 && found == serial) {
                        cancel_request(calls, request);
                        return;
                }
        }
}

/* --- From the bus ------------------------------------------------------------------------- */

/* A refusal of a message that has not become a request. */
static bool refuse(dn__calls *calls, sd_bus_message *message, const char *name, const char *format,
                   const char *detail)
{
        DN__AUTO_LOCK(&calls->dbus->lock);
        if (dn__connection_is_open(&calls->dbus->connection))
                (void)sd_bus_reply_method_errorf(message, name, format, detail);
        calls->dbus->counts.n_ignored++;
        return true;
}

static dn_request *make_request(dn__calls *calls, dn_service *service, sd_bus_message *message,
                                dn_dict *arguments, const char *kind)
{
        const char *sender = sd_bus_message_get_sender(message);
        size_t n_sender = strlen(sender) + 1, n_kind = strlen(kind) + 1;
        dn_request *request = malloc(sizeof(*request) + n_sender + n_kind);

        if (!request)
                return NULL;
        *request = (dn_request){
                .info = { .arguments = arguments },
                .calls = calls,
                .service = dn__service_ref(service),
                .n_bytes = dn__dict_get_bytes(arguments),
                .n_refs = 1,
                .begin = { { 0 }, service->executor, dn__request_run, request },
                .cancel = { { 0 }, service->executor, dn__request_run_cancel, request },
        };
        dn__calls_retain(calls);
        request->info.caller = &request->from;
        request->from.name = memcpy(request->text, sender, n_sender);
        request->info.kind = memcpy(request->text + n_sender, kind, n_kind);
        return request;
}

/* Returns why a request cannot be accepted, or no error. */
static sd_bus_error accept(dn__calls *calls, dn_request *request, sd_bus_message *message)
        DN__REQUIRES(&calls->dbus->lock)
{
        dn__caller *caller = dn__caller_get(calls, request->from.name);

        if (!caller)
                return SD_BUS_ERROR_MAKE_CONST(SD_BUS_ERROR_NO_MEMORY, "no memory");
        if (caller->n_requests >= DN_CALLS_MAX)
                return SD_BUS_ERROR_MAKE_CONST(SD_BUS_ERROR_LIMITS_EXCEEDED,
                                               "too many requests in progress");
        if (caller->n_bytes + request->n_bytes > DN_CALLS_MAX_BYTES)
                return SD_BUS_ERROR_MAKE_CONST(SD_BUS_ERROR_LIMITS_EXCEEDED,
                                               "the requests in progress are too large in total");
        request->info.id = ++calls->last_id;
        request->message = sd_bus_message_ref(message);
        dn__caller_add(calls, caller, request);
        if (!caller->query)
                admit(calls, request);
        return SD_BUS_ERROR_NULL;
}

static bool begin_request(dn__calls *calls, dn_service *service, sd_bus_message *message,
                          const char *kind)
{
        dn_dict *arguments = NULL;
        dn_request *request;
        sd_bus_error problem;
        int r;

        r = dn__call_read_arguments(message, &arguments);
        if (r == -EINVAL || r == -EBADMSG)
                return refuse(calls, message, SD_BUS_ERROR_INVALID_ARGS,
                              "%s takes one dictionary a{sv} of plain values.", kind);
        if (r == -E2BIG)
                return refuse(calls, message, SD_BUS_ERROR_LIMITS_EXCEEDED,
                              "The arguments of %s are too large or too deeply nested.", kind);
        request = r == 0 ? make_request(calls, service, message, arguments, kind) : NULL;
        if (!request) {
                dn_dict_unref(arguments);
                return refuse(calls, message, SD_BUS_ERROR_NO_MEMORY, "No memory for %s.", kind);
        }
        dn__lock_acquire(&calls->dbus->lock);
        problem = accept(calls, request, message);
        dn__lock_release(&calls->dbus->lock);
        if (!problem.name)
                return true;
        dn__request_unref(request);
        return refuse(calls, message, problem.name, "Refused: %s.", problem.message);
}

static bool introspect(dn__calls *calls, const dn_service *service, const char *child,
                       sd_bus_message *message)
{
        char *text DN__FREES = child ? dn__introspection_new_parent(child)
                                     : dn__kinds_introspect(service);

        dn__lock_acquire(&calls->dbus->lock);
        if (text && dn__connection_is_open(&calls->dbus->connection))
                (void)sd_bus_reply_method_return(message, "s", text);
        dn__lock_release(&calls->dbus->lock);
        return text ? true : refuse(calls, message, SD_BUS_ERROR_NO_MEMORY, "%s.", "No memory");
}

/* With a service that the message is for, or that is below its path. */
static bool handle_for(dn__calls *calls, dn_service *service, const char *child,
                       sd_bus_message *message)
{
        const char *interface = sd_bus_message_get_interface(message);
        const char *member = sd_bus_message_get_member(message);
        char kind[2 * DN__CALL_NAME_BYTES];
        bool is_exported;

        if (sd_bus_message_is_method_call(message, "org.freedesktop.DBus.Introspectable",
                                          "Introspect") > 0)
                return introspect(calls, service, child, message);
        if (!child && sd_bus_message_is_method_call(message, DN__CALLS_INTERFACE,
                                                    DN__CALLS_CANCEL) > 0) {
                cancel_by_serial(calls, message);
                return true;
        }
        if (child)
                return refuse(calls, message, SD_BUS_ERROR_UNKNOWN_OBJECT,
                              "There is no object %s.", sd_bus_message_get_path(message));
        (void)snprintf(kind, sizeof(kind), "%s.%s", interface ? interface : "", member);
        dn__lock_acquire(&calls->dbus->lock);
        is_exported = dn__kinds_have(service, kind);
        dn__lock_release(&calls->dbus->lock);
        if (!is_exported)
                return refuse(calls, message, SD_BUS_ERROR_UNKNOWN_METHOD,
                              "This service does not answer %s.", kind);
        return begin_request(calls, service, message, kind);
}

bool dn__request_handle(dn__calls *calls, sd_bus_message *message)
{
        const char *path = sd_bus_message_get_path(message), *child = NULL;
        dn_service *service;
        bool is_handled;

        if (!path || !sd_bus_message_get_sender(message) || !sd_bus_message_get_member(message))
                return false; /* unreachable: a bus adds the sender, sd-bus requires the rest */
        dn__lock_acquire(&calls->dbus->lock);
        service = dn__service_find(calls, path, &child);
        dn__lock_release(&calls->dbus->lock);
        if (!service)
                return false;
        is_handled = handle_for(calls, service, child, message);
        dn__service_unref(service);
        return is_handled;
}
