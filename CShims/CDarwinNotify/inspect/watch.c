/* Watches every post on a bus, over a connection of its own.
 *
 * The bus identifies a poster on request. A post waits until the reply about its sender
 * arrives, and later posts wait for it, to preserve their order. */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bus/connection.h"
#include "bus/dbus.h"
#include "bus/peers.h"
#include "darwinnotify/inspect.h"
#include "inspect/watch-fd.h"
#include "util/clock.h"
#include "util/fork.h"
#include "util/gate.h"
#include "util/host.h"
#include "util/reserved.h"
#include "util/text.h"

/* The result of a watch that was stopped. */
#define STOPPED 1

/* Limit of posts waiting for an answer. The answer comes after the posts the bus had already
 * queued: if there are more than this, the first is reported without it. */
#define MAX_WAITING 1024

/* Work allowed before the caller gets its turn. */
#define TURN_N_STEPS 256

/* The time between two looks if the descriptor cannot be polled. */
#define UNPOLLED_US (100 * DN__US_PER_MS)

static const dn__wire *const wires[] = { &dn__wire_darwin, &dn__wire_distributed };

#define N_WIRES (sizeof(wires) / sizeof(wires[0]))

/* For connections coming and going, and for the posts of each kind of center. */
#define N_RULES (1 + N_WIRES)

struct dn_watch {
        uint64_t fork_id; /* of the process that opened it */
        dn_watcher watcher;
        dn__watch_fd fd; /* for the host */
        _Atomic bool is_stopped;
        int result; /* 0 while it goes on */
        dn__connection connection;
        dn__peers peers;
        dn__waiting waiting;
        uint64_t answer_us; /* the deadline for the bus to be ready */
        sd_bus_slot *rules[N_RULES];
        unsigned n_asked; /* rules */
        unsigned n_confirmed;
        bool is_refused;
        bool is_ready;
        char prefix[];
};

/* Callers see every failure of the connection as a lost connection. */
static int lost_error(int r)
{
        return r == -ENOMEM ? -ENOMEM : -ENOTCONN;
}

/* --- Posts ------------------------------------------------------------------------------------ */

/* A call of the host: that the watch is ready, or of a post. */
typedef struct report_call {
        const dn_watcher *watcher;
        const dn_post_record *record;
        int r; /* as the host returns it */
} report_call;

static void run_watcher(void *context)
{
        report_call *call = context;
        const dn_watcher *watcher = call->watcher;

        if (call->record)
                call->r = watcher->post(call->record, watcher->context);
        else if (watcher->ready)
                call->r = watcher->ready(watcher->context);
}

/* The callback, or another thread meanwhile, may have stopped the watch, or begun to exit. */
static int call_watcher(const dn_watch *watch, const dn_post_record *record)
{
        report_call call = { &watch->watcher, record, 0 };

        if (!dn__host_handle(run_watcher, &call))
                return STOPPED;
        if (call.r == 0 && atomic_load(&watch->is_stopped))
                return STOPPED;
        return call.r < 0 ? -EINVAL : call.r;
}

static int report_first(dn_watch *watch)
{
        dn__waiting_post *first = dn__waiting_first(&watch->waiting);
        const dn__peer *peer = first->peer;
        dn_post_record record = {
                .time_us = first->time_us,
                .center = first->post.origin.center,
                .name = first->post.name.text,
                .sender = first->post.origin.sender,
                .pid = peer && peer->is_known ? peer->id : 0,
                .program = peer ? peer->program : NULL,
                .generation = first->post.generation,
                .region = first->post.region_id,
                .object = first->post.body.object,
                .user_info = first->post.body.user_info,
                .number = first->post.body.number,
        };
        int r = STOPPED;

        dn__waiting_take(&watch->waiting, first);
        if (!atomic_load(&watch->is_stopped))
                r = call_watcher(watch, &record);
        dn__waiting_post_free(first);
        return r;
}

/* Reports the posts whose senders are known; if the bus has gone, all posts. */
static int report(dn_watch *watch, bool is_gone)
{
        dn__waiting *waiting = &watch->waiting;
        int r = 0;

        while (r == 0 && dn__waiting_first(waiting) &&
               (is_gone || waiting->n_posts > MAX_WAITING ||
                dn__waiting_get_until(waiting) <= dn__clock_now_us()))
                r = report_first(watch);
        return r;
}

/* Accepts posts of any kind of center. */
static bool read_post(sd_bus_message *message, dn__post *ret_post)
{
        for (size_t i = 0; i < N_WIRES; i++)
                if (dn__wire_read_post(wires[i], message, ret_post))
                        return true;
        return false;
}

