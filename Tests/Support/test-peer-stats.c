/* What the bus reports about its connections. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "test.h"
#include "test-peer-private.h"

#define STATS "org.freedesktop.DBus.Debug.Stats"

static bool name_has_owner(test_peer *peer, const char *name)
{
        sd_bus_message *reply = NULL;
        int has = 0;

        test_peer_call(peer, "org.freedesktop.DBus", "NameHasOwner", &reply, "s", name);
        test_peer_must(sd_bus_message_read(reply, "b", &has), "NameHasOwner");
        sd_bus_message_unref(reply);
        return has;
}

bool test_peer_sees(test_peer *peer, const char *unique_name)
{
        return name_has_owner(peer, unique_name);
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

/* dbus-daemon answers with a{sv} for one connection. */
static long rules_from_daemon(sd_bus_message *reply)
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

/* One entry of the broker's PeerAccounting: (sa{sv}a{su}). */
static long rules_of_entry(sd_bus_message *reply, const char *unique_name)
{
        const char *name, *key;
        uint32_t value;
        long n_rules = -1;

        test_peer_must(sd_bus_message_read(reply, "s", &name), "stats");
        test_peer_must(sd_bus_message_skip(reply, "a{sv}"), "stats");
        test_peer_must(sd_bus_message_enter_container(reply, 'a', "{su}"), "stats");
        while (sd_bus_message_read(reply, "{su}", &key, &value) > 0)
                if (strcmp(name, unique_name) == 0 && strcmp(key, "Matches") == 0)
                        n_rules = value;
        test_peer_must(sd_bus_message_exit_container(reply), "stats");
        return n_rules;
}

/* dbus-broker answers with a{sv} for the whole bus, the connections first. */
static long rules_from_broker(sd_bus_message *reply, const char *unique_name)
{
        const char *key;
        long n_rules = -1;

        test_peer_must(sd_bus_message_enter_container(reply, 'a', "{sv}"), "stats");
        test_peer_must(sd_bus_message_enter_container(reply, 'e', "sv"), "stats");
        test_peer_must(sd_bus_message_read(reply, "s", &key), "stats");
        if (strcmp(key, "org.bus1.DBus.Debug.Stats.PeerAccounting") != 0)
                return -1;
        test_peer_must(sd_bus_message_enter_container(reply, 'v', "a(sa{sv}a{su})"), "stats");
        test_peer_must(sd_bus_message_enter_container(reply, 'a', "(sa{sv}a{su})"), "stats");
        while (n_rules < 0 && sd_bus_message_enter_container(reply, 'r', "sa{sv}a{su}") > 0) {
                n_rules = rules_of_entry(reply, unique_name);
                test_peer_must(sd_bus_message_exit_container(reply), "stats");
        }
        return n_rules;
}

static sd_bus_message *ask_stats(test_peer *peer, const char *member, const char *signature,
                                 const char *argument)
{
        sd_bus_message *reply = NULL;

        sd_bus_call_method(peer->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", STATS,
                           member, NULL, &reply, signature, argument);
        return reply;
}

long test_peer_n_rules(test_peer *peer, const char *unique_name)
{
        sd_bus_message *reply = ask_stats(peer, "GetConnectionStats", "s", unique_name);
        long n_rules = -1;

        if (reply) {
                n_rules = rules_from_daemon(reply);
        } else if ((reply = ask_stats(peer, "GetStats", "", NULL))) {
                n_rules = rules_from_broker(reply, unique_name);
        }
        sd_bus_message_unref(reply);
        return n_rules;
}
