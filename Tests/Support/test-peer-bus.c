/* What the foreign peer sends on the bus, and hears there. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "test.h"
#include "test-peer-private.h"

void test_peer_must(int r, const char *what)
{
        if (r < 0)
                test_fail(__FILE__, __LINE__, "foreign peer, %s: %s", what, strerror(-r));
}

void test_peer_connect(test_peer *peer, const char *address)
{
        test_peer_must(sd_bus_new(&peer->bus), "new");
        test_peer_must(sd_bus_set_address(peer->bus, address), "address");
        test_peer_must(sd_bus_set_bus_client(peer->bus, 1), "client");
        test_peer_must(sd_bus_start(peer->bus), "start");
        test_peer_must(sd_bus_get_unique_name(peer->bus, &peer->unique_name), "connect");
}

void test_peer_disconnect(test_peer *peer)
{
        sd_bus_flush_close_unref(peer->bus);
}

static void need_bus(const test_peer *peer)
{
        if (!peer->bus)
                test_broken("this needs a bus: the case is one for TEST_ON_BUS()");
}

static void send_signal(test_peer *peer, const char *destination, sd_bus_message *m)
{
        if (destination)
                test_peer_must(sd_bus_message_set_destination(m, destination), "destination");
        test_peer_must(sd_bus_send(peer->bus, m, NULL), "send");
        sd_bus_message_unref(m);
}

static sd_bus_message *new_signal(test_peer *peer, const char *path, const char *interface,
                                  const char *member)
{
        sd_bus_message *m = NULL;

        need_bus(peer);
        test_peer_must(sd_bus_message_new_signal(peer->bus, &m, path, interface, member), "signal");
        return m;
}

void test_peer_post_to(test_peer *peer, const char *destination, const char *interface,
                       const char *name)
{
        sd_bus_message *m = new_signal(peer, TEST_WIRE_PATH, interface, TEST_WIRE_MEMBER);

        test_peer_must(sd_bus_message_append(m, "s", name), "append");
        send_signal(peer, destination, m);
}

void test_peer_post_values(test_peer *peer, const char *path, const char *interface,
                           const char *member, const char *signature, ...)
{
        sd_bus_message *m = new_signal(peer, path, interface, member);
        va_list values;

        va_start(values, signature);
        if (signature && signature[0])
                test_peer_must(sd_bus_message_appendv(m, signature, values), "append");
        va_end(values);
        send_signal(peer, NULL, m);
}

void test_peer_sync(test_peer *peer)
{
        sd_bus_message *reply = NULL;

        test_peer_call(peer, "org.freedesktop.DBus", "GetId", &reply, "");
        sd_bus_message_unref(reply);
}

void test_peer_call(test_peer *peer, const char *interface, const char *member,
                    sd_bus_message **ret_reply, const char *signature, ...)
{
        sd_bus_message *m = NULL;
        va_list values;

        need_bus(peer);
        test_peer_must(sd_bus_message_new_method_call(peer->bus, &m, "org.freedesktop.DBus",
                                                      "/org/freedesktop/DBus", interface, member),
                       member);
        va_start(values, signature);
        if (signature[0])
                test_peer_must(sd_bus_message_appendv(m, signature, values), member);
        va_end(values);
        uint64_t timeout_us = TEST_DEADLINE_US;
        test_peer_must(sd_bus_call(peer->bus, m, timeout_us, NULL, ret_reply), member);
        sd_bus_message_unref(m);
}

void test_peer_add_rule(test_peer *peer, const char *rule)
{
        sd_bus_message *reply = NULL;

        test_peer_call(peer, "org.freedesktop.DBus", "AddMatch", &reply, "s", rule);
        sd_bus_message_unref(reply);
}

void test_peer_post_name(test_peer *peer, const char *interface, const char *name)
{
        test_peer_post_to(peer, NULL, interface, name);
}

void test_peer_post_full(test_peer *peer, const char *interface, const char *name,
                         uint64_t generation, uint64_t region)
{
        test_peer_post_values(peer, TEST_WIRE_PATH, interface, TEST_WIRE_MEMBER, "stt", name,
                              generation, region);
}

static void copy_text(char *ret_text, size_t text_bytes, const char *text)
{
        snprintf(ret_text, text_bytes, "%s", text ? text : "");
}

static void read_signal(sd_bus_message *m, test_signal *ret)
{
        const char *name = NULL, *signature = sd_bus_message_get_signature(m, 1);

        memset(ret, 0, sizeof *ret);
        copy_text(ret->sender, sizeof ret->sender, sd_bus_message_get_sender(m));
        copy_text(ret->path, sizeof ret->path, sd_bus_message_get_path(m));
        copy_text(ret->interface, sizeof ret->interface, sd_bus_message_get_interface(m));
        copy_text(ret->member, sizeof ret->member, sd_bus_message_get_member(m));
        copy_text(ret->signature, sizeof ret->signature, signature);
        if (signature && signature[0] == 's')
                test_peer_must(sd_bus_message_read(m, "s", &name), "read");
        copy_text(ret->name, sizeof ret->name, name);
        if (signature && strncmp(signature, "stt", 3) == 0)
                test_peer_must(sd_bus_message_read(m, "tt", &ret->generation, &ret->region),
                               "read");
}

void test_peer_next(test_peer *peer, test_signal *ret_signal)
{
        uint64_t deadline = test_deadline_us();

        need_bus(peer);
        for (;;) {
                sd_bus_message *m = NULL;
                int r = sd_bus_process(peer->bus, &m);
                const char *path = m ? sd_bus_message_get_path(m) : NULL;

                test_peer_must(r, "process");
                if (path && strncmp(path, "/org/darwinnotify/", 18) == 0) {
                        read_signal(m, ret_signal);
                        sd_bus_message_unref(m);
                        return;
                }
                sd_bus_message_unref(m);
                if (test_now_us() > deadline)
                        test_fail(__FILE__, __LINE__, "the foreign peer hears nothing");
                if (r == 0)
                        sd_bus_wait(peer->bus, 100000);
        }
}

void test_peer_expect(test_peer *peer, const char *name)
{
        test_signal signal;

        test_peer_next(peer, &signal);
        CHECK_STREQ(signal.name, name);
}

void test_peer_await(test_peer *peer, const char *name, test_signal *ret_signal)
{
        test_signal signal;

        do
                test_peer_next(peer, &signal);
        while (strcmp(signal.name, name) != 0);
        if (ret_signal)
                *ret_signal = signal;
}
