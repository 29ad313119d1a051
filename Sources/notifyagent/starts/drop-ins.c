/* The drop-ins of a unit.
 *
 * They are found without systemd, which would have to load each unit. The drop-ins of a-b.service
 * are in a-b.service.d and a-.service.d in each folder of units, then in service.d. If two have the
 * same name, the first one counts. They are read in the order of their names. */
#include "starts/drop-ins.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct drop_in {
        char *path;
        const char *name; /* the end of the path */
        size_t rank;      /* of its folder */
} drop_in;

typedef struct drop_in_list {
        drop_in *all;
        size_t n;
        size_t n_folders;
} drop_in_list;

static void add_drop_in(drop_in_list *list, const char *folder, const char *name)
{
        drop_in *grown = reallocarray(list->all, list->n + 1, sizeof(*grown));
        char *path;

        if (!grown)
                return;
        list->all = grown;
        if (asprintf(&path, "%s/%s", folder, name) < 0)
                return;
        grown[list->n++] = (drop_in){ path, path + strlen(folder) + 1, list->n_folders };
}

static void read_drop_ins(drop_in_list *list, const char *folder)
{
        DIR *directory = opendir(folder);

        if (!directory)
                return;
        for (struct dirent *at; (at = readdir(directory));) {
                const char *dot = strrchr(at->d_name, '.');

                if (*at->d_name != '.' && dot && strcmp(dot, ".conf") == 0)
                        add_drop_in(list, folder, at->d_name);
        }
        (void)closedir(directory);
        list->n_folders++;
}

/* Reads the drop-ins for all units of a type whose names begin with the first bytes of a name. */
static void read_shared(drop_in_list *list, const char *folder, const char *unit, size_t n_bytes,
                        const char *type)
{
        char path[PATH_MAX];

        if (snprintf(path, sizeof(path), "%s/%.*s%s.d", folder, (int)n_bytes, unit, type) <
            (int)sizeof(path))
                read_drop_ins(list, path);
}

static void read_all(drop_in_list *list, char *const *folders, const char *unit, const char *type)
{
        for (char *const *folder = folders; folder && *folder; folder++) {
                size_t n_bytes = (size_t)(type - unit);

                read_shared(list, *folder, unit, n_bytes, type);
                while (n_bytes > 0)
                        if (unit[--n_bytes] == '-')
                                read_shared(list, *folder, unit, n_bytes + 1, type);
        }
        for (char *const *folder = folders; folder && *folder; folder++)
                read_shared(list, *folder, "", 0, type + 1);
}

static int compare_drop_ins(const void *left, const void *right)
{
        const drop_in *a = left, *b = right;
        int r = strcmp(a->name, b->name);

        return r ? r : (a->rank > b->rank) - (a->rank < b->rank);
}

void drop_ins_each(char *const *folders, const char *unit,
                   void (*each)(const char *path, void *context), void *context)
{
        drop_in_list list = { 0 };
        const char *type = strrchr(unit, '.');

        if (!type)
                return;
        read_all(&list, folders, unit, type);
        if (list.n)
                qsort(list.all, list.n, sizeof(*list.all), compare_drop_ins);
        for (size_t i = 0; i < list.n; i++)
                if (i == 0 || strcmp(list.all[i].name, list.all[i - 1].name) != 0)
                        each(list.all[i].path, context);
        for (size_t i = 0; i < list.n; i++)
                free(list.all[i].path);
        free(list.all);
}
