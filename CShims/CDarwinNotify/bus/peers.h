/* Finds out who sent a post: the user or process behind a connection, as reported by the bus. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/connection.h"
#include "post/post.h"
#include "util/list.h"
#include "util/map.h"

/* More connections than the brokers allow one user. Beyond this, the oldest entry is forgotten. */
#define DN__PEERS_MAX 4096

/* The query to ask the bus about a connection. */
typedef enum dn__peer_query {
        DN__PEER_USER,
        DN__PEER_PROCESS,
} dn__peer_query;

/* A connection. The bus never reuses its name. */
typedef struct dn__peer {
        dn__map_entry entry;
        dn__link link;      /* by age, while remembered; the peer ends with the last of its posts */
        size_t n_posts;     /* that wait */
        dn__connection *connection; /* borrowed */
        dn__peer_query asked;
        sd_bus_slot *call;  /* the pending query; NULL: answered */
        uint64_t until_us;  /* deadline of the answer */
        bool is_known;      /* the fields below are set; never for a connection that has closed */
        uint32_t id;        /* the user or process ID */
        char *program;      /* of the process; NULL: unknown */
        char name[];
} dn__peer;

/* Protected, like the connection, by its owner's lock. */
typedef struct dn__peers {
        dn__connection *connection; /* borrowed */
        dn__peer_query query;
        dn__map by_name;
        dn__link by_age; /* oldest first */
} dn__peers;

void dn__peers_init(dn__peers *peers, dn__connection *connection, dn__peer_query query);

/* No posts may be waiting. */
void dn__peers_deinit(dn__peers *peers);

/* Subscribes to connections coming and going. The answer goes to `handler`. */
int dn__peers_follow(dn__peers *peers, sd_bus_message_handler_t handler, void *context,
                     sd_bus_slot **ret_slot);

/* Reads a message. If it announces a new connection, asks the bus about it immediately: the process
 * may be gone by the time its post is read. */
void dn__peers_handle(dn__peers *peers, sd_bus_message *message);

/* Finds a connection, or asks the bus about it. Returns NULL on failure. Borrowed until it is
 * forgotten, which the next call may do unless one of its posts waits. */
dn__peer *dn__peers_get(dn__peers *peers, const char *name);

/* Forgets a connection. If it posts again, the bus is asked again. */
void dn__peers_forget(dn__peers *peers, dn__peer *peer);

/* Forgets all connections, before the connection is closed: another bus assigns the same names to
 * others. */
void dn__peers_disconnected(dn__peers *peers);

typedef struct dn__waiting_post {
        dn__link link;
        dn__peer *peer;   /* NULL: the sender need not be known */
        uint64_t time_us; /* CLOCK_REALTIME time of arrival */
        dn__post post;    /* its strings point into `bytes` */
        char bytes[];
} dn__waiting_post;

/* Posts in order of arrival: each waits for a reply or follows one that does. Protected by its
 * owner's lock. */
typedef struct dn__waiting {
        dn__link posts;
        size_t n_posts;
} dn__waiting;

void dn__waiting_init(dn__waiting *waiting);
void dn__waiting_deinit(dn__waiting *waiting);

/* Appends a copy of a post. Returns 0 or -ENOMEM. */
int dn__waiting_add(dn__waiting *waiting, const dn__post *post, dn__peer *peer);

/* Returns the first post, borrowed until it is removed, or NULL. */
dn__waiting_post *dn__waiting_first(const dn__waiting *waiting);

/* Removes a post; free it after use. */
void dn__waiting_take(dn__waiting *waiting, dn__waiting_post *taken);
void dn__waiting_post_free(dn__waiting_post *taken);

/* Returns the time until which the first post waits: 0 if it need not wait any longer, DN__NEVER if
 * there is none. */
uint64_t dn__waiting_get_until(const dn__waiting *waiting);
