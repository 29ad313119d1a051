/* Which processes are behind the connections of a bus. */
#include "bus/senders.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/hash.h"
#include "util/list.h"

#define OWNER_MEMBER "NameOwnerChanged"
#define OWNER_RULE                                                                                 \
        "type='signal',sender='" DN__BUS_NAME "',path='" DN__BUS_PATH "',interface='" DN__BUS_NAME \
        "',member='" OWNER_MEMBER "'"

/* A bus that works answers in less than a millisecond. */
#define ANSWER_TIMEOUT_US (1 * DN__US_PER_SECOND)

/* --- The program of a process --------------------------------------------------------------- */

/* Returns the number of bytes, or a negative number. */
static ssize_t read_file(const char *path, char *ret_bytes, size_t n_bytes)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n;

        if (fd < 0)
                return -1;
        n = read(fd, ret_bytes, n_bytes);
        (void)close(fd);
        return n;
}

/* What the kernel says of an executable that was replaced by a newer one. */
static void cut_deleted(char *path)
{
        static const char deleted[] = " (deleted)";
        size_t n_bytes = strlen(path), n_deleted_bytes = sizeof(deleted) - 1;

        if (n_bytes > n_deleted_bytes && strcmp(path + n_bytes - n_deleted_bytes, deleted) == 0)
                path[n_bytes - n_deleted_bytes] = '\0';
}

/* Returns the file name of the executable; or, where that is not for us to see, or gone with the
 * process, what the process calls itself; or NULL. */
static char *find_program(int64_t pid)
{
        char path[64], found[PATH_MAX + 1], *slash;
        ssize_t n;

        (void)snprintf(path, sizeof(path), "/proc/%" PRId64 "/exe", pid);
        n = readlink(path, found, sizeof(found) - 1);
        if (n > 0) {
                found[n] = '\0';
                cut_deleted(found);
                slash = strrchr(found, '/');
                return strdup(slash ? slash + 1 : found);
        }
        (void)snprintf(path, sizeof(path), "/proc/%" PRId64 "/comm", pid);
        n = read_file(path, found, sizeof(found) - 1);
        if (n <= 1)
                return NULL;
        found[n - 1] = '\0'; /* it ends with a newline */
        return strdup(found);
}

/* --- One connection -------------------------------------------------------------------------- */

dn__sender *dn__sender_unref(dn__sender *sender)
{
        if (!sender || --sender->n_refs > 0)
                return NULL;
        (void)sd_bus_slot_unref(sender->question);
        free(sender->program);
        free(sender);
        return NULL;
}

static int answered(sd_bus_message *answer, void *context, sd_bus_error *error)
{
        dn__sender *sender = context;
        uint32_t pid;

        (void)error;
        sender->question = sd_bus_slot_unref(sender->question);
        if (sd_bus_message_is_method_error(answer, NULL) ||
            sd_bus_message_read_basic(answer, 'u', &pid) <= 0 || pid == 0)
                return 1; /* gone before it could be asked for */
        sender->pid = pid;
        sender->program = find_program(pid);
        return 1;
}

/* Returns a connection that the bus has been asked for, with one reference; or NULL. */
static dn__sender *sender_new(dn__senders *senders, const char *name, uint64_t hash)
{
        size_t n_bytes = strlen(name);
        dn__sender *sender = calloc(1, sizeof(*sender) + n_bytes + 1);

        if (!sender)
                return NULL;
        memcpy(sender->name, name, n_bytes + 1);
        sender->entry = (dn__map_entry){
                .hash = hash,
                .key = sender->name,
                .n_key_bytes = n_bytes,
        };
        sender->n_refs = 1;
        sender->until_us = dn__clock_after_us(ANSWER_TIMEOUT_US);
        /* If it fails the connection is broken, and there is no answer to wait for. */
        (void)dn__connection_ask(senders->connection, "GetConnectionUnixProcessID", name,
                                 answered, sender, &sender->question);
        return sender;
}

/* --- All of them ----------------------------------------------------------------------------- */

static dn__sender *find(const dn__senders *senders, const char *name, uint64_t hash)
{
        dn__map_entry *entry = dn__map_find(&senders->by_name, hash, name, strlen(name));

        return entry ? DN__CONTAINER(entry, dn__sender, entry) : NULL;
}

static void forget(dn__senders *senders, dn__sender *sender)
{
        dn__map_remove(&senders->by_name, &sender->entry);
        (void)dn__sender_unref(sender);
}

void dn__senders_deinit(dn__senders *senders)
{
        dn__map_entry *entry, *next;

        for (entry = dn__map_next(&senders->by_name, NULL); entry; entry = next) {
                next = dn__map_next(&senders->by_name, entry);
                forget(senders, DN__CONTAINER(entry, dn__sender, entry));
        }
        dn__map_deinit(&senders->by_name);
}

int dn__senders_watch(dn__senders *senders, sd_bus_message_handler_t handler, void *context,
                      sd_bus_slot **ret_slot)
{
        return dn__connection_ask(senders->connection, "AddMatch", OWNER_RULE, handler, context,
                                  ret_slot);
}

dn__sender *dn__senders_get(dn__senders *senders, const char *name)
{
        uint64_t hash = dn__hash64(name, strlen(name));
        dn__sender *sender = find(senders, name, hash);

        if (!sender) {
                sender = sender_new(senders, name, hash);
                if (!sender || senders->by_name.n_entries >= DN__SENDERS_MAX ||
                    dn__map_add(&senders->by_name, &sender->entry) < 0)
                        return sender;
        }
        sender->n_refs++;
        return sender;
}

/* If it cannot be remembered, it is asked for when it posts. */
static void added(dn__senders *senders, const char *name)
{
        if (senders->by_name.n_entries < DN__SENDERS_MAX)
                (void)dn__sender_unref(dn__senders_get(senders, name));
}

/* Posts that have been read keep what they need of it. */
static void gone(dn__senders *senders, const char *name)
{
        dn__sender *sender = find(senders, name, dn__hash64(name, strlen(name)));

        if (sender)
                forget(senders, sender);
}

void dn__senders_handle(dn__senders *senders, sd_bus_message *message)
{
        const char *sender = sd_bus_message_get_sender(message), *name, *before, *now;

        if (sd_bus_message_is_signal(message, DN__BUS_NAME, OWNER_MEMBER) <= 0 || !sender ||
            strcmp(sender, DN__BUS_NAME) != 0 ||
            sd_bus_message_read(message, "sss", &name, &before, &now) <= 0 || name[0] != ':')
                return;
        if (*now)
                added(senders, name);
        else
                gone(senders, name);
}
