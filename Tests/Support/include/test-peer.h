/* An independent D-Bus program: a plain sd-bus connection, without the library under test.
 *
 * Where there is no bus it is a process with the library, which only posts: in its role "testPeer"
 * it posts each name that it reads and answers "posted". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "test-bus.h"
#include "test.h"

#define TEST_WIRE_PATH "/org/darwinnotify/Darwin1"
#define TEST_WIRE_PREFIX "org.darwinnotify.Darwin1."
#define TEST_WIRE_MEMBER "Posted"
#define TEST_WIRE_RULE "type='signal',path_namespace='" TEST_WIRE_PATH "'"
#define TEST_INTERFACE_BYTES 256

typedef struct test_peer test_peer;

/* A signal as seen on the bus. */
typedef struct test_signal {
        char sender[64];
        char path[256];
        char interface[256];
        char member[256];
        char signature[256];
        char name[1024]; /* the first argument if it is a string */
        uint64_t generation;
        uint64_t region;
} test_signal;

test_peer *test_peer_open(const char *address);
/* Opens one that watches every post on the bus. */
test_peer *test_peer_open_watching(const test_bus *bus);
/* The same on a bus that it begins as test_bus_begin() does. */
test_peer *test_peer_begin(void);
test_peer *test_peer_close(test_peer *peer);
const char *test_peer_unique_name(const test_peer *peer);
bool test_peer_is_connected(const test_peer *peer);
static inline bool test_peer_is_on_bus(const test_peer *peer)
{
        return DN_HAS_BUS && test_peer_is_connected(peer);
}

/* The interface that encodes a name, computed independently of the library. Only for names whose
 * interface needs no hash. */
void test_wire_interface(const char *name, char ret_interface[TEST_INTERFACE_BYTES]);

/* Posts as a foreign program would, with the name only. */
void test_peer_post(test_peer *peer, const char *name);
void test_peer_post_name(test_peer *peer, const char *interface, const char *name);
/* Posts with all three arguments. */
void test_peer_post_full(test_peer *peer, const char *interface, const char *name,
                         uint64_t generation, uint64_t region);
/* Sends a signal of any form; `signature` and its values as in sd_bus_message_append(). */
void test_peer_post_values(test_peer *peer, const char *path, const char *interface,
                           const char *member, const char *signature, ...);
/* Sends a signal to one connection only, with the name as its argument. */
void test_peer_post_to(test_peer *peer, const char *destination, const char *interface,
                       const char *name);
/* Returns when the bus has read everything that was posted before. */
void test_peer_sync(test_peer *peer);

/* Subscribes; matching signals are returned by test_peer_next(), oldest first. Without a bus it
 * does nothing. */
void test_peer_watch(test_peer *peer, const char *rule);
/* Waits for a signal from a path below /org/darwinnotify; fails the case if none arrives. */
void test_peer_next(test_peer *peer, test_signal *ret_signal);
/* Waits for the next one, which must have this name. */
void test_peer_expect(test_peer *peer, const char *name);
/* Waits until one has this name. `ret_signal` may be NULL. */
void test_peer_await(test_peer *peer, const char *name, test_signal *ret_signal);

/* Returns whether the bus (still) knows the connection. */
bool test_peer_sees(test_peer *peer, const char *unique_name);
/* Returns how many connections the process has on this bus. */
unsigned test_peer_n_connections(test_peer *peer, int pid);
/* Returns the number of match rules the bus holds for a connection; -1 if this bus does not report
 * it. */
long test_peer_n_rules(test_peer *peer, const char *unique_name);
