/* Who observes which name, for peers whose library does not know. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define N_BUCKETS 16384

typedef struct observer {
        bench_heard heard;
        void *context;
        struct observer *next;
} observer;

typedef struct entry {
        char *name;
        observer *observers;
        struct entry *next;
} entry;

static entry *buckets[N_BUCKETS];

static entry **find(const char *name)
{
        uint64_t hash = 1469598103934665603u; /* FNV-1a */

        for (const char *p = name; *p; p++)
                hash = (hash ^ (uint8_t)*p) * 1099511628211u;
        entry **e = &buckets[hash % N_BUCKETS];
        while (*e && strcmp((*e)->name, name) != 0)
                e = &(*e)->next;
        return e;
}

int bench_table_add(const char *name, bench_heard heard, void *context)
{
        entry **e = find(name);
        int is_new = !*e;
        observer *o = malloc(sizeof *o);

        if (is_new) {
                *e = calloc(1, sizeof **e);
                (*e)->name = strdup(name);
        }
        *o = (observer){.heard = heard, .context = context, .next = (*e)->observers};
        (*e)->observers = o;
        return is_new;
}

void bench_table_call(const char *name)
{
        const entry *e = *find(name);

        for (const observer *o = e ? e->observers : NULL; o; o = o->next)
                o->heard(o->context, 1);
}

const char *bench_split(const char *name, char ret_first[256])
{
        const char *dot = strrchr(name, '.');

        memcpy(ret_first, name, (size_t)(dot - name));
        ret_first[dot - name] = '\0';
        return dot + 1;
}
