/* Tells observers when the bus is found and lost.
 *
 * They are observers of a name that nobody can post. A call by itself says nothing about the bus:
 * an observer compares how many changes it has reported with how many there were; the parity of
 * that number is the state of the bus. So it reports each change once, in order, from its first
 * call on. */
#include "center/news.h"

#include <errno.h>
#include <stdlib.h>

#include "center/delivery.h"
#include "center/fanout.h"
#include "center/observe.h"
#include "util/call.h"

typedef struct news {
        dn__hub *hub; /* borrowed: it outlives its observers */
        dn_bus_handler handler;
        uint64_t n_told; /* changes, the first being the first connection */
        bool is_begun;
} news;

void dn__news_bus_changed(void *context)
{
        dn__hub *hub = context;
        dn__batch batch = { 0 };
        dn__topic *topic;

        dn__hub_lock(hub);
        topic = dn__topic_find(hub, &dn__name_bus);
        if (topic)
                (void)dn__fanout_uncounted(topic, &batch);
        dn__hub_unlock(hub);
        dn__batch_run(&batch);
}

static uint64_t count_changes(dn__hub *hub)
{
        dn__carrier_counts counts = dn__carriers_get_counts(hub);

        return counts.n_connects + counts.n_losses;
}

static void tell_news(const dn_event *event, void *context)
{
        news *news = context;
        uint64_t n_changes = count_changes(news->hub), n_new = n_changes - news->n_told;

        if (news->is_begun && n_new == 0)
                return;
        if (!news->is_begun)
                news->n_told = n_changes;
        else
                news->n_told += event->n_posts < n_new ? event->n_posts : n_new;
        news->is_begun = true;
        news->handler.invoke(event->center, news->n_told % 2, news->handler.context);
}

static void destroy_news(void *context)
{
        news *news = context;

        if (news->handler.destroy)
                news->handler.destroy(news->handler.context);
        free(news);
}

/* Consumes the news, also on failure. Other observers see that nothing has changed. The news and
 * its observer may be gone before this returns. */
static int observe_news(dn__hub *hub, news *news, const dn_executor *executor,
                        dn_observer **ret_observer)
{
        dn__observer_spec spec = { .handler = { tell_news, news, destroy_news } };
        int r;

        r = dn__hub_make_executor(hub, executor, &spec.executor);
        if (r < 0) {
                dn__handler_destroy(spec.handler);
                return r;
        }
        r = dn__observe_name(hub, &dn__name_bus, &spec, ret_observer);
        if (r == 0)
                dn__news_bus_changed(hub);
        return r;
}

static int open_news(dn_center *center, dn_bus_handler handler, news **ret_news)
{
        uint64_t deadline_us = 0;
        news *news;
        int r;

        if (!center || !center->ops->has_executors || !handler.invoke)
                return -EINVAL;
        news = calloc(1, sizeof(*news));
        if (!news)
                return -ENOMEM;
        news->handler = handler;
        news->hub = dn__hub_get(center);
        r = news->hub ? dn__carriers_start(news->hub, &deadline_us) : -ENOMEM;
        if (r == 0) {
                *ret_news = news;
                return 0;
        }
        if (news->hub)
                dn__hub_unref(news->hub);
        free(news);
        return r;
}

int dn_center_observe_bus(dn_center *center, dn_bus_handler handler, const dn_executor *executor,
                          dn_observer **ret_observer)
{
        DN__CALL();
        news *news = NULL;
        dn__hub *hub;
        int r;

        r = open_news(center, handler, &news);
        if (r < 0) {
                if (handler.destroy)
                        handler.destroy(handler.context);
                return r;
        }
        hub = news->hub; /* with our reference; the news may be gone before the call returns */
        r = observe_news(hub, news, executor, ret_observer);
        dn__hub_unref(hub);
        return r;
}
