/* The name servers, from the files of the resolver. */
#include "hash.h"
#include "path.h"
#include "sources/sources.h"

/* The file in /etc may be that of a stub, which hides the servers. */
static const char *const paths[] = { "/etc/resolv.conf", "/run/systemd/resolve/resolv.conf" };

#define N_PATHS (sizeof(paths) / sizeof(paths[0]))

typedef struct data {
        path_watch *watches[N_PATHS];
        uint64_t seen;
} data;

static data *data_of(source *source)
{
        return (data *)source->data;
}

static uint64_t read_files(void)
{
        uint64_t sum = 0;

        for (size_t i = 0; i < N_PATHS; i++)
                sum = sum * 31 + hash_file(paths[i]);
        return sum;
}

static void look(source *source)
{
        data *data = data_of(source);
        uint64_t now = read_files();

        if (now == data->seen)
                return;
        data->seen = now;
        source_post(source, EVENT_CHANGED);
        network_changed(source->agent);
}

static void changed(void *context)
{
        look(context);
}

static int start(source *source)
{
        data *data = data_of(source);

        for (size_t i = 0; i < N_PATHS; i++)
                data->watches[i] = path_watch_new(source->agent, paths[i], changed, source);
        data->seen = read_files();
        return 0;
}

static void stop(source *source)
{
        for (size_t i = 0; i < N_PATHS; i++)
                data_of(source)->watches[i] = path_watch_free(data_of(source)->watches[i]);
}

const source_kind source_dns = {
        .name = "dns",
        .origin = "/etc/resolv.conf, /run/systemd/resolve/resolv.conf",
        .names = {
                { .text = "com.apple.system.SystemConfiguration.dns_configuration",
                  .events = EVENT_CHANGED },
                { .text = "com.apple.system.config.network_change.dns", .events = EVENT_CHANGED },
        },
        .data_bytes = sizeof(data),
        .start = start,
        .look = look,
        .stop = stop,
};
