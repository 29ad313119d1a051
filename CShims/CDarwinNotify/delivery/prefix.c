/* Notifies observers of a prefix of every name that the table counts.
 *
 * They have no slots. Their process follows the table instead: posters mark every name for it
 * (direct/ring.h). Posts of names that nobody holds, and posts of other programs, are not counted:
 * they arrive only as signals. The signal of a post that the table counts finds nothing new,
 * because its mark came first. */
#include "delivery/prefix.h"

#include <errno.h>
#include <stdlib.h>

#include "delivery/delivery.h"
#include "delivery/payloads.h"
#include "direct/ring.h"
#include "util/hash.h"

/* --- Following a table ---------------------------------------------------------------------- */

/* Posts counted earlier are old, and later ones are marked. */
static dn__prefix_counts *follow(dn__region *region)
{
        dn__prefix_counts *counts = calloc(1, sizeof(*counts));

        if (!counts)
                return NULL;
        counts->region = region;
        dn__ring_follow(region);
        for (size_t i = 0; (i = dn__shm_next_named(region->table, i)) < DN__SHM_N_SLOTS; i++)
                counts->given[i] = dn__slot_get_generation(&region->table->slots[i]);
        return counts;
}

/* Gives the counts to the hub, unless it has some, has moved or needs none; then frees them. */
static int use(dn__hub *hub, dn__prefix_counts *counts) DN__HUB_LOCKED
{
        bool is_here = counts->region == atomic_load(&hub->member.region);

        if (is_here && !hub->prefix_counts && !dn__list_is_empty(&hub->prefixes)) {
                /* Again: the last prefix may have been dropped since, and another added. */
                dn__ring_follow(counts->region);
                hub->prefix_counts = counts;
                DN__LIST_EACH(dn__topic, topic, &hub->prefixes, prefix_link)
                        dn__carrier_set_counted(hub->bus, topic->subscription, true);
                return 1;
        }
        if (is_here && !hub->prefix_counts)
                dn__ring_unfollow(counts->region);
        free(counts);
        return 0;
}

int dn__prefix_begin(dn__hub *hub)
{
        dn__region *region = atomic_load(&hub->member.region);
        dn__prefix_counts *counts;

        if (!dn__region_has_entry(region) || atomic_load(&hub->n_prefixes) == 0)
                return 0;
        dn__hub_lock(hub);
        counts = hub->prefix_counts;
        dn__hub_unlock(hub);
        if (counts)
                return 0;
        counts = follow(region);
        if (!counts)
                return -ENOMEM;
        DN__HUB_AUTO_LOCK(hub);
        return use(hub, counts);
}

/* --- How many ------------------------------------------------------------------------------- */

/* Returns how many posts of a name have been counted since the last time, or -1 if its slot has
 * passed to another one. A slot counts on when it does: what came before belongs to others. A count
 * that has decreased was tampered with, and stands for one post. */
static int64_t advance(dn__prefix_counts *counts, const dn__shm_slot *slot, const dn__name *name)
        DN__HUB_LOCKED
{
        const dn__shm_table *table = counts->region->table;
        size_t index = (size_t)(slot - table->slots);
        uint64_t named = atomic_load(&slot->named), counted = dn__slot_get_generation(slot);
        uint64_t *given = &counts->given[index], n_posts;

        if (atomic_load(&table->tags[index]) != dn__hash_to_tag(name->hash))
                return -1; /* race: only if the slot is renamed since it was found */
        if (*given < named && named <= counted)
                *given = named;
        n_posts = counted < *given ? 1 : counted - *given;
        *given = counted;
        return n_posts < UINT32_MAX ? (int64_t)n_posts : UINT32_MAX;
}

/* Returns how many posts of the name are new to the observers of prefixes. Our own posts are
 * delivered when they are made, so their signals are not counted. A post that the direct carrier
 * receives is counted in the table, or not at all.
 *
 * Sets `ret_has_origin` if the last new post is `post` itself. Among counted posts this holds only
 * for a post of this process, unless another thread has already delivered it together with a later
 * one. */
