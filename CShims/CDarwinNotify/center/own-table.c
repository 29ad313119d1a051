/* Operations of a program that stands in for the system, in the table of its own user. */
#include "center/own-table.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "center/center.h"
#include "center/table.h"
#include "delivery/topic.h"
#include "util/gate.h"

/* The file is the user's if the process has mapped it; the user may have changed since. */
static int check_owner(dn__hub *hub)
{
        const dn__region *region;

        dn__table_look_if_due(hub, false);
        region = atomic_load(&hub->member.region);
        if (!region)
                return -ENOENT;
        return region->file.status.st_uid == geteuid() ? 0 : -EACCES;
}

static int set_state(dn__hub *hub, const dn__name *name, uint64_t state)
{
        DN__HUB_AUTO_LOCK(hub);
        dn__topic *topic = dn__topic_find(hub, name);

        if (!topic || !topic->counter)
                return -ENOENT;
        dn__counter_set_state(topic->counter, state);
        return 0;
}

/* Processes that have moved do not see a state that is set in a stale table. */
static int set_state_everywhere(dn__hub *hub, const dn__name *name, uint64_t state)
{
        const dn__region *region = atomic_load(&hub->member.region);
        int r = set_state(hub, name, state);

        if (r < 0 || !dn__region_is_stale(region))
                return r;
        dn__table_look(hub, false);
        return set_state(hub, name, state);
}

int dn__table_publish(const char *name, const uint64_t *state, bool is_posted)
{
        DN__GATE();
        dn__post post = { .origin.is_own = true };
        dn__hub *hub DN__UNREFS_HUB = NULL;
        int r = dn__name_init(&post.name, name, DN__REACH_BEYOND);

        if (r == 0 && post.name.reach == DN__REACH_PROCESS)
                r = -EINVAL;
        if (r == 0)
                r = dn__hub_get(dn_center_darwin(), &hub);
        if (r == 0)
                r = check_owner(hub);
        if (r == 0 && state)
                r = set_state_everywhere(hub, &post.name, *state);
        if (r == 0 && is_posted)
                dn__darwin_post_in_table(hub, &post);
        return r;
}

/* Returns 1, or 0 without a slot. Unless this process holds the name, it may pass to another one
 * meanwhile. */
static int read_slot(const dn__region *region, const dn__name *name, dn__table_count *ret_count)
{
        const dn__shm_slot *slot = dn__slot_find(region, name);
        dn__table_count count;

        if (!slot)
                return 0;
        count = (dn__table_count){
                .region = region->id,
                .slot = (uint64_t)(slot - region->table->slots),
                .named = atomic_load(&slot->named),
                .generation = dn__slot_get_generation(slot),
        };
        if (dn__slot_find(region, name) != slot || atomic_load(&slot->named) != count.named)
                return 0; /* race: only if the slot is renamed while it is read */
        *ret_count = count;
        return 1;
}

int dn__table_read_count(const char *name, dn__table_count *ret_count)
{
        DN__GATE();
        dn__hub *hub DN__UNREFS_HUB = NULL;
        dn__name checked;
        int r = dn__name_init(&checked, name, DN__REACH_BEYOND);

        if (r == 0 && checked.reach == DN__REACH_PROCESS)
                r = -EINVAL;
        if (r == 0)
                r = dn__hub_get(dn_center_darwin(), &hub);
        if (r == 0)
                r = check_owner(hub);
        return r < 0 ? r : read_slot(atomic_load(&hub->member.region), &checked, ret_count);
}

int dn__table_copy_path(char ret_path[PATH_MAX])
{
        DN__GATE();
        const dn__region *region;
        dn__hub *hub DN__UNREFS_HUB = NULL;
        int r = dn__hub_get(dn_center_darwin(), &hub);

        if (r < 0)
                return r;
        dn__table_look_if_due(hub, false);
        region = atomic_load(&hub->member.region);
        if (!region)
                return -ENOENT;
        (void)snprintf(ret_path, PATH_MAX, "%s", region->file.path);
        return 0;
}
