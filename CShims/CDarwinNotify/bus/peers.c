/* Finds out who sent a post: the user or process behind a connection, as reported by the bus.
 *
 * Anyone on a bus can send any signal. The bus knows the sender but reports it only on request.
 * Posts that arrive after one that waits for the reply also wait, to preserve their order. */
#include "bus/peers.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"

#define OWNER_MEMBER "NameOwnerChanged"
#define OWNER_RULE                                                                                 \
        "type='signal',sender='" DN__BUS_NAME "',path='" DN__BUS_PATH "',interface='" DN__BUS_NAME \
        "',member='" OWNER_MEMBER "'"

/* A working bus answers in less than a millisecond; a hanging one must not delay the posts that
 * wait for the reply or those after them. */
#define ANSWER_TIMEOUT_US (1 * DN__US_PER_SECOND)

/* What the kernel appends to the path of an executable that was removed or replaced. */
#define DELETED " (deleted)"

static const char *const methods[] = {
        [DN__PEER_USER] = "GetConnectionUnixUser",
        [DN__PEER_PROCESS] = "GetConnectionUnixProcessID",
};

void dn__peers_init(dn__peers *peers, dn__connection *connection, dn__peer_query query)
{
        *peers = (dn__peers){ .connection = connection, .query = query };
        dn__list_init(&peers->by_age);
}

void dn__peers_deinit(dn__peers *peers)
{
        dn__peers_disconnected(peers);
        dn__map_deinit(&peers->by_name);
}

/* --- One connection -------------------------------------------------------------------------- */

/* Frees a forgotten peer that has no posts. */
static void free_unused(dn__peer *peer)
{
        if (peer->n_posts || dn__link_is_linked(&peer->link))
                return;
        free(peer->program);
        free(peer);
}

/* Returns the file name of the executable that a process runs, or NULL if that is not visible. */
static char *find_program(uint32_t pid)
{
        static const size_t n_deleted = sizeof(DELETED) - 1;
        char link[32], path[PATH_MAX + 1];
        ssize_t n;

        (void)snprintf(link, sizeof(link), "/proc/%u/exe", pid);
        n = readlink(link, path, sizeof(path) - 1);
        if (n <= 0)
                return NULL;
        path[n] = '\0';
        if ((size_t)n > n_deleted && strcmp(path + n - n_deleted, DELETED) == 0)
                path[(size_t)n - n_deleted] = '\0';
        return strdup(basename(path));
}

static int peer_answered(sd_bus_message *answer, void *context, sd_bus_error *error);

static int ask_about(dn__peer *peer)
{
        dn__query query = { methods[peer->asked], "s", peer->name, peer_answered, peer, 0 };

        return dn__connection_ask(peer->connection, &query, &peer->call);
}

static int peer_answered(sd_bus_message *answer, void *context, sd_bus_error *error)
{
        dn__peer *peer = context;

        (void)error;
        peer->call = sd_bus_slot_unref(peer->call);
        if (!dn__connection_is_bus(answer)) {
                (void)ask_about(peer);
                return 1;
        }
        /* A closed connection has neither user nor process. */
        peer->is_known = !sd_bus_message_is_method_error(answer, NULL) &&
                         sd_bus_message_read_basic(answer, 'u', &peer->id) > 0;
        if (peer->is_known && peer->asked == DN__PEER_PROCESS)
                peer->program = find_program(peer->id);
        return 1;
}

/* --- All of them ----------------------------------------------------------------------------- */

void dn__peers_forget(dn__peers *peers, dn__peer *peer)
{
        dn__map_remove(&peers->by_name, &peer->entry);
        dn__list_remove(&peer->link);
        peer->call = sd_bus_slot_unref(peer->call);
        free_unused(peer);
}

void dn__peers_disconnected(dn__peers *peers)
{
        while (!dn__list_is_empty(&peers->by_age))
                dn__peers_forget(peers, DN__CONTAINER(peers->by_age.next, dn__peer, link));
}

/* Makes room by forgetting the oldest connection that no post waits for. */
static bool make_room(dn__peers *peers)
{
        if (peers->by_name.n_entries < DN__PEERS_MAX)
                return true;
        DN__LIST_EACH(dn__peer, oldest, &peers->by_age, link)
                if (!oldest->n_posts) {
                        dn__peers_forget(peers, oldest);
                        return true;
                }
        return false;
}

