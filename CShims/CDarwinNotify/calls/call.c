/* Requests to other processes: each ends exactly once. */
#include "calls/call.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus/values.h"
#include "bus/wire.h"
#include "calls/awaited.h"
#include "calls/call-owner.h"
#include "calls/message.h"
#include "post/dict.h"
#include "util/gate.h"
#include "util/hash.h"
#include "util/host.h"
#include "util/reserved.h"

dn_call *dn_call_unref(dn_call *call)
{
        DN__GATE();

        if (!call || atomic_fetch_sub_explicit(&call->n_refs, 1, memory_order_acq_rel) != 1)
                return NULL;
        dn_dict_unref(call->outcome.reply);
        dn_dict_unref(call->outcome.details);
        free((char *)call->outcome.error_name);
        free((char *)call->outcome.message);
        free(call->owner);
        dn__executor_unref(call->executor);
        dn__calls_release(call->calls);
        free(call);
        return NULL;
}

/* --- The end ------------------------------------------------------------------------------ */

/* The only caller of the destroy hook of a call. */
static void end_call_context(const dn_call_handler *handler)
{
        dn__host_release(handler->destroy, handler->context);
}

static void run_handler(void *argument)
{
        const dn_call *call = argument;

        call->handler.ended(&call->outcome, call->handler.context);
}

/* On the executor. */
static void run_ended(void *argument)
{
        DN__GATE_FOR_WORK();
        dn_call *call = argument;

        /* A forked child may have inherited the work in one of the host's queues. */
        if (!dn__calls_are_current(call->calls))
                return;
        (void)dn__host_handle(run_handler, call);
        end_call_context(&call->handler);
        (void)dn_call_unref(call);
}

/* Removes a call from the list of calls in progress; the thread that does so ends it. */
static void take(dn__calls *calls, dn_call *call) DN__REQUIRES(&calls->dbus->lock)
{
        assert(dn__link_is_linked(&call->link));
        dn__list_remove(&call->link);
        dn__awaited_forget(calls, &call->answer);
        dn__awaited_forget(calls, &call->owner_answer);
        calls->n_calls--;
        calls->n_call_bytes -= call->n_bytes;
}

static void end(dn__calls *calls, dn_call *call, int error) DN__REQUIRES(&calls->dbus->lock)
{
        take(calls, call);
        call->outcome.error = error;
        dn__calls_add_job(calls, &call->job);
}

static void read_outcome(sd_bus_message *message, dn_outcome *ret_outcome)
{
        const sd_bus_error *error = sd_bus_message_get_error(message);
        dn_dict *reply = NULL;

        *ret_outcome = (dn_outcome){ 0 };
        if (!error) {
                ret_outcome->error = dn__call_read_reply(message, &reply);
                ret_outcome->reply = reply;
                return;
        }
        ret_outcome->error = dn__call_read_error(error);
        ret_outcome->error_name = strdup(error->name);
        ret_outcome->message = strdup(error->message ? error->message : "");
        ret_outcome->details = dn__call_read_details(message);
}

/* Returns the call that a message has ended, or NULL. */
static dn_call *take_answered(dn__calls *calls, dn__awaited *answer, sd_bus_message *message)
        DN__REQUIRES(&calls->dbus->lock)
{
        dn_call *call = answer->call;
        bool is_from_bus = dn__connection_is_bus(message);
        int r;

        if (answer == &call->owner_answer) {
                r = is_from_bus ? dn__call_note_owner(calls, call, message) : 0;
                if (r < 0)
                        end(calls, call, r);
                return NULL;
        }
        if (!is_from_bus && !dn__call_check_sender(calls, call, sd_bus_message_get_sender(message)))
                return NULL;
        take(calls, call);
        return call;
}

