/* Another program: a foreign one on the bus or, where there is none, one with the library. */
#include "test-peer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test-bus.h"
#include "test-child.h"
#include "test.h"
#include "test-peer-private.h"
#include "test-private.h"

static bool is_without_bus(void)
{
        const char *bus = getenv("DARWIN_NOTIFY_BUS");

        return bus && strcmp(bus, "none") == 0;
}

test_peer *test_peer_open(const char *address)
{
        test_peer *peer = calloc(1, sizeof *peer);

        if (!peer)
                test_broken("out of memory");
        test_leave_to_exit(peer);
        if (DN_HAS_BUS && !is_without_bus())
                test_peer_connect(peer, address);
        return peer;
}

test_peer *test_peer_open_watching(const test_bus *bus)
{
        test_peer *peer = test_peer_open(test_bus_address(bus));

        test_peer_watch(peer, TEST_WIRE_RULE);
        return peer;
}

test_peer *test_peer_begin(void)
{
        return test_peer_open_watching(test_bus_begin());
}

test_peer *test_peer_close(test_peer *peer)
{
        if (!peer)
                return NULL;
        if (peer->poster)
                test_child_wait(peer->poster);
        if (DN_HAS_BUS && peer->bus)
                test_peer_disconnect(peer);
        free(peer);
        return NULL;
}

bool test_peer_is_connected(const test_peer *peer)
{
        return peer->bus != NULL;
}

const char *test_peer_unique_name(const test_peer *peer)
{
        return peer->unique_name;
}

void test_wire_interface(const char *name, char ret_interface[TEST_INTERFACE_BYTES])
{
        char *out = ret_interface + sprintf(ret_interface, "%s", TEST_WIRE_PREFIX);
        const char *end = ret_interface + TEST_INTERFACE_BYTES;
        bool leads = true; /* at the start of an element */

        for (const char *at = name; *at; at++) {
                bool letter = isalpha((unsigned char)*at) && (unsigned char)*at < 128;
                bool digit = *at >= '0' && *at <= '9' && !leads;
                bool dot = *at == '.' && at > name && at[-1] != '.' && at[1] && at[1] != '.';
                if (end - out < 4)
                        test_broken("the interface of %s needs a hash", name);
                if (letter || digit || dot)
                        *out++ = *at;
                else
                        out += sprintf(out, "_%02x", (unsigned char)*at);
                leads = dot;
        }
        *out = '\0';
}

void test_peer_watch(test_peer *peer, const char *rule)
{
        if (DN_HAS_BUS && peer->bus)
                test_peer_add_rule(peer, rule);
}

static void post_in_table(test_peer *peer, const char *name)
{
        if (!peer->poster)
                peer->poster = test_spawn_role("testPeer", NULL);
        if (strcmp(test_child_ask(peer->poster, name), "posted") != 0)
                test_broken("the other process cannot post %s", name);
}

void test_peer_post(test_peer *peer, const char *name)
{
        char interface[TEST_INTERFACE_BYTES];

        if (!DN_HAS_BUS || !peer->bus) {
                post_in_table(peer, name);
                return;
        }
        test_wire_interface(name, interface);
        test_peer_post_name(peer, interface, name);
}