static dn__peer *peer_new(dn__peers *peers, const char *name)
{
        size_t n_bytes = strlen(name);
        dn__peer *peer = make_room(peers) ? calloc(1, sizeof(*peer) + n_bytes + 1) : NULL;

        if (!peer)
                return NULL;
        memcpy(peer->name, name, n_bytes);
        peer->entry = dn__map_key(peer->name, n_bytes);
        peer->connection = peers->connection;
        peer->asked = peers->query;
        peer->until_us = dn__clock_after_us(ANSWER_TIMEOUT_US);
        if (dn__map_add(&peers->by_name, &peer->entry) == 0) {
                dn__list_append(&peers->by_age, &peer->link);
                return peer;
        }
        free(peer);
        return NULL;
}

static dn__peer *find_peer(const dn__peers *peers, const char *name)
{
        dn__map_entry *entry = dn__map_find_text(&peers->by_name, name);

        return entry ? DN__CONTAINER(entry, dn__peer, entry) : NULL;
}

dn__peer *dn__peers_get(dn__peers *peers, const char *name)
{
        dn__peer *peer = find_peer(peers, name);

        if (peer)
                return peer;
        peer = peer_new(peers, name);
        if (!peer || ask_about(peer) == 0)
                return peer;
        dn__peers_forget(peers, peer);
        return NULL;
}

/* --- Connections coming and going ------------------------------------------------------------ */

int dn__peers_follow(dn__peers *peers, sd_bus_message_handler_t handler, void *context,
                     sd_bus_slot **ret_slot)
{
        dn__query query = { "AddMatch", "s", OWNER_RULE, handler, context, 0 };

        return dn__connection_ask(peers->connection, &query, ret_slot);
}

void dn__peers_handle(dn__peers *peers, sd_bus_message *message)
{
        const char *sender = sd_bus_message_get_sender(message), *name, *before, *now;
        dn__peer *gone;

        if (sd_bus_message_is_signal(message, DN__BUS_NAME, OWNER_MEMBER) <= 0 || !sender ||
            strcmp(sender, DN__BUS_NAME) != 0 ||
            sd_bus_message_read(message, "sss", &name, &before, &now) <= 0 || name[0] != ':')
                return;
        if (*now) {
                (void)dn__peers_get(peers, name);
                return;
        }
        /* It survives as long as its posts wait. */
        gone = find_peer(peers, name);
        if (gone)
                dn__peers_forget(peers, gone);
}

/* --- Posts that wait for the answer --------------------------------------------------------- */

void dn__waiting_init(dn__waiting *waiting)
{
        *waiting = (dn__waiting){ 0 };
        dn__list_init(&waiting->posts);
}

void dn__waiting_deinit(dn__waiting *waiting)
{
        dn__waiting_post *first;

        while ((first = dn__waiting_first(waiting))) {
                dn__waiting_take(waiting, first);
                dn__waiting_post_free(first);
        }
}

int dn__waiting_add(dn__waiting *waiting, const dn__post *post, dn__peer *peer)
{
        dn__waiting_post *added = calloc(1, sizeof(*added) + dn__post_count_bytes(post));

        if (!added)
                return -ENOMEM;
        added->time_us = dn__clock_read_ns(CLOCK_REALTIME) / 1000;
        added->post = dn__post_copy(post, added->bytes);
        added->peer = peer;
        if (peer)
                peer->n_posts++;
        dn__list_append(&waiting->posts, &added->link);
        waiting->n_posts++;
        return 0;
}

dn__waiting_post *dn__waiting_first(const dn__waiting *waiting)
{
        return DN__LIST_FIRST(dn__waiting_post, &waiting->posts, link);
}

void dn__waiting_take(dn__waiting *waiting, dn__waiting_post *taken)
{
        assert(waiting->n_posts > 0 && dn__link_is_linked(&taken->link));
        dn__list_remove(&taken->link);
        waiting->n_posts--;
}

void dn__waiting_post_free(dn__waiting_post *taken)
{
        dn__peer *peer = taken->peer;

        if (peer) {
                peer->n_posts--;
                free_unused(peer);
        }
        dn__post_release(&taken->post);
        free(taken);
}

uint64_t dn__waiting_get_until(const dn__waiting *waiting)
{
        const dn__waiting_post *first = dn__waiting_first(waiting);

        if (!first)
                return DN__NEVER;
        return first->peer && first->peer->call ? first->peer->until_us : 0;
}
