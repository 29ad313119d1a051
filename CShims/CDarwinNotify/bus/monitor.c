/* A separate connection that reports every post on a bus.
 *
 * The bus identifies a poster on request. A post waits until the answer for its sender arrives, and
 * later posts wait behind it, to preserve their order. */
#include "bus/monitor.h"

#include <errno.h>
#include <stdlib.h>

#include "bus/connection.h"
#include "bus/peers.h"
#include "bus/waiting.h"
#include "bus/wire.h"
#include "util/clock.h"
#include "util/text.h"

/* Limit of posts waiting for an answer. The answer comes after the posts the bus had already
 * queued: if there are more than this, the first is reported without it. */
#define MAX_WAITING 1024

static const dn__wire *const wires[] = { &dn__wire_darwin, &dn__wire_distributed };

#define N_WIRES (sizeof(wires) / sizeof(wires[0]))

/* For connections coming and going, and for the posts of each kind of center. */
#define N_RULES (1 + N_WIRES)

/* Work allowed before the caller gets its turn. */
#define TURN_N_STEPS 256

struct dn__monitor {
        dn__connection connection;
        dn__peers peers;
        dn__waiting waiting;
        const dn_watcher *watcher;
        const char *prefix;
        uint64_t answer_us; /* until when the bus has to be ready */
        sd_bus_slot *rules[N_RULES];
        bool is_asked; /* for the signals */
        unsigned n_confirmed;
        bool is_refused;
        bool is_ready;
};

/* Callers see every failure of the connection as a lost connection. */
static int lost_error(int r)
{
        return r == -ENOMEM ? -ENOMEM : -ENOTCONN;
}

/* --- Waiting posts --------------------------------------------------------------------------- */

static int report_first(dn__monitor *monitor)
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
        return r;
}

static bool first_is_due(const dn__monitor *monitor)
{
        return dn__waiting_get_until(&monitor->waiting) <= dn__clock_now_us() ||
               monitor->waiting.n_posts > MAX_WAITING;
}

static int report_due(dn__monitor *monitor)
{
        int r = 0;

        while (r == 0 && first_is_due(monitor))
                r = report_first(monitor);
        return r;
}

/* Reports the last posts of a bus that has gone. */
static int report_all(dn__monitor *monitor)
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
static int handle(dn__monitor *monitor, sd_bus_message *message)
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

static int rule_answered(sd_bus_message *answer, void *context, sd_bus_error *error)
{
        dn__monitor *monitor = context;

        (void)error;
        if (!sd_bus_message_is_method_error(answer, NULL))
                monitor->n_confirmed++;
        else if (!sd_bus_message_is_method_error(answer, SD_BUS_ERROR_NO_REPLY))
                monitor->is_refused = true; /* else the next step reports the lost connection */
        return 1;
}

/* Connections first, so that every poster heard is also heard to leave. */
static int ask_for_signals(dn__monitor *monitor)
{
        char rule[DN__WIRE_RULE_BYTES];
        dn__question question = { "AddMatch", "s", rule, rule_answered, monitor };
        int r;

        r = dn__peers_watch(&monitor->peers, rule_answered, monitor, &monitor->rules[0]);
        for (size_t i = 0; r == 0 && i < N_WIRES; i++) {
                dn__wire_write_rule(wires[i], NULL, false, rule);
                r = dn__connection_ask(&monitor->connection, &question, &monitor->rules[1 + i]);
        }
        return r < 0 ? lost_error(r) : 0;
}

/* Sets up what is to be set up next. Returns 0, a callback's result, or a negative errno. */
static int set_up(dn__monitor *monitor)
{
        const dn_watcher *watcher = monitor->watcher;

        if (monitor->is_refused)
                return -ENOBUFS;
        if (!monitor->is_asked && dn__connection_is_ready(&monitor->connection)) {
                monitor->is_asked = true;
                return ask_for_signals(monitor);
        }
        if (monitor->n_confirmed < N_RULES)
                return dn__clock_now_us() < monitor->answer_us ? 0 : -ENOTCONN;
        monitor->is_ready = true;
        return watcher->ready ? watcher->ready(watcher->context) : 0;
}

/* Does one step. Returns 0, -ENOMEM or -ENOTCONN. */
static int take_step(dn__monitor *monitor, bool *ret_is_idle)
{
        sd_bus_message *message DN__UNREFS_MESSAGE = NULL;
        int n;

        n = dn__connection_step(&monitor->connection, &message);
        *ret_is_idle = n <= 0;
        if (n < 0)
                return lost_error(n);
        return message ? handle(monitor, message) : 0;
}

int dn__monitor_advance(dn__monitor *monitor)
{
        bool is_idle = false;
        int r = 0, reported;

        for (int i = 0; r == 0 && !is_idle && i < TURN_N_STEPS; i++) {
                r = take_step(monitor, &is_idle);
                if (r == 0 && !monitor->is_ready)
                        r = set_up(monitor);
                if (!monitor->is_ready)
                        continue;
                reported = r < 0 ? report_all(monitor) : report_due(monitor);
                r = reported ? reported : r;
        }
        return r;
}

void dn__monitor_get_wait(dn__monitor *monitor, struct pollfd *ret_wait, uint64_t *ret_until_us)
{
        uint64_t until_us = dn__waiting_get_until(&monitor->waiting);

        *ret_wait = (struct pollfd){ .fd = -1 };
        /* A broken connection shows in the next step. */
        if (dn__connection_get_wait(&monitor->connection, &ret_wait->fd, &ret_wait->events,
                                    ret_until_us) < 0)
                *ret_until_us = 0;
        if (!monitor->is_ready && monitor->answer_us < until_us)
                until_us = monitor->answer_us;
        if (until_us < *ret_until_us)
                *ret_until_us = until_us;
}

int dn__monitor_open(const dn__address *address, const char *prefix, const dn_watcher *watcher,
                     dn__monitor **ret_monitor)
{
        dn__monitor *monitor = calloc(1, sizeof(*monitor));
        int r;

        if (!monitor)
                return -ENOMEM;
        monitor->prefix = prefix;
        monitor->watcher = watcher;
        monitor->answer_us = dn__clock_after_us(DN__CONNECTION_TIMEOUT_US);
        dn__peers_init(&monitor->peers, &monitor->connection, DN__PEER_PROCESS);
        dn__waiting_init(&monitor->waiting);
        r = dn__connection_open(&monitor->connection, address);
        if (r < 0) {
                (void)dn__monitor_close(monitor);
                return lost_error(r);
        }
        *ret_monitor = monitor;
        return 0;
}

dn__monitor *dn__monitor_close(dn__monitor *monitor)
{
        if (!monitor)
                return NULL;
        dn__waiting_deinit(&monitor->waiting);
        dn__peers_deinit(&monitor->peers);
        for (size_t i = 0; i < N_RULES; i++)
                (void)sd_bus_slot_unref(monitor->rules[i]);
        dn__connection_close(&monitor->connection);
        free(monitor);
        return NULL;
}
