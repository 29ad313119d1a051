/* One queue of posts: what waits by itself, what is merged, and what is dropped. */
#include "delivery/queue.h"

#include <stdlib.h>

#include "delivery/hub.h"
#include "test.h"

static void close_hub(dn__hub *hub)
{
        dn__hub_unref(hub);
}

static const dn__center_ops ops = {.close = close_hub};
static dn_center center = {.ops = &ops};
static dn__hub *hub;
static dn__topic *topic;
static dn__post_queue *queue;

static void begin(void) DN__ACQUIRES(&dn__hub_guard)
{
        dn__name name;

        atomic_init(&center.n_refs, 1);
        CHECK_EQ(dn__hub_get(&center, &hub), 0);
        CHECK_EQ(dn__name_init(&name, "N", DN__REACH_PROCESS), 0);
        topic = dn__topic_acquire(hub, &name);
        dn__hub_lock(hub);
        queue = dn__post_queue_new(topic, NULL);
}

/* The runs that nobody has asked for. */
static void end(void) DN__RELEASES(&dn__hub_guard)
{
        dn__queue_item item;
        uint32_t n_runs;

        while (dn__post_queue_take(queue, &item))
                dn__payload_unref(item.payload);
        if (queue->n_ready)
                dn__list_remove(&queue->ready_link);
        n_runs = queue->n_runs;
        hub->n_runs -= n_runs;
        dn__hub_unlock(hub);
        for (; n_runs > 0; n_runs--)
                dn__post_queue_unref(queue);
        dn__post_queue_unref(queue);
        dn__topic_give_back(topic);
        dn__hub_unref(hub);
}

static uint64_t take_sequence(void) DN__HUB_LOCKED
{
        dn__queue_item item;

        CHECK(dn__post_queue_take(queue, &item));
        CHECK(!item.payload);
        return item.sequence;
}

static dn__payload *make_payload(uint64_t sequence)
{
        dn__post post = {0};
        dn__payload *payload;

        CHECK_EQ(dn__name_init(&post.name, "N", DN__REACH_PROCESS), 0);
        payload = dn__payload_new(&post);
        payload->sequence = sequence;
        return payload;
}

static void add(uint64_t sequence, size_t n_bytes) DN__HUB_LOCKED
{
        dn__payload *payload = make_payload(sequence);

        if (n_bytes)
                payload->n_bytes = n_bytes;
        dn__post_queue_add(queue, payload);
        dn__payload_unref(payload);
}

TEST_NO_BUS(sixteenPostsWaitOneByOneAndTheLastStandsForTheRest)
{
        begin();
        dn__post_queue_count(queue, 10, 20, false);
        CHECK_EQ(queue->n_items, DN__POST_QUEUE_MAX_COUNTED);
        CHECK_EQ(queue->n_runs, DN__POST_QUEUE_MAX_COUNTED);
        dn__post_queue_count(queue, 30, 5, false);
        CHECK_EQ(queue->n_items, DN__POST_QUEUE_MAX_COUNTED);
        for (uint64_t i = 1; i < DN__POST_QUEUE_MAX_COUNTED; i++)
                CHECK_EQ(take_sequence(), 10 + i);
        CHECK_EQ(take_sequence(), 35);
        CHECK_EQ(queue->n_items, 0);
        end();
}

/* Each item has one run, whatever is merged into it. */
TEST_NO_BUS(aRunIsAskedForOnceForEachItem)
{
        begin();
        dn__post_queue_count(queue, 0, 1, false);
        dn__post_queue_count(queue, 1, 1, false);
        CHECK_EQ(queue->n_runs, 2);
        CHECK_EQ(queue->n_ready, 2);
        CHECK_EQ(hub->n_runs, 2);
        CHECK_EQ(take_sequence(), 1);
        CHECK_EQ(take_sequence(), 2);
        dn__post_queue_count(queue, 2, 2, false); /* the runs that were asked for are enough */
        CHECK_EQ(queue->n_runs, 2);
        end();
}

TEST_NO_BUS(itemsKeepTheirOrderWhileTheRingGrows)
{
        begin();
        for (uint64_t sequence = 1; sequence <= 3; sequence++)
                add(sequence, 0);
        for (uint64_t sequence = 1; sequence <= 100; sequence++) {
                dn__queue_item item;

                for (uint64_t i = 0; i < 2; i++)
                        add(2 + 2 * sequence + i, 0);
                CHECK(dn__post_queue_take(queue, &item));
                CHECK_EQ(item.sequence, sequence);
                CHECK_EQ(item.payload->sequence, sequence);
                dn__payload_unref(item.payload);
        }
        CHECK_EQ(queue->n_items, 103);
        end();
}

TEST_NO_BUS(theOldestPayloadsMakeRoomForNewOnes)
{
        dn__queue_item item;

        begin();
        for (uint64_t sequence = 1; sequence <= 4; sequence++)
                add(sequence, DN__POST_QUEUE_MAX_KEPT_BYTES / 4);
        CHECK_EQ(queue->n_items, 4);
        add(5, 1);
        CHECK_EQ(queue->n_items, 4);
        CHECK(dn__post_queue_take(queue, &item));
        CHECK_EQ(item.sequence, 2);
        dn__payload_unref(item.payload);
        add(6, 2 * (size_t)DN__POST_QUEUE_MAX_KEPT_BYTES); /* one is kept, however large */
        CHECK_EQ(queue->n_items, 1);
        end();
}

TEST_NO_BUS(aPayloadLivesAsLongAsAQueueHasIt)
{
        dn__payload *payload;
        dn__queue_item item;

        begin();
        payload = make_payload(1);
        dn__post_queue_add(queue, payload);
        CHECK_EQ(payload->n_refs, 2);
        CHECK_EQ(queue->n_bytes, payload->n_bytes);
        CHECK(dn__post_queue_take(queue, &item));
        CHECK_EQ(queue->n_bytes, 0);
        dn__payload_unref(item.payload);
        CHECK_EQ(payload->n_refs, 1);
        dn__payload_unref(payload);
        end();
}

TEST_NO_BUS(aQueueBelongsToOneExecutor)
{
        begin();
        dn__list_append(&topic->queues, &queue->link);
        CHECK(dn__post_queue_find(topic, NULL) == queue);
        dn__list_remove(&queue->link);
        CHECK(!dn__post_queue_find(topic, NULL));
        end();
}

TEST_MAIN()
