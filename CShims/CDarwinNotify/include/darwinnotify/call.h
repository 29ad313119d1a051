/* Requests to other processes: D-Bus method calls with a dictionary. */
#ifndef DARWINNOTIFY_CALL_H
#define DARWINNOTIFY_CALL_H

#include "base.h"
#include "center.h"
#include "dict.h"
#include "executor.h"

DN_BEGIN_DECLS

/** Maximum number of calls in progress: of a process on one bus, and of each caller at a process
 *  that answers. */
#define DN_CALLS_MAX 1024

/** Maximum size of the arguments of these calls together, counted as DN_DICT_MAX_BYTES. */
#define DN_CALLS_MAX_BYTES (64 * 1024 * 1024)

/** The only key in the dictionary of a reply, or of the details of an error. */
#define DN_REPLY_VALUE "value"

/** One call. Opaque, reference-counted. */
typedef struct dn_call dn_call;

/** A request and its destination. Borrowed during the call it is passed to. */
typedef struct dn_call_plan {
        const char *service;      /**< the service's name on the bus: "org.example.Player" */
        const char *kind;         /**< interface and member: "org.example.Player.Search" */
        const dn_dict *arguments; /**< NULL: none */
        uint64_t timeout_us;      /**< how long to wait for the reply, in microseconds; UINT64_MAX:
                                       forever. A service that the bus has to start first is given
                                       no more time. */
        uint64_t reserved[2];     /**< 0 */
} dn_call_plan;

/** How a call has ended. Borrowed, with all it points to, until the callback returns. */
typedef struct dn_outcome {
        /** 0: there is a reply. Otherwise a negative errno:
         *
         *  - -ENXIO: nobody owns the service's name and the bus cannot start it, or the owner has
         *    no such service;
         *  - -ECONNRESET: the service left the bus before it answered; on the system bus also:
         *    its name now has another owner, or none, and another process has answered;
         *  - -ETIMEDOUT: there was no reply in time;
         *  - -ECANCELED: dn_call_cancel(), or dn_shutdown();
         *  - -ENOTCONN: the bus was lost before there was a reply;
         *  - -EACCES: the service or the bus does not let this process ask;
         *  - -ENOBUFS: the service or the bus has too many calls in progress;
         *  - -EREMOTEIO: the service answered with another error, see `error_name`;
         *  - -EBADMSG: the reply is malformed or not one value;
         *  - -E2BIG: the reply exceeds a limit of dict.h;
         *  - -ENOMEM. */
        int error;
        const char *error_name; /**< of a D-Bus error; otherwise NULL */
        const char *message;    /**< what it says, perhaps ""; otherwise NULL */
        const dn_dict *details; /**< what it says to programs, as DN_REPLY_VALUE; NULL: nothing, or
                                     nothing that fits into a dictionary. As `reply`, the callback
                                     may take a reference. */
        const dn_dict *reply;   /**< its value is that of DN_REPLY_VALUE; empty if the service
                                     replied without a value; NULL if there is an error. The
                                     callback may take a reference. */
} dn_outcome;

/** Defines what to do when a call has ended. No lock is held while its functions run; they may call
 *  any function of the library, and must return to their caller. */
typedef struct dn_call_handler {
        /** Called exactly once for each call that was begun, whatever happens. */
        void (*ended)(const dn_outcome *outcome, void *context);
        void *context;
        /** Runs exactly once: after `ended`, on the same thread, or if dn_call_begin() fails. May
         *  be NULL. */
        void (*destroy)(void *context);
        uint64_t reserved[2]; /**< 0 */
} dn_call_handler;

/**
 * Asks another process, and returns without waiting for the reply.
 *
 * The calls of a process to one service arrive in the order in which they were begun. If the
 * service uses this library, a call that times out or is cancelled is also cancelled there. The
 * first use of a bus waits up to 0.9 seconds for the connection.
 *
 * @param center    whose bus to use: dn_center_darwin(), or one from dn_center_open(). A call keeps
 *                  an opened center open until it has ended.
 * @param plan      copied.
 * @param handler   `ended` must be set; it is not called if this function fails. Its context is
 *                  consumed, also on failure.
 * @param executor  where `ended` runs: borrowed during the call, then retained; NULL stands for the
 *                  delivery thread. dn_executor_inline() is the thread that reads the bus,
 *                  `dn-service`, which must not be blocked. `ended` also runs on that thread if the
 *                  executor refuses the work, as the executor of a closed loop does.
 * @param ret_call  set on success, before `ended` can run; the caller owns one reference. May be
 *                  NULL.
 *
 * Errors:   -EINVAL if an argument is NULL or malformed, or the center has no calls; -ENOTCONN if
 *           there is no bus at present; -ENOBUFS at DN_CALLS_MAX or DN_CALLS_MAX_BYTES; -ENOMEM,
 *           -EAGAIN. Nothing was sent.
 * Threads:  any.
 * Apple:    xpc_connection_send_message_with_reply().
 */
DN_EXPORT int dn_call_begin(dn_center *center, const dn_call_plan *plan,
                            const dn_call_handler *handler, const dn_executor *executor,
                            dn_call **ret_call) DN_NEEDS_BUS;

/**
 * If a call is in progress, ends it with -ECANCELED: `ended` runs soon, on its executor.
 *
 * @param call  borrowed; NULL is allowed.
 *
 * Threads:  any.
 */
DN_EXPORT void dn_call_cancel(dn_call *call) DN_NEEDS_BUS;

/** Releases a reference, which does not end the call. NULL is allowed. Returns NULL. Threads:
 *  any. */
DN_EXPORT dn_call *dn_call_unref(dn_call *call) DN_NEEDS_BUS;

DN_END_DECLS

#endif
