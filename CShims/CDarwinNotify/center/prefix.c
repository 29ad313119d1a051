/* Notifies observers of a prefix of the names that the table counts. */
#include "center/prefix.h"

#include <string.h>

#include "center/dispatch.h"
#include "center/topic.h"
#include "shm/census.h"
#include "util/hash.h"

/* Returns the table's count, or 0 if it no longer knows the name. */
static uint64_t count_posts(const dn__hub *hub, const dn__name *name)
{
        dn__shm_slot *slot =
                dn__slot_find(hub->region, name->hash, name->text, name->n_bytes);

        return slot ? dn__slot_get_generation(slot) : 0;
}

/* --- From where on -------------------------------------------------------------------------- */

/* Without observers, the remembered generations become outdated. */
static void forget_if_unused(dn__hub *hub) DN__HUB_LOCKED
{
        for (dn__link *link = hub->prefixes.next; link != &hub->prefixes; link = link->next)
                if (!dn__list_is_empty(&DN__CONTAINER(link, dn__topic, prefix_link)->inboxes))
                        return;
        dn__recent_clear(&hub->told);
}

static void note(dn__hub *hub, const dn__census_name *counted) DN__HUB_LOCKED
{
        uint64_t *told = dn__recent_use(&hub->told, counted->name, strlen(counted->name));

        if (told && !*told)
                *told = counted->generation;
}

void dn__prefix_begin(dn__hub *hub, const dn__name *prefix)
{
        dn__census census = { 0 };

        if (!hub->region)
                return;
        /* If out of memory, the first post of each name sets its generation. */
        (void)dn__census_take(hub->region, &census);
        dn__hub_lock(hub);
        forget_if_unused(hub);
        for (size_t i = 0; i < census.n_names; i++)
                if (strncmp(census.names[i].name, prefix->text, prefix->n_bytes) == 0)
                        note(hub, &census.names[i]);
        dn__hub_unlock(hub);
        dn__census_deinit(&census);
}

/* --- How many ------------------------------------------------------------------------------- */

/* Returns how many posts up to a generation have not been passed on, and records that generation.
 * Neither the table nor a signal can be trusted: a signal reports no more posts than were counted,
 * and a count that has decreased stands for one post. */
static uint64_t advance(dn__hub *hub, const dn__name *name, uint64_t generation) DN__HUB_LOCKED
{
        uint64_t *told = dn__recent_use(&hub->told, name->text, name->n_bytes);
        uint64_t counted = count_posts(hub, name), n_posts;

        if (!told)
                return 1;
        if (counted && generation > counted)
                generation = counted;
        if (counted && counted < *told)
                *told = generation - 1;
        if (generation <= *told)
                return 0;
        n_posts = *told && counted ? generation - *told : 1;
        *told = generation;
        return n_posts < UINT32_MAX ? n_posts : UINT32_MAX;
}

static void hand(dn__hub *hub, const dn__post *post, uint64_t n_posts, dn__crowd *works)
        DN__HUB_LOCKED
{
        dn__post one = *post;

        if (n_posts == 0)
                return;
        one.body = (dn__body){ .n_more = n_posts - 1 };
        dn__dispatch_post(hub, &one, works);
}

void dn__prefix_hand(dn__hub *hub, const dn__post *post, dn__crowd *works)
{
        if (dn__list_is_empty(&hub->prefixes))
                return;
        if (post->generation && dn__region_was_once(hub->region, post->region))
                hand(hub, post, advance(hub, &post->name, post->generation), works);
        else
                hand(hub, post, 1, works);
}

/* --- What was missed ------------------------------------------------------------------------ */

typedef struct search {
        dn__hub *hub;
        dn__crowd *works;
} search;

static void look(const void *key, size_t n_key_bytes, uint64_t *told, void *context)
        DN__HUB_LOCKED
{
        search *search = context;
        char text[DN_NAME_MAX_BYTES + 1];
        dn__post post = { 0 };
        uint64_t counted;

        memcpy(text, key, n_key_bytes);
        text[n_key_bytes] = '\0';
        if (!*told || dn__name_init(&post.name, text, DN__REACH_BEYOND) < 0)
                return;
        counted = count_posts(search->hub, &post.name);
        if (counted <= *told)
                return;
        hand(search->hub, &post, counted - *told, search->works);
        *told = counted;
}

void dn__prefix_missed(dn__hub *hub, dn__crowd *works)
{
        search search = { hub, works };

        if (hub->region && !dn__list_is_empty(&hub->prefixes))
                dn__recent_walk(&hub->told, look, &search);
}
