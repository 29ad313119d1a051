/* What the bus reports about its connections. */
#include <string.h>
#include <systemd/sd-bus.h>

#include "test.h"
#include "test-peer-private.h"

bool test_peer_sees(test_peer *peer, const char *unique_name)
{
        sd_bus_message *reply = NULL;
        int has = 0;

        test_peer_call(peer, "org.freedesktop.DBus", "NameHasOwner", &reply, "s", unique_name);
        test_peer_must(sd_bus_message_read(reply, "b", &has), "NameHasOwner");
        sd_bus_message_unref(reply);
        return has;
}

/* 0 for a connection that has just gone. */
static int pid_of(test_peer *peer, const char *unique_name)
{
        sd_bus_message *reply = NULL;
        uint32_t pid = 0;

        int r = sd_bus_call_method(peer->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                   "org.freedesktop.DBus", "GetConnectionUnixProcessID", NULL,
                                   &reply, "s", unique_name);
        if (r >= 0)
                test_peer_must(sd_bus_message_read(reply, "u", &pid), "process id");
        sd_bus_message_unref(reply);
        return (int)pid;
}

unsigned test_peer_n_connections(test_peer *peer, int pid)
{
        sd_bus_message *reply = NULL;
        const char *name;
        unsigned n = 0;

        test_peer_call(peer, "org.freedesktop.DBus", "ListNames", &reply, "");
        test_peer_must(sd_bus_message_enter_container(reply, 'a', "s"), "ListNames");
        while (sd_bus_message_read(reply, "s", &name) > 0)
                if (name[0] == ':' && strcmp(name, peer->unique_name) != 0 &&
                    pid_of(peer, name) == pid)
                        n++;
        sd_bus_message_unref(reply);
        return n;
}

/* dbus-daemon answers with a{sv}; dbus-broker does not know the method. */
static long rules_of_reply(sd_bus_message *reply)
{
        const char *key;
        uint32_t n_rules;

        test_peer_must(sd_bus_message_enter_container(reply, 'a', "{sv}"), "stats");
        while (sd_bus_message_enter_container(reply, 'e', "sv") > 0) {
                test_peer_must(sd_bus_message_read(reply, "s", &key), "stats");
                if (strcmp(key, "MatchRules") == 0) {
                        test_peer_must(sd_bus_message_read(reply, "v", "u", &n_rules), "stats");
                        return n_rules;
                }
                test_peer_must(sd_bus_message_skip(reply, "v"), "stats");
                test_peer_must(sd_bus_message_exit_container(reply), "stats");
        }
        return -1;
}

long test_peer_n_rules(test_peer *peer, const char *unique_name)
{
        sd_bus_message *reply = NULL;
        long n_rules;

        sd_bus_call_method(peer->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                           "org.freedesktop.DBus.Debug.Stats", "GetConnectionStats", NULL, &reply,
                           "s", unique_name);
        n_rules = reply ? rules_of_reply(reply) : -1;
        sd_bus_message_unref(reply);
        return n_rules;
}