static uint64_t count_new(dn__hub *hub, const dn__post *post, bool *ret_has_origin) DN__HUB_LOCKED
{
        dn__prefix_counts *counts = hub->prefix_counts;
        bool is_counted = counts && post->generation && post->region_id == counts->region->id;
        const dn__shm_slot *slot = is_counted ? dn__slot_find(counts->region, &post->name) : NULL;
        int64_t n_posts = slot ? advance(counts, slot, &post->name) : -1;
        bool is_signal = post->origin.sender;

        *ret_has_origin = n_posts < 0 ||
                          (!is_signal && counts->given[slot - counts->region->table->slots] ==
                                                 post->generation);
        return n_posts >= 0 ? (uint64_t)n_posts : is_signal != post->origin.is_own;
}

/* --- Delivering ----------------------------------------------------------------------------- */

static void hand(dn__hub *hub, const dn__post *post, dn__payload *payload, uint64_t n_posts)
        DN__HUB_LOCKED
{
        dn__post one = *post;

        if (n_posts == 0)
                return;
        one.body = (dn__body){ .n_more = n_posts - 1 };
        if (payload)
                payload->n_posts = payload->n_equal = n_posts;
        dn__payloads_hand(hub, &one, payload);
}

uint64_t dn__prefix_hand(dn__hub *hub, const dn__post *post, dn__payload *payload)
{
        uint64_t n_posts;
        bool has_origin;

        if (dn__list_is_empty(&hub->prefixes))
                return 0;
        n_posts = count_new(hub, post, &has_origin);
        if (payload && !has_origin)
                payload->post.origin = (dn__origin){ 0 };
        hand(hub, post, payload, n_posts);
        return n_posts;
}

/* Delivers what a table has counted of the name of a slot. */
static void hand_slot(dn__hub *hub, const dn__region *region, size_t index, int64_t at_least)
        DN__HUB_LOCKED
{
        dn__prefix_counts *counts = hub->prefix_counts;
        const dn__shm_slot *slot = &region->table->slots[index];
        char text[DN__SLOT_NAME_BYTES];
        dn__payload *payload;
        dn__post post = { 0 };
        int64_t n_posts = 0;
        dn__name found;

        if (!counts || !dn__slot_read_name(region, index, text, &found))
                return;
        if (counts->region == region)
                n_posts = advance(counts, slot, &found);
        else if (dn__slot_find(counts->region, &found))
                return;
        n_posts = n_posts < at_least ? at_least : n_posts;
        if (n_posts <= 0 || dn__name_init(&post.name, text, DN__REACH_BEYOND) < 0)
                return;
        payload = dn__payload_new(&post);
        hand(hub, &post, payload, (uint64_t)n_posts);
        dn__payload_unref(payload);
}

/* One lock for each name: there may be thousands. */
static void hand_slots(dn__hub *hub, const dn__region *region, int64_t at_least)
{
        for (size_t i = 0; (i = dn__shm_next_named(region->table, i)) < DN__SHM_N_SLOTS; i++) {
                dn__hub_lock(hub);
                hand_slot(hub, region, i, at_least);
                dn__hub_unlock_and_run(hub);
        }
}

void dn__prefix_missed(dn__hub *hub)
{
        const dn__region *region = atomic_load(&hub->member.region);

        if (region && atomic_load(&hub->n_prefixes) > 0)
                hand_slots(hub, region, 0);
}

/* Reads the table in use last, because a holder may be moving to it. A name that is already there
 * when a stale table is read is skipped, and delivered with the table in use. */
void dn__prefix_hand_all(dn__hub *hub)
{
        const dn__region *region = atomic_load(&hub->member.region);
        const dn__region *left = region ? region->previous : NULL;

        if (!region || atomic_load(&hub->n_prefixes) == 0)
                return;
        for (; left; left = left->previous)
                hand_slots(hub, left, 1);
        hand_slots(hub, region, 1);
}
