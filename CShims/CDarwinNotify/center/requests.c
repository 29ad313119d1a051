/* Begins requests to other processes, and services, on the bus of a center. */
#include <errno.h>

#include "bus/dbus.h"
#include "calls/calls.h"
#include "calls/names.h"
#include "delivery/hub.h"
#include "util/call.h"

/* Connects. Only the Darwin center, which has the scope of a table, has calls, if it has a bus. */
static int start_calls(dn__hub *hub)
{
        uint64_t deadline_us = 0;

        if (!hub->calls)
                return hub->scope ? -ENOTCONN : -EINVAL;
        return dn__dbus_start(hub->bus, &deadline_us);
}

int dn_call_begin(dn_center *center, const dn_call_plan *plan, const dn_call_handler *handler,
                  const dn_executor *executor, dn_call **ret_call)
{
        DN__CALL();
        char interface[DN__CALL_NAME_BYTES];
        dn__hub *hub;
        int r;

        if (!center || !plan || !handler || !handler->ended ||
            !dn__service_name_is_valid(plan->service) || !dn__kind_split(plan->kind, interface))
                return -EINVAL;
        r = dn__hub_get(center, &hub);
        if (r < 0)
                return r;
        r = start_calls(hub);
        if (r == 0)
                r = dn__calls_begin(hub->calls, plan, handler, executor, ret_call);
        dn__hub_unref(hub);
        return r;
}

static int give_back(const dn_service_handler *handler, int r)
{
        if (handler && handler->destroy)
                handler->destroy(handler->context);
        return r;
}

static int open_service(dn_center *center, const dn_service_plan *plan,
                        const dn_service_handler *handler, const dn_executor *executor,
                        dn_service **ret_service)
{
        dn__hub *hub;
        int r;

        r = dn__hub_get(center, &hub);
        if (r < 0)
                return give_back(handler, r);
        r = start_calls(hub);
        if (r < 0)
                r = give_back(handler, r);
        else
                r = dn__calls_serve(hub->calls, plan, handler, executor, ret_service);
        dn__hub_unref(hub);
        return r;
}

int dn_service_open(dn_center *center, const dn_service_plan *plan,
                    const dn_service_handler *handler, const dn_executor *executor,
                    dn_service **ret_service)
{
        DN__CALL();
        bool is_valid = center && plan && handler && handler->invoke && ret_service &&
                        (plan->options & ~(uint32_t)DN_SERVICE_QUEUE) == 0 &&
                        dn__service_name_is_valid(plan->name);
        dn_service *service = NULL;
        int r;

        r = is_valid ? open_service(center, plan, handler, executor, &service)
                     : give_back(handler, -EINVAL);
        if (service)
                *ret_service = service;
        return r;
}
