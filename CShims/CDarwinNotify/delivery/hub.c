/* The state of a center in one process. */
#include "delivery/hub.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/fork.h"

/* The hubs of this process. */
static _Atomic(dn__per_process *) hubs;

/* --- The list of hubs ----------------------------------------------------------------------- */

static bool try_retain(dn_center *center)
{
        unsigned n = atomic_load_explicit(&center->n_refs, memory_order_relaxed);

        while (n > 0)
                if (atomic_compare_exchange_weak(&center->n_refs, &n, n + 1))
                        return true;
        return false;
}

/* Returns the first hub listed after `id`, with a reference to its center, or NULL. */
static dn__hub *next_hub(uint64_t id)
{
        dn__process_list *list = dn__per_process_find(&hubs);

        if (!list)
                return NULL;
        DN__AUTO_LOCK(&list->lock);
        DN__LIST_EACH(dn__hub, hub, &list->head, link)
                if (hub->id > id && try_retain(hub->center))
                        return hub;
        return NULL;
}

dn__hub *dn__hubs_next(dn__hubs_walk *walk)
{
        dn__hub *hub = next_hub(walk->last_id);

        if (walk->center)
                dn__center_release(walk->center);
        if (hub)
                *walk = (dn__hubs_walk){ hub->id, hub->center };
        return hub;
}

/* A walk continues after the ID of the last hub it has seen, so IDs are given in the order of the
 * list. Only once for each hub: afterwards it may be taken out. */
static void enlist(dn__hub *hub)
{
        static _Atomic uint64_t last_id;
        dn__process_list *list = dn__process_list_get(&hubs);

        if (!list)
                return;
        DN__AUTO_LOCK(&list->lock);
        if (atomic_load(&hub->is_listed))
                return; /* race: only if two threads use the center first, at once */
        hub->id = atomic_fetch_add(&last_id, 1) + 1;
        dn__list_append(&list->head, &hub->link);
        atomic_store(&hub->is_listed, true);
}

static void delist(dn__hub *hub)
{
        dn__process_list *list = dn__per_process_find(&hubs);

        if (!list)
                return;
        DN__AUTO_LOCK(&list->lock);
        dn__list_remove(&hub->link);
}

void dn__hub_free_list(void)
{
        free(dn__per_process_take(&hubs));
}

/* --- Creation and destruction --------------------------------------------------------------- */

/* The input and output of make_hub(). */
typedef struct hub_making {
        dn_center *center;
        int r;
} hub_making;

static dn__per_process *make_hub(void *context)
{
        dn__hub *hub = calloc(1, sizeof(*hub));
        hub_making *making = context;
        dn_center *center = making->center;

        if (!hub)
                return NULL;
        hub->process.fork_id = dn__fork_id();
        hub->center = center;
        hub->own = (dn_sender){ .user = geteuid(), .process = getpid(), .is_own = true };
        hub->absence.carrier.ops = &dn__absence_ops;
        hub->direct = hub->bus = &hub->absence.carrier;
        atomic_init(&hub->n_refs, 1);
        atomic_init(&hub->sweep_us, DN__NEVER);
        dn__lock_init(&hub->lock);
        dn__condition_init(&hub->changed);
        dn__hub_lock(hub);
        dn__list_init(&hub->idle);
        dn__list_init(&hub->ready);
        dn__list_init(&hub->dropped);
        dn__list_init(&hub->prefixes);
        dn__list_init(&hub->suspension.posts);
        dn__hub_unlock(hub);
        making->r = center->ops->open ? center->ops->open(hub) : 0;
        if (making->r == 0)
                return &hub->process;
        hub->center = NULL;
        dn__hub_unref(hub);
        return NULL;
}

/* Another thread was faster. */
static void discard_hub(dn__per_process *made)
{
        dn__hub *hub = DN__CONTAINER(made, dn__hub, process);
        const dn__center_ops *ops = hub->center->ops;

        hub->center = NULL;
        ops->close(hub);
}

int dn__hub_get(dn_center *center, dn__hub **ret_hub)
{
        hub_making making = { center, -ENOMEM };
        dn__per_process *found;
        dn__hub *hub;

        if (!center)
                return -EINVAL;
        found = dn__per_process_find(&center->hub);
        if (!found)
                found = dn__per_process_get(&center->hub, make_hub, discard_hub, &making);
        if (!found)
                return making.r;
        hub = DN__CONTAINER(found, dn__hub, process);
        atomic_fetch_add_explicit(&hub->n_refs, 1, memory_order_relaxed);
        if (!atomic_load(&hub->is_listed))
                enlist(hub);
        *ret_hub = hub;
        return 0;
}

dn__hub *dn__hub_find(dn_center *center)
{
        dn__per_process *found = dn__per_process_find(&center->hub);

        return found ? DN__CONTAINER(found, dn__hub, process) : NULL;
}

void dn__hub_ref(dn__hub *hub)
{
        atomic_fetch_add_explicit(&hub->n_refs, 1, memory_order_relaxed);
}

void dn__hub_detach(dn__hub *hub)
{
        delist(hub);
        atomic_store(&hub->center->hub, hub->process.parents);
        hub->center = NULL;
}

void dn__hub_unref(dn__hub *hub)
{
        dn__executor *executor;

        if (!hub || atomic_fetch_sub_explicit(&hub->n_refs, 1, memory_order_acq_rel) != 1)
                return;
        /* The parent's descriptors are closed in this process and their numbers may be in use
         * again, so an inherited hub is left alone. */
        if (!dn__hub_is_current(hub))
                return;
        (void)dn__region_close(atomic_load(&hub->member.region));
        free(hub->member.scope);
        dn__hub_lock(hub);
        executor = hub->executor;
        dn__map_deinit(&hub->topics);
        free(hub->prefix_counts);
        dn__hub_unlock(hub);
        (void)dn__executor_unref(executor);
        dn__condition_deinit(&hub->changed);
        dn__lock_deinit(&hub->lock);
        free(hub->center);
        free(hub);
}

int dn__hub_use_executor(dn__hub *hub, const dn_executor *value)
{
        return dn__executor_is_delivery_thread(value) ? 0 : dn__carrier_use_own_thread(hub->direct);
}

int dn__hub_make_executor(dn__hub *hub, const dn_executor *value, dn__executor **ret_executor)
{
        int r = dn__hub_use_executor(hub, value);

        if (r < 0)
                return r;
        dn__hub_lock(hub);
        *ret_executor = value ? NULL : dn__executor_ref(hub->executor);
        dn__hub_unlock(hub);
        if (*ret_executor)
                return 0;
        if (hub->center->ops->has_executors)
                return dn__executor_new(value, hub->inline_loop, ret_executor);
        return value ? -EINVAL : 0;
}

/* --- Keeping a center open ------------------------------------------------------------------ */

void dn__center_retain(dn_center *center)
{
        atomic_fetch_add_explicit(&center->n_refs, 1, memory_order_relaxed);
}

void dn__center_release(dn_center *center)
{
        dn__hub *hub;

        if (atomic_fetch_sub_explicit(&center->n_refs, 1, memory_order_acq_rel) != 1)
                return;
        hub = dn__hub_find(center);
        if (hub) {
                delist(hub);
                center->ops->close(hub);
        } else if (!atomic_load(&center->hub)) {
                free(center);
        } /* otherwise its hub belongs to the parent process and is left alone */
}
