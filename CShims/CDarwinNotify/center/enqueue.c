/* Runs work of the host where a center's inline callbacks run. */
#include <errno.h>
#include <stdlib.h>

#include "delivery/hub.h"
#include "util/cleanup.h"
#include "util/fork.h"
#include "util/gate.h"
#include "util/host.h"

/* Counts as work in progress from when it is enqueued. */
typedef struct enqueued {
        dn_work_fn work;
        void *argument;
        uint64_t fork_id; /* of the process that counts it */
} enqueued;

static void count_no_more(const enqueued *enqueued)
{
        /* The work itself may have forked. */
        if (enqueued->fork_id == dn__fork_id())
                dn__gate_keep_no_more(DN__GATE_WORK);
}

static void run(void *argument)
{
        enqueued *enqueued DN__FREES = argument;

        (void)dn__host_handle(enqueued->work, enqueued->argument);
        count_no_more(enqueued);
}

static int enqueue(dn_center *center, dn_work_fn work, void *argument)
{
        dn__hub *hub DN__UNREFS_HUB = NULL;
        enqueued *enqueued DN__FREES = NULL;
        int r = dn__hub_get(center, &hub);

        if (r == 0)
                r = dn__carrier_use_own_thread(hub->direct);
        if (r < 0)
                return r;
        enqueued = malloc(sizeof(*enqueued));
        if (!enqueued)
                return -ENOMEM;
        *enqueued = (struct enqueued){ work, argument, dn__fork_id() };
        dn__gate_keep(DN__GATE_WORK);
        r = dn__loop_enqueue(hub->inline_loop, run, enqueued);
        if (r < 0)
                count_no_more(enqueued);
        else
                (void)DN__TAKE(enqueued);
        return r;
}

int dn_center_enqueue(dn_center *center, dn_work_fn work, void *argument)
{
        DN__GATE();

        if (!center || !work || !center->ops->has_executors)
                return -EINVAL;
        return enqueue(center, work, argument);
}
