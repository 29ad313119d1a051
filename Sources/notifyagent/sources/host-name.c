/* The name of the host. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "hash.h"
#include "sources/sources.h"

#define PATH "/proc/sys/kernel/hostname"

typedef struct data {
        int fd;
        sd_event_source *event;
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

static int on_change(sd_event_source *event, int fd, uint32_t events, void *context)
{
        (void)event, (void)fd, (void)events;
        look(context);
        return 0;
}

static int start(source *source)
{
        data *data = data_of(source);

        data->fd = open(PATH, O_RDONLY | O_CLOEXEC);
        if (data->fd < 0)
                return -errno;
        data->seen = hash_file(PATH);
        return sd_event_add_io(source->agent->event, &data->event, data->fd, EPOLLPRI, on_change,
                               source);
}

static void stop(source *source)
{
        data *data = data_of(source);

        data->event = sd_event_source_disable_unref(data->event);
        if (data->fd > 0)
                (void)close(data->fd);
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
