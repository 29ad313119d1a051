/* The kinds that a service exports. */
#include "calls/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/message.h"

/* Returns the index of a kind, or the index at which to insert it. */
static size_t find_kind(const dn_service *service, const char *kind, bool *ret_is_there)
{
        size_t low = 0, high = service->n_kinds;

        *ret_is_there = false;
        while (low < high && !*ret_is_there) {
                size_t middle = low + (high - low) / 2;
                int order = strcmp(kind, service->kinds[middle]);

                *ret_is_there = order == 0;
                if (order == 0)
                        low = middle;
                else if (order < 0)
                        high = middle;
                else
                        low = middle + 1;
        }
        return low;
}

bool dn__kinds_have(const dn_service *service, const char *kind)
{
        bool is_there;

        (void)find_kind(service, kind, &is_there);
        return is_there;
}

/* Returns a copy of all kinds in one piece of memory, or NULL. */
static const char **copy_kinds(const dn_service *service, size_t *ret_n_kinds)
{
        size_t n_bytes = (service->n_kinds + 1) * sizeof(char *);
        const char **copy;
        char *text;

        for (size_t i = 0; i < service->n_kinds; i++)
                n_bytes += strlen(service->kinds[i]) + 1;
        copy = malloc(n_bytes);
        if (!copy)
                return NULL;
        text = (char *)(copy + service->n_kinds + 1);
        for (size_t i = 0; i < service->n_kinds; i++) {
                copy[i] = text;
                text = stpcpy(text, service->kinds[i]) + 1;
        }
        *ret_n_kinds = service->n_kinds;
        return copy;
}

char *dn__kinds_introspect(const dn_service *service)
{
        dn__lock *lock = &service->origin->dbus->lock;
        size_t n_kinds = 0;
        const char **kinds;
        char *text;

        dn__lock_acquire(lock);
        kinds = copy_kinds(service, &n_kinds);
        dn__lock_release(lock);
        text = kinds ? dn__introspection_new(kinds, n_kinds) : NULL;
        free(kinds);
        return text;
}

static int insert_kind(dn_service *service, size_t index, const char *kind)
{
        const char **kinds;
        char *copy = strdup(kind);

        kinds = copy ? reallocarray(service->kinds, service->n_kinds + 1, sizeof(*kinds)) : NULL;
        if (!kinds) {
                free(copy);
                return -ENOMEM;
        }
        memmove(kinds + index + 1, kinds + index, (service->n_kinds - index) * sizeof(*kinds));
        kinds[index] = copy;
        service->kinds = kinds;
        service->n_kinds++;
        return 0;
}

int dn__kinds_add(dn_service *service, const char *kind)
{
        bool is_there;
        size_t index = find_kind(service, kind, &is_there);

        return is_there ? 0 : insert_kind(service, index, kind);
}

int dn__kinds_remove(dn_service *service, const char *kind)
{
        bool is_there;
        size_t index = find_kind(service, kind, &is_there);

        if (!is_there)
                return -EINVAL;
        free((char *)service->kinds[index]);
        service->n_kinds--;
        memmove(service->kinds + index, service->kinds + index + 1,
                (service->n_kinds - index) * sizeof(*service->kinds));
        return 0;
}

void dn__kinds_free(dn_service *service)
{
        for (size_t i = 0; i < service->n_kinds; i++)
                free((char *)service->kinds[i]);
        free(service->kinds);
}
