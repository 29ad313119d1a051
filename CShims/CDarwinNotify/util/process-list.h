/* A locked list that each process has its own of. */
#pragma once

#include "util/fork.h"
#include "util/list.h"
#include "util/lock.h"

typedef struct dn__process_list {
        dn__per_process process;
        dn__lock lock;
        dn__link head DN__GUARDED_BY(&lock);
} dn__process_list;

/* Returns the list of this process, making it if need be; or NULL: memory cannot be had. */
dn__process_list *dn__process_list_get(_Atomic(dn__per_process *) *place);
