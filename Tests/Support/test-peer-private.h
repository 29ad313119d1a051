/* Shared internals of the two halves of the foreign peer. */
#pragma once

#include "test-peer.h"

struct sd_bus;
struct sd_bus_message;

struct test_peer {
        struct sd_bus *bus;        /* NULL: there is none */
        const char *unique_name;   /* borrowed from `bus` */
        struct test_child *poster; /* in its place; NULL: not needed so far */
};

/* --- On a bus (test-peer-bus.c) --------------------------------------------------------------- */

void test_peer_connect(test_peer *peer, const char *address);
void test_peer_disconnect(test_peer *peer);
void test_peer_add_rule(test_peer *peer, const char *rule);
/* Fails the case if `r` is an error. */
void test_peer_must(int r, const char *what);
/* Calls the bus driver. */
void test_peer_call(test_peer *peer, const char *interface, const char *member,
                    struct sd_bus_message **ret_reply, const char *signature, ...);
