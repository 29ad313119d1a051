/* A locked list, one per process. */
#pragma once

#include "util/fork.h"
#include "util/list.h"
#include "util/lock.h"

typedef struct dn__process_list {
        dn__per_process process;
        dn__lock lock;
        dn__link head DN__GUARDED_BY(&lock);
} dn__process_list;

/* Returns this process's list, creating it if needed; NULL if out of memory. */
dn__process_list *dn__process_list_get(_Atomic(dn__per_process *) *place);

/* Returns this process's list, or NULL. */
dn__process_list *dn__process_list_find(_Atomic(dn__per_process *) *place);

/* Frees this process's list, which is empty. */
void dn__process_list_free(_Atomic(dn__per_process *) *place);
