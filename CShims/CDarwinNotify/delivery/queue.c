/* The posts that wait for the observers of one name on one executor. */
#include "delivery/queue.h"

#include <assert.h>
#include <stdlib.h>

#include "post/dict.h"
#include "util/cleanup.h"
#include "util/probe.h"

/* Enough where every post is delivered before the next one. */
#define N_FIRST_SLOTS 2

/* --- Payloads ------------------------------------------------------------------------------- */

dn__payload dn__payload_of(const dn__post *post, uint64_t sequence)
{
        return (dn__payload){
                .sequence = sequence,
                .n_posts = 1 + post->body.n_more,
                .n_equal = 1 + post->body.n_more,
                .n_lost = post->body.n_lost,
                .post = *post,
        };
}

dn__payload *dn__payload_new(const dn__post *post)
{
        size_t n_bytes = sizeof(dn__payload) + dn__post_count_bytes(post);
        dn__payload *payload = malloc(n_bytes);

        if (!payload)
                return NULL;
        *payload = dn__payload_of(post, 0);
        atomic_init(&payload->n_refs, 1);
        payload->n_bytes = n_bytes + dn__dict_get_bytes(post->body.user_info);
        payload->post = dn__post_copy(post, payload->bytes);
        return payload;
}

dn__payload *dn__payload_ref(dn__payload *payload)
{
        if (payload)
                atomic_fetch_add_explicit(&payload->n_refs, 1, memory_order_relaxed);
        return payload;
}

/* Returns whether it was the last reference. */
static bool release(dn__payload *payload)
{
        return atomic_fetch_sub_explicit(&payload->n_refs, 1, memory_order_acq_rel) == 1;
}

static void payload_free(dn__payload *payload)
{
        dn__post_release(&payload->post);
        free(payload);
}

void dn__payload_unref(dn__payload *payload)
{
        if (payload && release(payload))
                payload_free(payload);
}

void dn__payload_drop(dn__hub *hub, dn__payload *payload)
{
        if (release(payload))
                dn__list_append(&hub->dropped, &payload->link);
}

void dn__payloads_free(dn__link *dropped)
{
        while (!dn__list_is_empty(dropped)) {
                dn__payload *payload = DN__CONTAINER(dropped->next, dn__payload, link);

                dn__list_remove(&payload->link);
                payload_free(payload);
        }
}

/* --- Creation ------------------------------------------------------------------------------- */

dn__post_queue *dn__post_queue_new(dn__topic *topic, dn__executor *executor)
{
        dn__post_queue *queue DN__FREES = calloc(1, sizeof(*queue));

        if (!queue)
                return NULL;
        /* Made now, so that a post never has to be dropped for want of memory. */
        queue->items = malloc(N_FIRST_SLOTS * sizeof(*queue->items));
        if (!queue->items)
                return NULL;
        queue->n_slots = N_FIRST_SLOTS;
        atomic_init(&queue->n_refs, 1);
        queue->topic = topic;
        queue->executor = dn__executor_ref(executor);
        dn__list_init(&queue->observers);
        dn__topic_ref(topic);
        return DN__TAKE(queue);
}

dn__post_queue *dn__post_queue_ref(dn__post_queue *queue)
{
        if (queue)
                atomic_fetch_add_explicit(&queue->n_refs, 1, memory_order_relaxed);
        return queue;
}

void dn__post_queue_unref(dn__post_queue *queue) DN__TSA(no_thread_safety_analysis)
{
        if (!queue ||
            atomic_fetch_sub_explicit(&queue->n_refs, 1, memory_order_acq_rel) != 1)
                return;
        assert(queue->n_items == 0); /* each has a run, which keeps the queue alive */
        free(queue->items);
        (void)dn__executor_unref(queue->executor);
        dn__topic_unref(queue->topic);
        free(queue);
}

dn__post_queue *dn__post_queue_find(const dn__topic *topic, const dn__executor *executor)
{
        DN__LIST_EACH(dn__post_queue, queue, &topic->queues, link)
                if (dn__executor_is_same(queue->executor, executor))
                        return queue;
        return NULL;
}

/* --- Items -------------------------------------------------------------------------------- */

static dn__queue_item *item_at(const dn__post_queue *queue, uint32_t i) DN__HUB_LOCKED
{
        return &queue->items[(queue->first + i) & (queue->n_slots - 1)];
}

bool dn__post_queue_take(dn__post_queue *queue, dn__queue_item *ret_item)
{
        if (!queue->n_items)
                return false;
        *ret_item = *item_at(queue, 0);
        queue->first++;
        queue->n_items--;
        if (ret_item->payload)
                queue->n_bytes -= ret_item->payload->n_bytes;
        return true;
}

static bool grow(dn__post_queue *queue) DN__HUB_LOCKED
{
        dn__queue_item *items = malloc(2 * (size_t)queue->n_slots * sizeof(*items));

        if (!items)
                return false;
        for (uint32_t i = 0; i < queue->n_items; i++)
                items[i] = *item_at(queue, i);
        free(queue->items);
        queue->items = items;
        queue->first = 0;
        queue->n_slots *= 2;
        return true;
}

