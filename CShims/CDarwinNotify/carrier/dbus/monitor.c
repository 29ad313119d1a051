/* A separate connection that reports every post on a bus.
 *
 * The bus identifies a poster on request. A post waits until the answer for its sender arrives, and
 * later posts wait behind it, to preserve their order. */
#include "carrier/dbus/monitor.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>

#include "carrier/dbus/connection.h"
#include "carrier/dbus/peers.h"
#include "carrier/dbus/waiting.h"
#include "carrier/dbus/wire.h"
#include "util/clock.h"
#include "util/text.h"

/* Limit of posts waiting for an answer. The answer comes after the posts the bus had already
 * queued: if there are more than this, the first is reported without it. */
#define MAX_WAITING 1024

static const dn__wire *const wires[] = { &dn__wire_darwin, &dn__wire_distributed };

#define N_WIRES (sizeof(wires) / sizeof(wires[0]))

/* For connections coming and going, and for the posts of each kind of center. */
#define N_RULES (1 + N_WIRES)

typedef struct monitor {
        dn__connection connection;
        dn__peers peers;
        dn__waiting waiting;
        const dn_watcher *watcher;
        const char *prefix;
        sd_bus_slot *rules[N_RULES];
        unsigned n_confirmed;
        bool is_refused;
} monitor;

/* Callers see every failure of the connection as a lost connection. */
static int lost_error(int r)
{
        return r == -ENOMEM ? -ENOMEM : -ENOTCONN;
}

static int result_of_callback(int r)
{
        return r < 0 ? -EINVAL : r;
}

/* --- Waiting posts --------------------------------------------------------------------------- */

static int report_first(monitor *monitor)
{
        dn__waiting_post *first = dn__waiting_first(&monitor->waiting);
        const dn__peer *peer = first->peer;
        dn_post_record record = {
                .time_us = first->time_us,
                .center = first->post.origin.center,
                .name = first->post.name.text,
                .sender = first->post.origin.sender,
                .pid = peer && peer->is_known ? peer->number : 0,
                .program = peer ? peer->program : NULL,
                .generation = first->post.generation,
                .region = first->post.region,
                .object = first->post.body.object,
                .user_info = first->post.body.user_info,
                .number = first->post.body.number,
        };
        int r;

        dn__waiting_take(&monitor->waiting, first);
        r = monitor->watcher->post(&record, monitor->watcher->context);
        dn__waiting_post_free(first);
        return result_of_callback(r);
}

static bool first_is_due(const monitor *monitor)
{
        return dn__waiting_get_until(&monitor->waiting) <= dn__clock_now_us() ||
               monitor->waiting.n_posts > MAX_WAITING;
}

static int report_due(monitor *monitor)
{
        int r = 0;

        while (r == 0 && first_is_due(monitor))
                r = report_first(monitor);
        return r;
}

/* Reports the last posts of a bus that has gone. */
static int report_all(monitor *monitor)
{
        int r = 0;

        while (r == 0 && dn__waiting_first(&monitor->waiting))
                r = report_first(monitor);
        return r;
}

/* --- The connection -------------------------------------------------------------------------- */

/* Accepts posts of any kind of center. */
static bool read_post(sd_bus_message *message, dn__post *ret_post)
{
        for (size_t i = 0; i < N_WIRES; i++)
                if (dn__wire_read_post(wires[i], message, ret_post))
                        return true;
        return false;
}

/* Returns 0 or -ENOMEM. */
static int handle(monitor *monitor, sd_bus_message *message)
{
        dn__post post;
        int r = 0;

        if (sd_bus_message_is_method_call(message, NULL, NULL) > 0) {
                dn__connection_refuse_call(message);
                return 0;
        }
        if (!read_post(message, &post)) {
                dn__peers_handle(&monitor->peers, message);
                return 0;
        }
        if (dn__text_begins_with(post.name.text, monitor->prefix))
                r = dn__waiting_add(&monitor->waiting, &post,
                                    dn__peers_get(&monitor->peers, post.origin.sender));
        dn__post_release(&post);
        return r;
}

