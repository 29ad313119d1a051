/* Answers the requests of other processes: D-Bus method calls with a dictionary. */
#ifndef DARWINNOTIFY_SERVICE_H
#define DARWINNOTIFY_SERVICE_H

#include <stdbool.h>

#include "base.h"
#include "call.h"
#include "center.h"
#include "dict.h"
#include "executor.h"
#include "observer.h"

DN_BEGIN_DECLS

/** A name on the bus, under which the process answers requests. Opaque. */
typedef struct dn_service dn_service;

/** One request that has no reply yet. Opaque. Its handler owns it until it answers. */
typedef struct dn_request dn_request;

/** Describes a request. */
typedef struct dn_request_info {
        uint64_t id;              /**< unique in this process */
        const char *kind;         /**< interface and member */
        const dn_dict *arguments; /**< never NULL */
        const dn_sender *caller;  /**< the process that asks, as the bus reports it */
} dn_request_info;

/** The functions that answer the requests of a service. No lock is held while they run; they may
 *  call any function of the library, and must return to their caller. */
typedef struct dn_service_handler {
        /** Returns whether the caller may make this request. NULL: callers with the effective user
         *  of this process may make all. */
        bool (*allow)(const dn_request_info *info, void *context);

        /** Handles a request, which it owns: one of dn_request_answer() and dn_request_refuse()
         *  must follow, now or later, on any thread. `info` is valid until then. The requests of
         *  one caller begin in the order of its calls. */
        void (*invoke)(dn_request *request, const dn_request_info *info, void *context);

        /** Reports that nobody is waiting any longer for a request whose `invoke` has begun: the
         *  caller cancelled it, timed out or left the bus, or the bus was lost. The request must
         *  still be answered or refused, which then does nothing. It may have been answered in the
         *  meantime, so it is identified by the `id` of its info. May be NULL. */
        void (*cancel)(uint64_t id, void *context);

        /** Reports that the process now owns the name, or no longer does: the first call, perhaps
         *  before dn_service_open() has returned, reports that it does; each later call reports the
         *  opposite of the previous one. None begins after dn_service_close(), except one that
         *  another thread was about to make. May be NULL. */
        void (*name_changed)(bool has_name, void *context);

        void *context;

        /** Runs exactly once, when nothing uses the context any more: after dn_service_close() and
         *  the last reply, or if dn_service_open() fails. May be NULL. */
        void (*destroy)(void *context);
        uint64_t reserved[2]; /**< 0 */
} dn_service_handler;

/** Another process has the name: the service waits until its turn comes. */
#define DN_NAME_QUEUED 2

/** An option of dn_service_plan: wait for a name that another process has, instead of failing. */
#define DN_SERVICE_QUEUE 1

/** Describes a service to open. Borrowed during the call it is passed to. */
typedef struct dn_service_plan {
        const char *name;         /**< a well-known bus name, such as "org.example.Player" */
        const char *const *kinds; /**< a NULL-terminated array of kinds to export at once, as by
                                       dn_service_export(); NULL: none. A bus that starts the
                                       service on demand delivers requests at once. */
        uint32_t options;         /**< 0 or DN_SERVICE_QUEUE */
        uint64_t reserved[2];     /**< 0 */
} dn_service_plan;

/**
 * Owns a name on a bus, under which requests can be answered.
 *
 * On the bus the service is an object whose path is the name with slashes instead of dots, and
 * underscores instead of hyphens. Only exported kinds can be called there. If the bus is lost, the
 * name is requested again when one is found, then always as with DN_SERVICE_QUEUE.
 *
 * @param center       whose bus to use, as for dn_call_begin(). The service keeps it open.
 * @param plan         copied.
 * @param handler      `invoke` must be set. Its context is consumed, also on failure.
 * @param executor     where its functions run: borrowed during the call, then retained; NULL stands
 *                     for the delivery thread. dn_executor_inline() is the thread that reads the
 *                     bus, `dn-service`, which must not be blocked. They also run on that thread if
 *                     the executor refuses the work, as a closed loop's executor does.
 * @param ret_service  set on success; owned, close it with dn_service_close().
 *
 * Returns 0 if the process owns the name; DN_NAME_QUEUED; or DN_NOT_CONNECTED if there is no bus at
 * present, or it has not answered within a second: the name is requested when one appears.
 *
 * Errors:   -EINVAL if an argument is NULL or malformed, or the center has no calls; -ENOTCONN if
 *           there is no bus to connect to; -EEXIST if another process has the name, or another
 *           service of this one has the same path; -EACCES if the bus does not let this process
 *           have it; -ENOBUFS if the bus refuses more names; -ENOMEM, -EAGAIN.
 * Threads:  any. On `dn-service` it does not wait for the bus, and returns DN_NAME_QUEUED.
 * Apple:    xpc_connection_create_mach_service() with XPC_CONNECTION_MACH_SERVICE_LISTENER.
 */
