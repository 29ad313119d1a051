/* The time zone: where /etc/localtime leads. */
#include <limits.h>
#include <unistd.h>

#include "hash.h"
#include "path.h"
#include "sources/sources.h"

#define PATH "/etc/localtime"

typedef struct data {
        path_watch *watch;
        uint64_t seen;
} data;

static data *data_of(source *source)
{
        return (data *)source->data;
}

/* Without a link, the file itself is the zone. */
static uint64_t read_zone(void)
{
        char target[PATH_MAX];
        ssize_t n = readlink(PATH, target, sizeof(target));

        return n > 0 ? hash_bytes(HASH_EMPTY, target, (size_t)n) : hash_file(PATH);
}

static void look(source *source)
{
        data *data = data_of(source);
        uint64_t now = read_zone();

        if (now == data->seen)
                return;
        data->seen = now;
        source_post(source, EVENT_CHANGED);
}

static void changed(void *context)
{
        look(context);
}

static int start(source *source)
{
        data *data = data_of(source);

        data->watch = path_watch_new(source->agent, PATH, changed, source);
        data->seen = read_zone();
        return 0;
}

static void stop(source *source)
{
        data_of(source)->watch = path_watch_free(data_of(source)->watch);
}

/* Its signal comes before some file systems report the change. */
static const service_kind timedate = {
        .name = "org.freedesktop.timedate1",
        .is_on_system_bus = true,
        .is_optional = true,
        .rules = { "path='/org/freedesktop/timedate1',"
                   "interface='org.freedesktop.DBus.Properties',member='PropertiesChanged'" },
};

const source_kind source_time_zone = {
        .name = "time-zone",
        .origin = "the target of /etc/localtime; org.freedesktop.timedate1",
        .names = {
                { .text = "com.apple.system.timezone", .events = EVENT_CHANGED },
                { .text = "NSSystemTimeZoneDidChangeDistributedNotification",
                  .events = EVENT_CHANGED, .is_distributed = true },
        },
        .services = { &timedate },
        .data_bytes = sizeof(data),
        .start = start,
        .look = look,
        .stop = stop,
};