bool dn__call_handle_answer(dn__calls *calls, sd_bus_message *message)
{
        uint64_t serial;
        dn__awaited *answer;
        dn_call *call;

        if (!sd_bus_message_get_sender(message) ||
            sd_bus_message_get_reply_cookie(message, &serial) < 0)
                return false; /* unreachable: a bus adds the sender, sd-bus requires the cookie */
        dn__lock_acquire(&calls->dbus->lock);
        answer = dn__awaited_find(calls, serial);
        call = answer ? take_answered(calls, answer, message) : NULL;
        dn__lock_release(&calls->dbus->lock);
        if (call) {
                read_outcome(message, &call->outcome);
                dn__job_hand_over(&call->job);
        }
        return answer != NULL; /* NULL: late */
}

/* Informs the service that nobody is waiting any longer, if it can be reached. */
static void send_cancel(dn__calls *calls, const dn_call *call) DN__REQUIRES(&calls->dbus->lock)
{
        sd_bus_message *message DN__UNREFS_MESSAGE = NULL;
        char path[DN__CALL_NAME_BYTES];
        int r;

        dn__service_write_path(call->service, path);
        r = sd_bus_message_new_method_call(calls->dbus->connection.bus, &message, call->service,
                                           path, DN__CALLS_INTERFACE, DN__CALLS_CANCEL);
        if (r >= 0)
                r = sd_bus_message_append(message, "u", (uint32_t)call->answer.serial);
        if (r >= 0)
                r = sd_bus_message_set_auto_start(message, false);
        if (r >= 0)
                (void)dn__calls_send(calls, message, NULL);
}

void dn__calls_expire(dn__calls *calls)
{
        uint64_t now_us, first_us = DN__NEVER;

        if (calls->until_us == DN__NEVER || calls->until_us > (now_us = dn__clock_now_us()))
                return;
        for (dn__link *link = calls->calls.next, *next; link != &calls->calls; link = next) {
                dn_call *call = DN__CONTAINER(link, dn_call, link);

                next = link->next;
                if (call->until_us <= now_us) {
                        send_cancel(calls, call);
                        end(calls, call, -ETIMEDOUT);
                } else if (call->until_us < first_us) {
                        first_us = call->until_us;
                }
        }
        calls->until_us = first_us;
}

void dn__calls_end_all(dn__calls *calls, int error)
{
        while (!dn__list_is_empty(&calls->calls)) {
                dn_call *first = DN__CONTAINER(calls->calls.next, dn_call, link);

                if (error == -ECANCELED)
                        send_cancel(calls, first);
                end(calls, first, error);
        }
        calls->until_us = DN__NEVER;
}

void dn_call_cancel(dn_call *call)
{
        DN__GATE();

        if (!call || !dn__calls_are_current(call->calls))
                return;
        DN__AUTO_LOCK(&call->calls->dbus->lock);
        if (!dn__link_is_linked(&call->link))
                return;
        send_cancel(call->calls, call);
        end(call->calls, call, -ECANCELED);
}

/* --- The beginning ------------------------------------------------------------------------ */

static int check_limits(const dn__calls *calls, size_t n_bytes) DN__REQUIRES(&calls->dbus->lock)
{
        if (!dn__connection_is_usable(&calls->dbus->connection))
                return -ENOTCONN;
        if (calls->n_calls >= DN_CALLS_MAX || calls->n_call_bytes + n_bytes > DN_CALLS_MAX_BYTES)
                return -ENOBUFS;
        return 0;
}

/* Makes the message of a call, without its arguments. */
static int make_message(dn__calls *calls, const dn_call_plan *plan, sd_bus_message **ret_message)
        DN__REQUIRES(&calls->dbus->lock)
{
        char path[DN__CALL_NAME_BYTES], interface[DN__CALL_NAME_BYTES];
        const char *member;
        int r;

        dn__service_write_path(plan->service, path);
        member = dn__kind_split(plan->kind, interface);
        r = sd_bus_message_new_method_call(calls->dbus->connection.bus, ret_message, plan->service,
                                           path, interface, member);
        return r < 0 ? r : 0;
}

