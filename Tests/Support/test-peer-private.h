/* Shared internals of the two halves of the foreign peer. */
#pragma once

#include <systemd/sd-bus.h>

#include "test-peer.h"

struct test_peer {
        sd_bus *bus;             /* NULL: there is none */
        const char *unique_name; /* borrowed from `bus` */
        struct test_child *poster; /* in its place; NULL: not needed so far */
};

/* Fails the case if the peer is not on a bus. */
void test_peer_need_bus(const test_peer *peer);
/* Fails the case if `r` is an error. */
void test_peer_must(int r, const char *what);
/* Calls the bus driver. */
void test_peer_call(test_peer *peer, const char *interface, const char *member,
                    sd_bus_message **ret_reply, const char *signature, ...);
