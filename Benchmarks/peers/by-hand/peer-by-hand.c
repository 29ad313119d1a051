/* Messages written by hand over plain files, SQLite and sd-bus: what Wormhole is measured against.
 *
 *     peer-by-hand file|insert|insert-signal N_BYTES COMMAND...
 *
 * `file` replaces a file, then emits a signal; the observer reads the file and looks at every byte.
 * `insert` adds a row to a table, with `-signal` emits a signal, too; nobody observes. Files are in
 * the directory XDG_DATA_HOME. BENCH_DURABLE in the environment: each row waits for the disk. */
#include <bench.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "log.h"

#define PATH "/org/example/bench"
#define INTERFACE "org.example.bench"
#define MEMBER "Changed"
#define N_SPARE_BYTES 4096 /* of the memory that a file is read to */

static struct {
        sd_bus *bus;
        log_table *log;
        void *bytes;
        size_t n_bytes;
} self;

typedef struct observer {
        bench_heard heard;
        void *context;
        char path[PATH_MAX];
        void *memory; /* the last message, which the observer keeps until the next */
} observer;

static void find_path(const char *name, char path[PATH_MAX])
{
        snprintf(path, PATH_MAX, "%s/%s", getenv("XDG_DATA_HOME"), name);
}

/* Asking for the name waits until the bus has said hello. */
static int open_bus(void)
{
        const char *name;
        int r = sd_bus_open_user(&self.bus);

        return r < 0 ? r : sd_bus_get_unique_name(self.bus, &name);
}

static int emit_signal(const char *name)
{
        int r = sd_bus_emit_signal(self.bus, PATH, INTERFACE, MEMBER, "s", name);

        return r < 0 ? r : sd_bus_flush(self.bus);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int replace_file(const char *name)
{
        char path[PATH_MAX], temporary[PATH_MAX + 4];

        find_path(name, path);
        snprintf(temporary, sizeof temporary, "%s.new", path);
        int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0)
                return -errno;
        ssize_t n = write(fd, self.bytes, self.n_bytes);
        close(fd);
        if (n != (ssize_t)self.n_bytes)
                return -EIO;
        return rename(temporary, path) < 0 ? -errno : emit_signal(name);
}

static ssize_t read_file(const char *path, void *memory, size_t capacity)
{
        size_t n_bytes = 0;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : 1;

        while (n > 0) {
                n = read(fd, (char *)memory + n_bytes, capacity - n_bytes);
                n_bytes += n > 0 ? (size_t)n : 0;
        }
        if (fd >= 0)
                close(fd);
        return n < 0 ? -errno : (ssize_t)n_bytes;
}

static int on_signal(sd_bus_message *m, void *context, sd_bus_error *error)
{
        observer *o = context;
        size_t capacity = self.n_bytes + N_SPARE_BYTES;

        (void)m, (void)error;
        free(o->memory);
        o->memory = malloc(capacity);
        if (!o->memory)
                return -ENOMEM;
        ssize_t n = read_file(o->path, o->memory, capacity);
        if (n < 0)
                return (int)n;
        bench_touch(o->memory, (size_t)n);
        o->heard(o->context, 1);
        return 0;
}

static int observe(const char *name, bench_heard heard, void *context)
{
        char rule[512];
        observer *o = calloc(1, sizeof *o);

        *o = (observer){.heard = heard, .context = context};
        find_path(name, o->path);
        snprintf(rule, sizeof rule, "type='signal',path='" PATH "',arg0='%s'", name);
        return sd_bus_add_match(self.bus, NULL, rule, on_signal, o);
}

static int process(int timeout_ms)
{
        int r = sd_bus_process(self.bus, NULL);

        return r != 0 ? r : sd_bus_wait(self.bus, (uint64_t)timeout_ms * 1000);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int open_log(const char *name)
{
        char path[PATH_MAX];

        find_path(name, path);
        return log_open(path, self.bytes, self.n_bytes, getenv("BENCH_DURABLE") != NULL, &self.log);
}

static int insert(const char *name)
{
        (void)name;
        return log_insert(self.log, self.bytes, self.n_bytes);
}

static int insert_and_signal(const char *name)
{
        int r = insert(name);

        return r < 0 ? r : emit_signal(name);
}

int main(int argc, char **argv)
{
        bench_peer peer = {.open = open_bus, .process = process};
        const char *kind = argc > 2 ? argv[1] : "";

        if (strcmp(kind, "file") == 0) {
                peer.observe = observe;
                peer.post = replace_file;
        } else if (strcmp(kind, "insert") == 0 || strcmp(kind, "insert-signal") == 0) {
                peer.prepare = open_log;
                peer.post = strcmp(kind, "insert") == 0 ? insert : insert_and_signal;
        } else {
                fprintf(stderr, "usage: see the first comment of peer-by-hand.c\n");
                return 2;
        }
        self.n_bytes = strtoul(argv[2], NULL, 10);
        self.bytes = calloc(1, self.n_bytes);
        if (!self.bytes)
                return 1;
        memset(self.bytes, 1, self.n_bytes);
        return bench_main(argc - 2, argv + 2, &peer);
}