/* Returns 0 or -ENOMEM. */
static int handle(dn_watch *watch, sd_bus_message *message)
{
        dn__post post;
        int r = 0;

        if (sd_bus_message_is_method_call(message, NULL, NULL) > 0) {
                dn__connection_refuse_call(message);
                return 0;
        }
        if (!read_post(message, &post)) {
                dn__peers_handle(&watch->peers, message);
                return 0;
        }
        if (dn__text_begins_with(post.name.text, watch->prefix))
                r = dn__waiting_add(&watch->waiting, &post,
                                    dn__peers_get(&watch->peers, post.origin.sender));
        dn__post_release(&post);
        return r;
}

/* --- The connection --------------------------------------------------------------------------- */

static int rule_answered(sd_bus_message *answer, void *context, sd_bus_error *error)
{
        dn_watch *watch = context;

        (void)error;
        if (!dn__connection_is_refusal(answer))
                watch->n_confirmed++;
        else if (!sd_bus_message_is_method_error(answer, SD_BUS_ERROR_NO_REPLY))
                watch->is_refused = true; /* else the next step reports the lost connection */
        return 1;
}

/* Connections first, so that every poster heard is also heard to leave. */
static int ask_for_signals(dn_watch *watch)
{
        char rule[DN__WIRE_RULE_BYTES];
        dn__query query = { "AddMatch", "s", rule, rule_answered, watch, 0 };
        int r;

        r = dn__peers_follow(&watch->peers, rule_answered, watch, &watch->rules[watch->n_asked++]);
        for (size_t i = 0; r == 0 && i < N_WIRES; i++) {
                dn__wire_write_rule(wires[i], NULL, false, rule);
                r = dn__connection_ask(&watch->connection, &query,
                                       &watch->rules[watch->n_asked++]);
        }
        return r < 0 ? lost_error(r) : 0;
}

/* Takes the next step of the setup. Returns 0, a callback's result, or a negative errno. */
static int set_up(dn_watch *watch)
{
        if (watch->is_refused)
                return -ENOBUFS;
        if (!watch->n_asked && dn__connection_is_ready(&watch->connection))
                return ask_for_signals(watch);
        if (watch->n_confirmed < N_RULES)
                return dn__clock_now_us() < watch->answer_us ? 0 : -ENOTCONN;
        watch->is_ready = true;
        return call_watcher(watch, NULL);
}

/* Does one step. Returns 0, -ENOMEM or -ENOTCONN. */
static int take_step(dn_watch *watch, bool *ret_is_idle)
{
        sd_bus_message *message DN__UNREFS_MESSAGE = NULL;
        int n;

        /* The host may have closed the descriptor. */
        if (!dn__connection_is_intact(&watch->connection))
                return -ENOTCONN;
        n = dn__connection_step(&watch->connection, &message);
        *ret_is_idle = n <= 0;
        if (n < 0)
                return lost_error(n);
        return message ? handle(watch, message) : 0;
}

static int advance(dn_watch *watch)
{
        bool is_idle = false;
        int r = 0, reported;

        for (int i = 0; r == 0 && !is_idle && i < TURN_N_STEPS; i++) {
                r = take_step(watch, &is_idle);
                if (r == 0 && !watch->is_ready)
                        r = set_up(watch);
                if (!watch->is_ready)
                        continue;
                reported = report(watch, r < 0);
                r = reported ? reported : r;
        }
        return r;
}

/* Sets when the host's descriptor becomes readable. Returns 0 or -ENOMEM. */
static int set_descriptors(dn_watch *watch)
{
        dn__wait wait = { .fd = -1 };

        /* A broken connection shows in the next step. */
        (void)dn__connection_get_wait(&watch->connection, &wait);
        wait.until_us = dn__clock_earlier(wait.until_us, dn__waiting_get_until(&watch->waiting));
        if (!watch->is_ready)
                wait.until_us = dn__clock_earlier(wait.until_us, watch->answer_us);
        dn__watch_fd_set_timer(&watch->fd, wait.until_us);
        /* Another thread may have stopped the watch just before. */
        if (atomic_load(&watch->is_stopped))
                dn__watch_fd_set_timer(&watch->fd, 0);
        return dn__watch_fd_set_bus(&watch->fd, wait.fd, wait.events);
}

/* --- Opening and closing ---------------------------------------------------------------------- */

