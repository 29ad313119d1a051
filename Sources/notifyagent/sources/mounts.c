/* File systems that are mounted, unmounted, or mounted in another way. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "sources/sources.h"

#define PATH "/proc/self/mountinfo"

enum { MOUNTED = 1 << 0, UNMOUNTED = 1 << 1, UPDATED = 1 << 2 };

typedef struct mount {
        unsigned long id;  /* soon used again */
        uint64_t identity; /* what is mounted where */
        uint64_t options;
} mount;

typedef struct mounts {
        mount *all; /* by number */
        size_t n;
} mounts;

typedef struct data {
        source_watch watch;
        mounts seen;
} data;

static data *data_of(source *source)
{
        return (data *)source->data;
}

/* --- Reading --------------------------------------------------------------------------------- */

/* A line is ID, PARENT, DEVICE, ROOT, PLACE, OPTIONS, propagation..., -, TYPE, SOURCE, OPTIONS. The
 * parent changes with other mounts; how mounts propagate does not matter. */
static bool parse(const char *line, mount *ret_mount)
{
        int device = 0, place = 0, options = 0, source = 0;
        const char *rest = strstr(line, " - ");

        if (sscanf(line, "%lu %*u %n%*s %*s %*s%n %*s%n", &ret_mount->id, &device, &place,
                   &options) != 1 ||
            !options || !rest)
                return false;
        (void)sscanf(rest, " - %*s %*s%n", &source);
        ret_mount->identity = hash_bytes(HASH_EMPTY, line + device, (size_t)(place - device));
        ret_mount->identity = hash_bytes(ret_mount->identity, rest, (size_t)source);
        ret_mount->options = hash_bytes(HASH_EMPTY, line + place, (size_t)(options - place));
        ret_mount->options = hash_bytes(ret_mount->options, rest + source, strlen(rest + source));
        return true;
}

static int compare(const void *a, const void *b)
{
        unsigned long left = ((const mount *)a)->id, right = ((const mount *)b)->id;

        return left < right ? -1 : left > right;
}

static int add(mounts *mounts, const mount *mount)
{
        struct mount *all = mounts->all;

        if ((mounts->n & (mounts->n - 1)) == 0) {
                all = reallocarray(all, mounts->n ? 2 * mounts->n : 1, sizeof(*all));
                if (!all)
                        return -ENOMEM;
                mounts->all = all;
        }
        all[mounts->n++] = *mount;
        return 0;
}

static int read_mounts(mounts *ret_mounts)
{
        FILE *stream = fopen(PATH, "re");
        mounts mounts = { 0 };
        char *line = NULL;
        size_t n_bytes = 0;
        mount mount;
        int r = 0;

        if (!stream)
                return -errno;
        while (r == 0 && getline(&line, &n_bytes, stream) >= 0)
                if (parse(line, &mount))
                        r = add(&mounts, &mount);
        free(line);
        (void)fclose(stream);
        if (r < 0) {
                free(mounts.all);
                return r;
        }
        if (mounts.n > 0)
                qsort(mounts.all, mounts.n, sizeof(mount), compare);
        *ret_mounts = mounts;
        return 0;
}

/* --- Comparing ------------------------------------------------------------------------------- */

static unsigned find_events_of(const mount *before, const mount *now)
{
        if (before->identity != now->identity)
                return MOUNTED | UNMOUNTED;
        return before->options != now->options ? UPDATED : 0;
}

static unsigned find_events(const mounts *before, const mounts *now)
{
        unsigned events = 0;
        size_t i = 0, j = 0;

        while (i < before->n && j < now->n) {
                int order = compare(&before->all[i], &now->all[j]);

                if (order == 0)
                        events |= find_events_of(&before->all[i], &now->all[j]);
                else
                        events |= order < 0 ? UNMOUNTED : MOUNTED;
                i += order <= 0;
                j += order >= 0;
        }
        return events | (i < before->n ? UNMOUNTED : 0) | (j < now->n ? MOUNTED : 0);
}

static void look(source *source)
{
        data *data = data_of(source);
        unsigned events;
        mounts now;
        int r = read_mounts(&now);

        if (r < 0) {
                source_complain(source, PROBLEM_SYSTEM, PATH ": %s", strerror(-r));
                return;
        }
        events = find_events(&data->seen, &now);
        free(data->seen.all);
        data->seen = now;
        source_post(source, events);
}

static int start(source *source)
{
        data *data = data_of(source);
        int r = source_watch_file(&data->watch, source, PATH);

        return r < 0 ? r : read_mounts(&data->seen);
}

static void stop(source *source)
{
        data *data = data_of(source);

        source_watch_end(&data->watch);
        free(data->seen.all);
}

const source_kind source_mounts = {
        .name = "mounts",
        .origin = PATH,
        .names = {
                { .text = "com.apple.system.kernel.mount", .events = MOUNTED },
                { .text = "com.apple.system.kernel.unmount", .events = UNMOUNTED },
                { .text = "com.apple.system.kernel.mountupdate", .events = UPDATED },
        },
        .data_bytes = sizeof(data),
        .start = start,
        .look = look,
        .stop = stop,
};
