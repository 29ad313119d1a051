/* A signal, and a receiver that reads a file when it comes. */
#include "baseline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "baseline-private.h"

#define PATH "/org/example/Figures"
#define INTERFACE "org.example.Figures"
#define MEMBER "Rung"

struct baseline_bus {
        sd_bus *bus;
};

static void need(int result, const char *what)
{
        if (result < 0)
                baseline_fail(what, -result);
}

baseline_bus *baseline_bus_open(void)
{
        baseline_bus *bus = calloc(1, sizeof *bus);

        if (!bus)
                baseline_fail("no memory", 0);
        need(sd_bus_open_user(&bus->bus), "no bus");
        return bus;
}

void baseline_bus_ring(baseline_bus *bus, const char *name)
{
        need(sd_bus_emit_signal(bus->bus, PATH, INTERFACE, MEMBER, "s", name), "signal");
        need(sd_bus_flush(bus->bus), "signal");
}

static size_t file_read(const char *path, void *memory, size_t capacity)
{
        size_t n_bytes = 0;

        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                baseline_fail(path, errno);
        for (;;) {
                size_t wanted = capacity - n_bytes;
                ssize_t n = read(fd, (char *)memory + n_bytes, wanted);
                if (n < 0)
                        baseline_fail(path, errno);
                n_bytes += (size_t)n;
                if ((size_t)n < wanted)
                        break;
        }
        close(fd);
        return n_bytes;
}

static volatile uint64_t sum;

static int hear(sd_bus_message *m, void *context, sd_bus_error *error)
{
        const baseline_reader *reader = context;
        void *memory = NULL;
        const char *name;

        (void)error;
        need(sd_bus_message_read_basic(m, 's', &name), "signal");
        if (reader->path) {
                memory = malloc(reader->capacity);
                if (!memory)
                        baseline_fail("no memory", 0);
                sum += baseline_touch(memory, file_read(reader->path, memory, reader->capacity));
        }
        baseline_report(baseline_now_ns());
        if (reader->holds)
                baseline_await_line();
        free(memory);
        return 0;
}

void baseline_receive(baseline_bus *bus, const baseline_reader *reader)
{
        char rule[512];

        snprintf(rule, sizeof rule, "type='signal',path='" PATH "',arg0='%s'", reader->name);
        need(sd_bus_add_match(bus->bus, NULL, rule, hear, (void *)reader), "match rule");
        baseline_report(0);
        for (;;) {
                int r = sd_bus_process(bus->bus, NULL);
                need(r, "bus");
                if (r == 0)
                        need(sd_bus_wait(bus->bus, UINT64_MAX), "bus");
        }
}