static int connect_watch(const char *bus, dn_watch *watch)
{
        dn__address address DN__CLEANUP(dn__address_deinit) = { 0 };
        int r;

        r = dn__address_resolve(bus, &address);
        if (r < 0)
                return r;
        r = address.address ? dn__connection_open(&watch->connection, &address) : -ENOTCONN;
        if (r < 0)
                return lost_error(r);
        r = dn__watch_fd_open(&watch->fd);
        if (r == 0)
                dn__watch_fd_set_timer(&watch->fd, 0);
        return r;
}

/* The only caller of the destroy hook of a watcher. */
static void end_context(const dn_watcher *watcher)
{
        dn__host_release(watcher->destroy, watcher->context);
}

static void watch_free(dn_watch *watch)
{
        dn__watch_fd_close(&watch->fd);
        dn__waiting_deinit(&watch->waiting);
        dn__peers_deinit(&watch->peers);
        for (size_t i = 0; i < N_RULES; i++)
                (void)sd_bus_slot_unref(watch->rules[i]);
        dn__connection_close(&watch->connection);
        end_context(&watch->watcher);
        free(watch);
}

int dn_watch_open(const char *bus, const char *prefix, const dn_watcher *watcher,
                  dn_watch **ret_watch)
{
        DN__GATE();
        size_t n_bytes = prefix ? strlen(prefix) + 1 : 1;
        dn_watch *watch;
        int r;

        if (!watcher)
                return -EINVAL;
        if (!watcher->post || !dn__reserved_is_zero(watcher->reserved) || (bus && !*bus) ||
            !ret_watch) {
                end_context(watcher);
                return -EINVAL;
        }
        watch = calloc(1, sizeof(*watch) + n_bytes);
        if (!watch) {
                end_context(watcher);
                return -ENOMEM;
        }
        dn__host_expect_exit();
        watch->fork_id = dn__fork_id();
        dn__watch_fd_init(&watch->fd);
        watch->watcher = *watcher;
        watch->answer_us = dn__clock_after_us(DN__CONNECTION_TIMEOUT_US);
        dn__peers_init(&watch->peers, &watch->connection, DN__PEER_PROCESS);
        dn__waiting_init(&watch->waiting);
        if (prefix)
                memcpy(watch->prefix, prefix, n_bytes);
        r = connect_watch(bus, watch);
        if (r < 0) {
                watch_free(watch);
                return r;
        }
        dn__gate_keep(DN__GATE_CALL);
        *ret_watch = watch;
        return 0;
}

static bool is_own(const dn_watch *watch)
{
        return watch && watch->fork_id == dn__fork_id();
}

dn_watch *dn_watch_close(dn_watch *watch)
{
        DN__GATE();

        if (!is_own(watch))
                return NULL;
        watch_free(watch);
        dn__gate_keep_no_more(DN__GATE_CALL);
        return NULL;
}

/* --- In the host's loop ----------------------------------------------------------------------- */

int dn_watch_get_fd(dn_watch *watch)
{
        return watch ? watch->fd.fd : -EINVAL;
}

int dn_watch_process(dn_watch *watch)
{
        DN__GATE();

        if (!is_own(watch))
                return -EINVAL;
        if (watch->result)
                return watch->result;
        watch->result = atomic_load(&watch->is_stopped) ? STOPPED : advance(watch);
        if (!watch->result)
                watch->result = set_descriptors(watch);
        if (watch->result)
                dn__watch_fd_set_timer(&watch->fd, 0);
        return watch->result;
}

void dn_watch_stop(dn_watch *watch)
{
        DN__GATE();

        if (!is_own(watch))
                return;
        atomic_store(&watch->is_stopped, true);
        dn__watch_fd_set_timer(&watch->fd, 0);
}

/* --- On a thread of the caller ---------------------------------------------------------------- */

int dn_watch_posts(const char *bus, const char *prefix, const dn_watcher *watcher)
{
        DN__GATE();
        struct pollfd wait = { .events = POLLIN };
        dn_watch *watch;
        int r;

        r = dn_watch_open(bus, prefix, watcher, &watch);
        if (r < 0)
                return r;
        wait.fd = dn_watch_get_fd(watch);
        do {
                /* The host may have lowered its limit of descriptors. */
                if (poll(&wait, 1, -1) < 0 && errno != EINTR)
                        dn__clock_sleep_until(dn__clock_after_us(UNPOLLED_US));
                r = dn_watch_process(watch);
        } while (r == 0);
        (void)dn_watch_close(watch);
        return r;
}