static bool append(dn__post_queue *queue, dn__queue_item item) DN__HUB_LOCKED
{
        if (queue->n_items == queue->n_slots && !grow(queue))
                return false;
        *item_at(queue, queue->n_items++) = item;
        return true;
}

/* Each item needs a run; the last one may have been merged into. */
static void need_runs(dn__post_queue *queue) DN__HUB_LOCKED
{
        dn__hub *hub = queue->topic->hub;
        uint32_t n_covered = queue->n_runs + queue->n_begun;
        uint32_t n_runs = queue->n_items - n_covered;

        if (queue->n_items <= n_covered)
                return;
        if (queue->n_ready == 0)
                dn__list_append(&hub->ready, &queue->ready_link);
        queue->n_ready += n_runs;
        queue->n_runs += n_runs;
        hub->n_runs += n_runs;
        atomic_fetch_add_explicit(&queue->n_refs, n_runs, memory_order_relaxed);
        atomic_fetch_add_explicit(&hub->center->n_refs, n_runs, memory_order_relaxed);
}

/* Posts that cannot wait individually are merged into the last item. */
void dn__post_queue_count(dn__post_queue *queue, uint64_t before, uint64_t n_posts, bool is_own)
{
        const uint64_t last = before + n_posts;
        dn__queue_item *merged;

        while (before < last && queue->n_items < DN__POST_QUEUE_MAX_COUNTED &&
               append(queue, (dn__queue_item){ .sequence = before + 1,
                                               .is_own = is_own && before + 1 == last }))
                before++;
        if (before < last) {
                merged = item_at(queue, queue->n_items - 1);
                merged->sequence = last;
                merged->is_own = is_own;
                DN__PROBE(merged, queue->topic->name.text, last - before);
        }
        need_runs(queue);
}

/* --- Posts without a payload ---------------------------------------------------------------- */

/* More posts than can occur between two checks of the table: a count that jumps further was
 * tampered with and must not wrap the sequence. */
#define MAX_POSTS UINT32_MAX

static void push(dn__topic *topic, uint64_t n_posts, bool is_own) DN__HUB_LOCKED
{
        DN__LIST_EACH(dn__post_queue, queue, &topic->queues, link)
                dn__post_queue_count(queue, topic->sequence, n_posts, is_own);
        topic->sequence += n_posts;
}

uint64_t dn__topic_hand_one(dn__topic *topic, bool is_own)
{
        if (topic->counter)
                atomic_fetch_add(&topic->counter->n_uncounted, 1);
        push(topic, 1, is_own);
        return 1;
}

uint64_t dn__topic_hand_counted(dn__topic *topic, uint64_t generation, bool is_own)
{
        uint64_t counted, n_posts;

        assert(topic->slot);
        counted = dn__slot_get_generation(topic->slot);
        /* Neither the number in a signal nor the one in shared memory can be trusted: a signal
         * never reports more posts than were counted, and a count never decreases. */
        if (counted < topic->generation)
                topic->generation = counted ? counted - 1 : 0;
        if (generation > counted)
                generation = counted;
        if (generation <= topic->generation)
                return 0;
        n_posts = generation - topic->generation;
        push(topic, n_posts < MAX_POSTS ? n_posts : MAX_POSTS, is_own);
        topic->generation = generation;
        return n_posts;
}

void dn__topic_hand_missed(dn__topic *topic)
{
        if (topic->slot)
                (void)dn__topic_hand_counted(topic, DN__POST_ALL_COUNTED, false);
}

/* --- Posts with a payload ------------------------------------------------------------------- */

void dn__post_queue_miss(dn__post_queue *queue, const dn__payload *payload)
{
        DN__LIST_EACH(dn_observer, observer, &queue->observers, link)
                if (observer->seen < payload->sequence)
                        observer->n_dropped += payload->n_lost +
                                               dn__observer_count_posts(observer, payload);
}

/* One payload is kept, however large. */
static void make_room(dn__post_queue *queue, size_t n_bytes) DN__HUB_LOCKED
{
        dn__queue_item oldest;

        while ((queue->n_items >= DN__POST_QUEUE_MAX_KEPT ||
                queue->n_bytes + n_bytes > DN__POST_QUEUE_MAX_KEPT_BYTES) &&
               dn__post_queue_take(queue, &oldest)) {
                dn__post_queue_miss(queue, oldest.payload);
                dn__payload_drop(queue->topic->hub, oldest.payload);
        }
}

bool dn__post_queue_add(dn__post_queue *queue, dn__payload *payload)
{
        dn__queue_item item = { .sequence = payload->sequence, .payload = payload };
        bool is_added;

        make_room(queue, payload->n_bytes);
        is_added = append(queue, item);
        if (is_added) {
                queue->n_bytes += payload->n_bytes;
                (void)dn__payload_ref(payload);
        } else {
                dn__post_queue_miss(queue, payload);
        }
        need_runs(queue);
        return is_added;
}
