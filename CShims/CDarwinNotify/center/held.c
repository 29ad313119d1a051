/* Delivers what was held while a center was suspended, in the order of the posts. */
#include "center/held.h"

#include <stdlib.h>

#include "center/topic.h"
#include "center/works.h"

/* A held item and its position in the delivery order. */
typedef struct held {
        uint64_t arrival;
        dn_observer *observer;
} held;

typedef struct held_list {
        held *items; /* NULL: count only */
        size_t n_items;
} held_list;

static int compare_held(const void *left, const void *right)
{
        const held *a = left, *b = right;

        if (a->arrival != b->arrival)
                return a->arrival < b->arrival ? -1 : 1;
        return dn__observer_compare(&a->observer, &b->observer);
}

static void list_observer(held_list *list, dn_observer *observer) DN__HUB_LOCKED
{
        dn__backlog *backlog = observer->backlog;

        if (!backlog || observer->is_cancelled)
                return;
        for (dn__link *link = backlog->first_held; link != &backlog->items; link = link->next) {
                if (list->items)
                        list->items[list->n_items] =
                                (held){ DN__CONTAINER(link, dn__backlog_item, link)->arrival,
                                        observer };
                list->n_items++;
        }
}

static void list_inbox(held_list *list, dn__inbox *inbox) DN__HUB_LOCKED
{
        for (dn__link *link = inbox->observers.next; link != &inbox->observers; link = link->next)
                list_observer(list, DN__CONTAINER(link, dn_observer, link));
}

static void list_hub(held_list *list, dn__hub *hub) DN__HUB_LOCKED
{
        for (dn__map_entry *entry = dn__map_next(&hub->topics, NULL); entry;
             entry = dn__map_next(&hub->topics, entry)) {
                dn__topic *topic = DN__CONTAINER(entry, dn__topic, entry);

                for (dn__link *link = topic->inboxes.next; link != &topic->inboxes;
                     link = link->next)
                        list_inbox(list, DN__CONTAINER(link, dn__inbox, link));
        }
}

void dn__held_deliver(dn__hub *hub, dn__crowd *works)
{
        held_list list = { 0 };
        size_t n_held;

        list_hub(&list, hub);
        n_held = list.n_items;
        if (n_held == 0)
                return;
        list = (held_list){ .items = malloc(n_held * sizeof(held)) };
        if (!list.items)
                return; /* they stay held until memory is available */
        list_hub(&list, hub);
        qsort(list.items, n_held, sizeof(held), compare_held);
        for (size_t i = 0; i < n_held; i++) {
                dn_observer *observer = list.items[i].observer;

                dn__backlog_release(observer->backlog);
                dn__works_add(works, observer);
        }
        free(list.items);
}