/* Sends the message of a call, which is then in progress. */
static int send_call(dn__calls *calls, dn_call *call, sd_bus_message *message)
        DN__REQUIRES(&calls->dbus->lock)
{
        int r;

        r = check_limits(calls, call->n_bytes);
        if (r == 0 && !call->is_owner_known)
                r = dn__call_ask_for_owner(calls, call);
        if (r == 0)
                r = dn__awaited_send(calls, message, &call->answer);
        if (r < 0) {
                dn__awaited_forget(calls, &call->owner_answer);
                return r;
        }
        dn__list_append(&calls->calls, &call->link);
        calls->n_calls++;
        calls->n_call_bytes += call->n_bytes;
        if (call->until_us < calls->until_us) {
                calls->until_us = call->until_us;
                dn__loop_wake(calls->loop);
        }
        return 0;
}

static dn_call *make_call(dn__calls *calls, const dn_call_plan *plan,
                          const dn_call_handler *handler)
{
        size_t n_bytes = strlen(plan->service) + 1;
        dn_call *call = malloc(sizeof(*call) + n_bytes);

        if (!call)
                return NULL;
        *call = (dn_call){
                .answer.call = call,
                .owner_answer.call = call,
                .is_owner_known = !calls->dbus->address.is_shared,
                .calls = calls,
                .handler = *handler,
                .n_bytes = dn__dict_get_bytes(plan->arguments),
                .until_us = dn__clock_after_us(plan->timeout_us),
                .job = { .run = run_ended, .argument = call },
                .n_refs = 2,
        };
        memcpy(call->service, plan->service, n_bytes);
        dn__calls_retain(calls);
        return call;
}

/* The arguments may be large, so they are appended without the lock. The service thread may end the
 * call as soon as the lock is released at the end. */
static int begin(dn__calls *calls, dn_call *call, const dn_call_plan *plan, dn_call **ret_call)
{
        sd_bus_message *message = NULL;
        int r;

        dn__lock_acquire(&calls->dbus->lock);
        r = check_limits(calls, call->n_bytes);
        if (r == 0)
                r = make_message(calls, plan, &message);
        dn__lock_release(&calls->dbus->lock);
        if (r == 0)
                r = dn__values_append(message, plan->arguments);
        dn__lock_acquire(&calls->dbus->lock);
        if (r >= 0)
                r = send_call(calls, call, message);
        if (r == 0 && ret_call)
                *ret_call = call;
        (void)sd_bus_message_unref(message);
        dn__lock_release(&calls->dbus->lock);
        return r;
}

static int start_call(dn__calls *calls, const dn_call_plan *plan, const dn_call_handler *handler,
                      const dn_executor *executor, dn_call **ret_call)
{
        dn_call *call;
        int r;

        call = make_call(calls, plan, handler);
        if (!call)
                return -ENOMEM;
        r = dn__executor_new(executor, calls->loop, &call->executor);
        if (r == 0) {
                call->job.executor = call->executor;
                r = begin(calls, call, plan, ret_call);
        }
        if (r < 0 || !ret_call)
                (void)dn_call_unref(call); /* the caller's */
        if (r < 0)
                (void)dn_call_unref(call); /* the call's own: it never began */
        return r;
}

static bool call_is_valid(const dn_call_plan *plan, const dn_call_handler *handler)
{
        char interface[DN__CALL_NAME_BYTES];

        return plan && dn__reserved_is_zero(plan->reserved) &&
               dn__service_name_is_valid(plan->service) &&
               dn__kind_split(plan->kind, interface) && handler->ended &&
               dn__reserved_is_zero(handler->reserved);
}

int dn_call_begin(dn_center *center, const dn_call_plan *plan, const dn_call_handler *handler,
                  const dn_executor *executor, dn_call **ret_call)
{
        DN__GATE();
        dn__hub *hub DN__UNREFS_HUB = NULL;
        int r = -EINVAL;

        if (!handler)
                return r;
        if (center && call_is_valid(plan, handler))
                r = dn__calls_start(center, &hub);
        if (r == 0)
                r = start_call(hub->calls, plan, handler, executor, ret_call);
        if (r < 0)
                end_call_context(handler); /* no call has taken it */
        return r;
}
