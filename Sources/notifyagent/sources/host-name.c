/* The name of the host. */
#include "hash.h"
#include "sources/sources.h"

#define PATH "/proc/sys/kernel/hostname"

typedef struct data {
        source_watch watch;
        uint64_t seen;
} data;

static data *data_of(source *source)
{
        return (data *)source->data;
}

/* Hosts in other namespaces change the file too. */
static void look(source *source)
{
        data *data = data_of(source);
        uint64_t now = hash_file(PATH);

        if (now == data->seen)
                return;
        data->seen = now;
        source_post(source, EVENT_CHANGED);
}

static int start(source *source)
{
        data *data = data_of(source);
        int r = source_watch_file(&data->watch, source, PATH);

        data->seen = hash_file(PATH);
        return r;
}

static void stop(source *source)
{
        source_watch_end(&data_of(source)->watch);
}

const source_kind source_host_name = {
        .name = "host-name",
        .origin = PATH,
        .names = { { .text = "com.apple.system.hostname", .events = EVENT_CHANGED } },
        .data_bytes = sizeof(data),
        .start = start,
        .look = look,
        .stop = stop,
};