/* Waits until there is something to read, write or time out, but no later than `until_us`. */
static int wait_for_bus(monitor *monitor, uint64_t until_us)
{
        struct pollfd wait = { .fd = -1 };
        uint64_t bus_until_us;
        int r;

        r = dn__connection_get_wait(&monitor->connection, &wait.fd, &wait.events, &bus_until_us);
        if (r < 0)
                return lost_error(r);
        if (bus_until_us < until_us)
                until_us = bus_until_us;
        r = dn__clock_poll(&wait, 1, until_us);
        return r < 0 && errno != EINTR ? -ENOTCONN : 0;
}

/* Does one step, or waits for one. Returns 0, -ENOMEM, or -ENOTCONN. */
static int advance(monitor *monitor, uint64_t until_us)
{
        sd_bus_message *message DN__UNREFS_MESSAGE = NULL;
        int n;

        n = dn__connection_step(&monitor->connection, &message);
        if (n < 0)
                return lost_error(n);
        if (message)
                return handle(monitor, message);
        return n > 0 ? 0 : wait_for_bus(monitor, until_us);
}

static int rule_answered(sd_bus_message *answer, void *context, sd_bus_error *error)
{
        monitor *monitor = context;

        (void)error;
        if (!sd_bus_message_is_method_error(answer, NULL))
                monitor->n_confirmed++;
        else if (!sd_bus_message_is_method_error(answer, SD_BUS_ERROR_NO_REPLY))
                monitor->is_refused = true; /* else the next step reports the lost connection */
        return 1;
}

/* Connections first, so that every poster heard is also heard to leave. */
static int ask_for_signals(monitor *monitor)
{
        char rule[DN__WIRE_RULE_BYTES];
        dn__question question = { "AddMatch", rule, rule_answered, monitor };
        int r;

        r = dn__peers_watch(&monitor->peers, rule_answered, monitor, &monitor->rules[0]);
        for (size_t i = 0; r == 0 && i < N_WIRES; i++) {
                dn__wire_write_rule(wires[i], NULL, rule);
                r = dn__connection_ask(&monitor->connection, &question, &monitor->rules[1 + i]);
        }
        return r < 0 ? lost_error(r) : 0;
}

/* Returns when the bus delivers signals, or after a time limit. */
static int begin(monitor *monitor, const dn__address *address)
{
        uint64_t until_us = dn__clock_after_us(DN__CONNECTION_TIMEOUT_US);
        int r;

        r = dn__connection_open(&monitor->connection, address);
        if (r < 0)
                return lost_error(r);
        while (r == 0 && !dn__connection_is_ready(&monitor->connection))
                r = dn__clock_now_us() < until_us ? advance(monitor, until_us) : -ENOTCONN;
        if (r == 0)
                r = ask_for_signals(monitor);
        while (r == 0 && monitor->n_confirmed < N_RULES && !monitor->is_refused)
                r = dn__clock_now_us() < until_us ? advance(monitor, until_us) : -ENOTCONN;
        return r == 0 && monitor->is_refused ? -ENOBUFS : r;
}

/* Reports posts until a callback stops it or the connection is lost. */
static int run(monitor *monitor)
{
        const dn_watcher *watcher = monitor->watcher;
        int r, ended;

        r = watcher->ready ? result_of_callback(watcher->ready(watcher->context)) : 0;
        if (r == 0)
                r = report_due(monitor);
        while (r == 0) {
                r = advance(monitor, dn__waiting_get_until(&monitor->waiting));
                ended = r < 0 ? report_all(monitor) : report_due(monitor);
                r = ended ? ended : r;
        }
        return r;
}

static void end(monitor *monitor)
{
        dn__waiting_deinit(&monitor->waiting);
        dn__peers_deinit(&monitor->peers);
        for (size_t i = 0; i < N_RULES; i++)
                (void)sd_bus_slot_unref(monitor->rules[i]);
        dn__connection_close(&monitor->connection);
}

int dn__monitor_run(const dn__address *address, const char *prefix, const dn_watcher *watcher)
{
        monitor monitor = { .prefix = prefix, .watcher = watcher };
        int r;

        dn__peers_init(&monitor.peers, &monitor.connection, DN__PEER_PROCESS);
        dn__waiting_init(&monitor.waiting);
        r = begin(&monitor, address);
        if (r == 0)
                r = run(&monitor);
        end(&monitor);
        return r;
}
