/* Answers requests, with a reply or an error. */
#include "calls/answer.h"

#include <errno.h>

#include "bus/wire.h"
#include "calls/callers.h"
#include "calls/message.h"
#include "calls/service.h"
#include "darwinnotify/service.h"
#include "post/dict.h"
#include "util/gate.h"

void dn__request_unref(dn_request *request)
{
        if (!request || atomic_fetch_sub_explicit(&request->n_refs, 1, memory_order_acq_rel) != 1)
                return;
        dn__service_unref(request->service);
        dn__calls_release(request->calls);
        dn_dict_unref(request->info.arguments);
        free(request);
}

/* Ends a request and releases the reference of its caller's list. If an earlier error has prevented
 * a reply, `answer` is NULL and none is sent. */
static int end_request(dn__calls *calls, dn_request *request, sd_bus_message *answer)
        DN__REQUIRES(&calls->dbus->lock)
{
        int r = 0;

        if (answer && sd_bus_message_get_expect_reply(request->message) > 0)
                r = dn__calls_send(calls, answer, NULL);
        request->message = sd_bus_message_unref(request->message);
        dn__caller_remove(calls, request);
        dn__request_unref(request);
        return r < 0 ? -ENOTCONN : 0;
}

void dn__request_refuse(dn__calls *calls, dn_request *request, const char *name, const char *text)
{
        sd_bus_message *message DN__UNREFS_MESSAGE = NULL;
        dn__answer refusal = { name, text, NULL };
        int r;

        r = dn__call_make_answer(request->message, &refusal, &message);
        if (r >= 0)
                r = dn__call_append_answer(message, &refusal);
        (void)end_request(calls, request, r < 0 ? NULL : message);
}

/* `r`: of making the reply. The request may have been cancelled meanwhile. */
static int send_answer(dn__calls *calls, dn_request *request, sd_bus_message *answer, int r)
        DN__REQUIRES(&calls->dbus->lock)
{
        if (!request->caller)
                return -ECANCELED;
        if (r >= 0)
                return end_request(calls, request, answer);
        dn__request_refuse(calls, request, SD_BUS_ERROR_NO_MEMORY, "No memory.");
        return -ENOMEM;
}

/* The values may be large, so they are appended without the lock. */
static int answer_request(dn__calls *calls, dn_request *request, const dn__answer *answer)
{
        sd_bus_message *message = NULL;
        int r = -ECANCELED;

        dn__lock_acquire(&calls->dbus->lock);
        if (request->caller)
                r = dn__call_make_answer(request->message, answer, &message);
        dn__lock_release(&calls->dbus->lock);
        if (r >= 0)
                r = dn__call_append_answer(message, answer);
        dn__lock_acquire(&calls->dbus->lock);
        r = send_answer(calls, request, message, r);
        (void)sd_bus_message_unref(message);
        dn__lock_release(&calls->dbus->lock);
        return r;
}

/* Ends a request for its handler. */
static int conclude(dn_request *request, const dn__answer *answer)
{
        DN__GATE();
        int r = -ECANCELED;

        if (!request)
                return -EINVAL;
        if (dn__calls_are_current(request->calls))
                r = answer_request(request->calls, request, answer);
        dn__request_unref(request);
        return r;
}

int dn_request_answer(dn_request *request, const dn_dict *reply)
{
        dn__answer answer = { NULL, NULL, reply };

        return conclude(request, &answer);
}

int dn_request_refuse(dn_request *request, const char *error, const char *message,
                      const dn_dict *details)
{
        dn__answer refusal = { error ? error : DN_ERROR_FAILED, message, details };

        return conclude(request, &refusal);
}