DN_EXPORT int dn_service_open(dn_center *center, const dn_service_plan *plan,
                              const dn_service_handler *handler, const dn_executor *executor,
                              dn_service **ret_service) DN_NEEDS_BUS;

/** Returns whether the process owns the name at present. false for NULL. `name_changed` of the
 *  handler reports changes. Threads: any. */
DN_EXPORT bool dn_service_has_name(dn_service *service) DN_NEEDS_BUS;

/**
 * Lets other processes make requests of a kind. Exporting one again changes nothing.
 *
 * @param kind  interface and member, such as "org.example.Player.Search"; at most 255 bytes,
 *              copied.
 *
 * Errors:   -EINVAL if an argument is NULL or malformed; -ENOMEM.
 * Threads:  any.
 */
DN_EXPORT int dn_service_export(dn_service *service, const char *kind) DN_NEEDS_BUS;

/**
 * Ends an export: later requests of the kind are refused. Requests that have arrived are still
 * handled.
 *
 * Errors:   -EINVAL if an argument is NULL, or the kind is not exported.
 * Threads:  any.
 */
DN_EXPORT int dn_service_unexport(dn_service *service, const char *kind) DN_NEEDS_BUS;

/**
 * Gives up the name and refuses later requests. Requests whose handler has begun can still be
 * answered.
 *
 * @param service  consumed; NULL is allowed.
 * @return NULL.
 *
 * Threads:  any.
 */
DN_EXPORT dn_service *dn_service_close(dn_service *service) DN_NEEDS_BUS;

/**
 * Answers a request.
 *
 * @param request  consumed, also on failure.
 * @param reply    has the value of the reply under DN_REPLY_VALUE, of any type; NULL or without
 *                 that key: none. Borrowed.
 *
 * Errors:   -ECANCELED if nobody is waiting; -EINVAL if `request` is NULL; -ENOTCONN if the
 *           connection broke while sending; -ENOMEM.
 * Threads:  any.
 */
DN_EXPORT int dn_request_answer(dn_request *request, const dn_dict *reply) DN_NEEDS_BUS;

/**
 * Answers a request with an error.
 *
 * @param request  consumed, also on failure.
 * @param error    a D-Bus error name; DN_ERROR_FAILED if NULL or malformed. Borrowed.
 * @param message  the reason in a sentence for people; NULL: none. Borrowed.
 * @param details  the reason for programs, as the value of DN_REPLY_VALUE, of any type; NULL or
 *                 without that key: none. Borrowed.
 *
 * Errors:   as dn_request_answer().
 * Threads:  any.
 */
DN_EXPORT int dn_request_refuse(dn_request *request, const char *error, const char *message,
                                const dn_dict *details) DN_NEEDS_BUS;

/* Names of errors. The message says more. */

/** No handler of the service could or would answer. */
#define DN_ERROR_UNAVAILABLE "org.darwinnotify.Error.Unavailable"
/** The handler has dropped the request. */
#define DN_ERROR_UNANSWERED "org.darwinnotify.Error.Unanswered"
/** The handler was cancelled. */
#define DN_ERROR_CANCELLED "org.darwinnotify.Error.Cancelled"
/** The handler timed out. */
#define DN_ERROR_TIMED_OUT "org.darwinnotify.Error.TimedOut"
/** The handler failed. */
#define DN_ERROR_FAILED "org.darwinnotify.Error.Failed"

DN_END_DECLS

#endif
