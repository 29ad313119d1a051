/* A copy of the names in use on a bus. */
#pragma once

#include <darwinnotify/inspect.h>
#include <stdio.h>
#include <stdlib.h>

#include "shm.h"

#define NOWHERE "unix:path=/nonexistent/bus" /* a table needs only an address */
#define MAX_NAMES 64

typedef struct listing {
        struct listed {
                char name[DN_NAME_MAX_BYTES + 1];
                uint64_t generation;
                uint64_t state;
                size_t n_holders;
                int32_t pids[16];
        } names[MAX_NAMES];
        size_t n_names;
        size_t n_most; /* 0: no limit */
} listing;

static inline int on_name(const dn_name_record *record, void *context)
{
        listing *self = context;
        struct listed *copy = &self->names[self->n_names++];

        CHECK(self->n_names <= MAX_NAMES && record->n_holders >= 1 && record->n_holders <= 16);
        snprintf(copy->name, sizeof copy->name, "%s", record->name);
        copy->generation = record->generation;
        copy->state = record->state;
        copy->n_holders = record->n_holders;
        memcpy(copy->pids, record->pids, record->n_holders * sizeof(int32_t));
        return self->n_names == self->n_most ? 3 : 0;
}

static inline int compare_names(const void *a, const void *b)
{
        return strcmp(((const struct listed *)a)->name, ((const struct listed *)b)->name);
}

/* In byte order. */
static inline listing *list_now(const char *bus)
{
        static listing list;

        memset(&list, 0, sizeof list);
        CHECK_EQ(dn_list_names(bus, on_name, &list), 0);
        qsort(list.names, list.n_names, sizeof list.names[0], compare_names);
        return &list;
}
