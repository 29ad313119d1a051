/* An independent D-Bus program: a plain sd-bus connection beside the library under test. */
#ifndef DN_TEST_PEER_H
#define DN_TEST_PEER_H

#include <stdbool.h>
#include <stdint.h>

#define TEST_WIRE_PATH "/org/darwinnotify/Darwin1"
#define TEST_WIRE_PREFIX "org.darwinnotify.Darwin1."
#define TEST_WIRE_MEMBER "Posted"
#define TEST_WIRE_RULE "type='signal',path='" TEST_WIRE_PATH "'"
#define TEST_INTERFACE_BYTES 256

typedef struct test_peer test_peer;

/* A signal as it was seen on the bus. */
typedef struct test_signal {
        char sender[64];
        char path[256];
        char interface[256];
        char member[256];
        char signature[256];
        char name[1024]; /* the first argument, if that is a string */
        uint64_t generation;
        uint64_t region;
} test_signal;

test_peer *test_peer_open(const char *address);
test_peer *test_peer_close(test_peer *peer);
const char *test_peer_unique_name(const test_peer *peer);

/* The interface that carries a name, computed here a second time, independently of the library.
 * Only for names whose interface needs no hash. */
void test_wire_interface(const char *name, char ret_interface[TEST_INTERFACE_BYTES]);

/* Post as a foreign program would: name alone. */
void test_peer_post(test_peer *peer, const char *name);
void test_peer_post_name(test_peer *peer, const char *interface, const char *name);
/* Post with all three arguments. */
void test_peer_post_full(test_peer *peer, const char *interface, const char *name,
                         uint64_t generation, uint64_t region);
/* A signal of any shape; `signature` with its values as in sd_bus_message_append(). */
void test_peer_post_values(test_peer *peer, const char *path, const char *interface,
                           const char *member, const char *signature, ...);
/* A signal to one connection alone, with the name as its argument. */
void test_peer_post_to(test_peer *peer, const char *destination, const char *interface,
                       const char *name);
/* Returns when the bus has read everything that was posted before. */
void test_peer_sync(test_peer *peer);

/* Subscribes; the next signals that fit come out of test_peer_next(), oldest first. */
void test_peer_watch(test_peer *peer, const char *rule);
/* Waits for a signal of a path below /org/darwinnotify; fails the case when none comes. */
void test_peer_next(test_peer *peer, test_signal *ret_signal);

/* Whether the bus knows the connection (now, or not any more). */
bool test_peer_sees(test_peer *peer, const char *unique_name);
/* How many connections the process has on this bus. */
unsigned test_peer_n_connections(test_peer *peer, int pid);
/* The match rules the bus holds for a connection; -1 where this bus does not tell. */
long test_peer_n_rules(test_peer *peer, const char *unique_name);

#endif
