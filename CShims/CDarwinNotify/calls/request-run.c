/* Runs the handler of a service for a request, on the executor. */
#include "calls/request-run.h"

#include "bus/wire.h"
#include "calls/answer.h"
#include "util/gate.h"
#include "util/host.h"

/* Returns whether the handler gets the request. */
static bool may_begin(dn__calls *calls, dn_request *request, bool is_allowed)
{
        DN__AUTO_LOCK(&calls->dbus->lock);
        if (!request->caller)
                return false;
        request->has_begun = is_allowed && dn__link_is_linked(&request->service->link);
        if (!is_allowed) {
                calls->dbus->counts.n_ignored++;
                dn__request_refuse(calls, request, SD_BUS_ERROR_ACCESS_DENIED,
                                   "The service does not accept this request from its caller.");
        } else if (!request->has_begun) {
                dn__request_refuse(calls, request, DN_ERROR_UNAVAILABLE, "The service was closed.");
        }
        return request->has_begun;
}

typedef struct admission {
        const dn_request *request;
        bool is_allowed;
} admission;

static void run_allow(void *context)
{
        admission *admission = context;
        const dn_request *request = admission->request;
        const dn_service_handler *handler = &request->service->handler;

        admission->is_allowed = handler->allow(&request->info, handler->context);
}

static void run_invoke(void *context)
{
        dn_request *request = context;
        const dn_service_handler *handler = &request->service->handler;

        handler->invoke(request, &request->info, handler->context);
}

static void run_cancel_handler(void *context)
{
        const dn_request *request = context;
        const dn_service_handler *handler = &request->service->handler;

        handler->cancel(request->info.id, handler->context);
}

/* A process that is exiting does not answer: the bus reports its end to the caller. */
void dn__request_run(void *argument)
{
        DN__GATE_FOR_WORK();
        dn_request *request = argument;
        admission admission = { request, true };

        /* A forked child may have inherited the work in one of the host's queues. */
        if (!dn__calls_are_current(request->calls))
                return;
        if ((request->service->handler.allow && !dn__host_handle(run_allow, &admission)) ||
            !may_begin(request->calls, request, admission.is_allowed) ||
            !dn__host_handle(run_invoke, request))
                dn__request_unref(request);
}

void dn__request_run_cancel(void *argument)
{
        DN__GATE_FOR_WORK();
        dn_request *request = argument;

        if (!dn__calls_are_current(request->calls))
                return;
        (void)dn__host_handle(run_cancel_handler, request);
        dn__request_unref(request);
}
