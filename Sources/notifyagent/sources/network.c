/* Links, addresses and routes of the kernel.
 *
 * A message of the kernel says only that something may have changed: many repeat what is known, as
 * when a lease is renewed. So all is read anew, and its sum compared with the one before. */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "hash.h"
#include "netlink.h"
#include "pace.h"
#include "sources/sources.h"

typedef struct data {
        source_watch watch;
        pace pace;
        uint64_t seen;
} data;

static data *data_of(source *source)
{
        return (data *)source->data;
}

static void look(source *source)
{
        data *data = data_of(source);
        uint64_t now;

        if (netlink_read_sum(&now) < 0)
                now = data->seen + 1; /* if unsure, it has changed */
        if (now == data->seen)
                return;
        data->seen = now;
        source_post(source, EVENT_CHANGED);
        network_changed(source->agent);
}

static void look_now(void *context)
{
        look(context);
}

static int on_message(sd_event_source *event, int fd, uint32_t events, void *context)
{
        source *source = context;
        char buffer[8192];

        (void)event, (void)events;
        /* If messages were lost, the error says so once, and there is nothing more to know. */
        while (recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT) > 0 || errno == EINTR ||
               errno == ENOBUFS)
                ;
        pace_ask(&data_of(source)->pace);
        return 0;
}

static int start(source *source)
{
        data *data = data_of(source);
        int r, fd = netlink_listen();

        if (fd < 0)
                return fd;
        pace_init(&data->pace, source->agent->event, look_now, source);
        r = source_watch_start(&data->watch, source, fd, EPOLLIN, on_message);
        (void)netlink_read_sum(&data->seen); /* if there is too much, each message is a change */
        return r;
}

static void stop(source *source)
{
        data *data = data_of(source);

        pace_deinit(&data->pace);
        source_watch_end(&data->watch);
}

const source_kind source_network = {
        .name = "network",
        .origin = "links, addresses and routes of the kernel",
        .names = {
                { .text = "com.apple.system.SystemConfiguration.nwi", .events = EVENT_CHANGED },
                { .text = "com.apple.system.config.network_change.nwi", .events = EVENT_CHANGED },
        },
        .data_bytes = sizeof(data),
        .start = start,
        .look = look,
        .stop = stop,
};
