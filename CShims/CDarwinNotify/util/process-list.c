/* A locked list, one per process. */
#include "util/process-list.h"

#include <stdlib.h>

static dn__per_process *make(void *context)
{
        dn__process_list *list = calloc(1, sizeof(*list));

        (void)context;
        if (!list)
                return NULL;
        dn__lock_init(&list->lock);
        dn__list_init(&list->head);
        return &list->process;
}

static void discard(dn__per_process *made)
{
        dn__process_list *list = DN__CONTAINER(made, dn__process_list, process);

        dn__lock_deinit(&list->lock);
        free(list);
}

static dn__process_list *list_of(dn__per_process *found)
{
        return found ? DN__CONTAINER(found, dn__process_list, process) : NULL;
}

dn__process_list *dn__process_list_get(_Atomic(dn__per_process *) *place)
{
        return list_of(dn__per_process_get(place, make, discard, NULL));
}

dn__process_list *dn__process_list_find(_Atomic(dn__per_process *) *place)
{
        return list_of(dn__per_process_find(place));
}

void dn__process_list_free(_Atomic(dn__per_process *) *place)
{
        dn__per_process *found = dn__per_process_take(place);

        if (found)
                discard(found);
}
