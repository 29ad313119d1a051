/* Plain sd-bus, the yardstick: a name is an interface with a member, each observer a match.
 *
 * With "body" as the first argument the signals have one like those of DarwinNotify: the name and
 * two numbers. The additional time is the price of the body, not of the library. With "info" it is
 * the body of a distributed notification, with a user info of five keys.
 *
 * sd_bus_emit_signal() writes to the socket itself; what the socket does not take is queued, and
 * a program that posts much has to flush that queue. */
#include <bench.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define PATH "/org/example/bench"
#define MAX_QUEUED 64

typedef struct observer {
        bench_heard heard;
        void *context;
} observer;

static sd_bus *bus;
static bool has_body, has_info;

/* Nothing is written before the bus has said hello, which asking for the name waits for. */
static int open_bus(void)
{
        const char *name;
        int r = sd_bus_open_user(&bus);

        return r < 0 ? r : sd_bus_get_unique_name(bus, &name);
}

/* Reads a value of the types that are posted here. */
static int read_value(sd_bus_message *m)
{
        union {
                const char *text;
                double real;
                int64_t integer;
                int boolean;
        } value;
        const char *type;
        int r = sd_bus_message_peek_type(m, NULL, &type);

        if (r < 0)
                return r;
        r = sd_bus_message_enter_container(m, 'v', type);
        if (r < 0)
                return r;
        r = sd_bus_message_read_basic(m, type[0], &value);
        return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_info(sd_bus_message *m)
{
        const char *name, *object, *key;
        uint64_t number;
        uint32_t flags;
        int r = sd_bus_message_read(m, "sus", &name, &flags, &object);

        if (r < 0)
                return r;
        r = sd_bus_message_enter_container(m, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
                r = sd_bus_message_read_basic(m, 's', &key);
                if (r < 0 || (r = read_value(m)) < 0)
                        return r;
                r = sd_bus_message_exit_container(m);
        }
        if (r < 0 || (r = sd_bus_message_exit_container(m)) < 0)
                return r;
        return sd_bus_message_read_basic(m, 't', &number);
}

static int on_signal(sd_bus_message *m, void *context, sd_bus_error *error)
{
        const observer *o = context;

        (void)error;
        if (has_body) {
                uint64_t generation, region;
                const char *name;
                int r = sd_bus_message_read(m, "stt", &name, &generation, &region);

                if (r < 0)
                        return r;
        }
        if (has_info) {
                int r = read_info(m);

                if (r < 0)
                        return r;
        }
        o->heard(o->context, 1);
        return 0;
}

static int observe(const char *name, bench_heard heard, void *context)
{
        char interface[256];
        const char *member = bench_split(name, interface);
        observer *o = malloc(sizeof *o);

        *o = (observer){.heard = heard, .context = context};
        return sd_bus_match_signal(bus, NULL, NULL, PATH, interface, member, on_signal, o);
}

static int post(const char *name)
{
        char interface[256];
        const char *member = bench_split(name, interface);

        if (has_body)
                return sd_bus_emit_signal(bus, PATH, interface, member, "stt", name, UINT64_C(1),
                                          UINT64_C(1));
        if (has_info)
                return sd_bus_emit_signal(bus, PATH, interface, member, "susa{sv}t", name,
                                          UINT32_C(8), "", 5, "artist", "s", "John Coltrane",
                                          "playing", "b", 1, "seconds", "d", 261.5, "title", "s",
                                          "Naima", "track", "x", INT64_C(3), UINT64_C(1));
        return sd_bus_emit_signal(bus, PATH, interface, member, "");
}

static int process(int timeout_ms)
{
        int r = sd_bus_process(bus, NULL);

        return r != 0 ? r : sd_bus_wait(bus, (uint64_t)timeout_ms * 1000);
}

static int pace(void)
{
        uint64_t n_queued = 0;

        (void)sd_bus_get_n_queued_write(bus, &n_queued);
        return n_queued > MAX_QUEUED ? sd_bus_flush(bus) : 0;
}

static int flush(void)
{
        return sd_bus_flush(bus);
}

int main(int argc, char **argv)
{
        static const bench_peer peer = {.open = open_bus, .observe = observe, .post = post,
                                        .process = process, .pace = pace, .flush = flush};

        has_body = argc > 1 && strcmp(argv[1], "body") == 0;
        has_info = argc > 1 && strcmp(argv[1], "info") == 0;
        return bench_main(argc - has_body - has_info, argv + has_body + has_info, &peer);
}
