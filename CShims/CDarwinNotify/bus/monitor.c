/* A connection of its own that tells of every post on a bus.
 *
 * Who has posted is told by the bus, when it is asked. So a post waits until the answer for its
 * sender is there, and all that come behind it wait with it, so that they keep their order. */
#include "bus/monitor.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bus/connection.h"
#include "bus/senders.h"
#include "bus/service.h"
#include "util/clock.h"
#include "util/list.h"

/* Posts that wait for an answer. It comes behind the posts that the bus had queued before: when
 * there are more than that, the first is told of without it. */
#define MAX_WAITING 1024

/* A post that was read, but not told of. */
typedef struct post {
        dn__link link;
        dn__sender *sender; /* with a reference */
        uint64_t time_us;   /* CLOCK_REALTIME */
        uint64_t generation;
        uint64_t region;
        char name[];
} post;

/* Asks for the posts, asks for those who come and go. */
#define N_RULES 2

typedef struct monitor {
        dn__connection connection;
        dn__senders senders;
        const dn_watcher *watcher;
        const char *prefix;
        dn__link posts;
        size_t n_posts;
        sd_bus_slot *rules[N_RULES];
        unsigned n_confirmed;
        bool is_refused;
} monitor;

static uint64_t wall_clock_us(void)
{
        struct timespec now;

        (void)clock_gettime(CLOCK_REALTIME, &now);
        return (uint64_t)now.tv_sec * DN__US_PER_SECOND + (uint64_t)now.tv_nsec / 1000;
}

/* To the caller a connection that fails, however it does, is one that is lost. */
static int lost_by(int r)
{
        return r == -ENOMEM ? -ENOMEM : -ENOTCONN;
}

static int result_of_callback(int r)
{
        return r < 0 ? -EINVAL : r;
}

/* --- Posts that wait ------------------------------------------------------------------------- */

static post *first_post(const monitor *monitor)
{
        return dn__list_is_empty(&monitor->posts)
                       ? NULL
                       : DN__CONTAINER(monitor->posts.next, post, link);
}

static void drop_post(monitor *monitor, post *post)
{
        dn__list_remove(&post->link);
        monitor->n_posts--;
        (void)dn__sender_unref(post->sender);
        free(post);
}

static int add_post(monitor *monitor, const dn__signal *signal)
{
        post *added = malloc(sizeof(*added) + signal->n_name_bytes + 1);

        if (!added)
                return -ENOMEM;
        *added = (post){
                .sender = dn__senders_get(&monitor->senders, signal->sender),
                .time_us = wall_clock_us(),
                .generation = signal->generation,
                .region = signal->region,
        };
        memcpy(added->name, signal->name, signal->n_name_bytes + 1);
        if (!added->sender) {
                free(added);
                return -ENOMEM;
        }
        dn__list_append(&monitor->posts, &added->link);
        monitor->n_posts++;
        return 0;
}

static int tell_first(monitor *monitor)
{
        post *post = first_post(monitor);
        dn_post_record record = {
                .time_us = post->time_us,
                .center = "darwin",
                .name = post->name,
                .sender = post->sender->name,
                .pid = post->sender->pid,
                .program = post->sender->program,
                .generation = post->generation,
                .region = post->region,
        };
        int r;

        r = monitor->watcher->post(&record, monitor->watcher->context);
        drop_post(monitor, post);
        return result_of_callback(r);
}

static bool first_is_due(const monitor *monitor)
{
        const post *post = first_post(monitor);

        return post && (!post->sender->question || monitor->n_posts > MAX_WAITING ||
                        post->sender->until_us <= dn__clock_now_us());
}

static int tell_due(monitor *monitor)
{
        int r = 0;

        while (r == 0 && first_is_due(monitor))
                r = tell_first(monitor);
        return r;
}

/* The last posts of a bus that has gone. */
static int tell_all(monitor *monitor)
{
        int r = 0;

        while (r == 0 && first_post(monitor))
                r = tell_first(monitor);
        return r;
}

/* --- The connection -------------------------------------------------------------------------- */

/* Returns 0 or -ENOMEM. */
static int handle(monitor *monitor, sd_bus_message *message)
{
        dn__signal signal;

        if (sd_bus_message_is_method_call(message, NULL, NULL) > 0) {
                dn__connection_refuse_call(message);
                return 0;
        }
        if (!dn__connection_read_post(&monitor->connection, message, &signal)) {
                dn__senders_handle(&monitor->senders, message);
                return 0;
        }
        if (strncmp(signal.name, monitor->prefix, strlen(monitor->prefix)) != 0)
                return 0;
        return add_post(monitor, &signal);
}

/* Waits until there is something to read, write or time out, but not longer than `until_us`. */
static int await(monitor *monitor, uint64_t until_us)
{
        struct pollfd wait = { .fd = -1 };
        uint64_t bus_until_us;
        int r;

        r = dn__connection_get_wait(&monitor->connection, &wait.fd, &wait.events, &bus_until_us);
        if (r < 0)
                return lost_by(r);
        if (bus_until_us < until_us)
                until_us = bus_until_us;
        r = dn__clock_poll(&wait, 1, until_us);
        return r < 0 && errno != EINTR ? -ENOTCONN : 0;
}

/* Does one thing, or else waits for one. Returns 0, -ENOMEM, or -ENOTCONN. */
static int advance(monitor *monitor, uint64_t until_us)
{
        sd_bus_message *message = NULL;
        int r, n;

        n = dn__connection_step(&monitor->connection, &message);
        if (n < 0)
                return lost_by(n);
        if (message) {
                r = handle(monitor, message);
                (void)sd_bus_message_unref(message);
                return r;
        }
        return n > 0 ? 0 : await(monitor, until_us);
}

static int rule_answered(sd_bus_message *answer, void *context, sd_bus_error *error)
{
        monitor *monitor = context;

        (void)error;
        if (!sd_bus_message_is_method_error(answer, NULL))
                monitor->n_confirmed++;
        else if (!sd_bus_message_is_method_error(answer, SD_BUS_ERROR_NO_REPLY))
                monitor->is_refused = true; /* else the connection is lost, as the next step says */
        return 1;
}

/* Those who come and go first: whoever is heard to post is also heard to go. */
static int ask_for_signals(monitor *monitor)
{
        int r;

        r = dn__senders_watch(&monitor->senders, rule_answered, monitor, &monitor->rules[0]);
        if (r == 0)
                r = dn__connection_add_match(&monitor->connection, NULL, rule_answered, monitor,
                                             &monitor->rules[1]);
        return r < 0 ? lost_by(r) : 0;
}

/* Returns when the bus delivers; it has a limited time for that. */
static int begin(monitor *monitor, const dn__address *address)
{
        uint64_t until_us = dn__service_deadline_us();
        int r;

        r = dn__connection_open(&monitor->connection, address);
        if (r < 0)
                return lost_by(r);
        while (r == 0 && !dn__connection_is_ready(&monitor->connection))
                r = dn__clock_now_us() < until_us ? advance(monitor, until_us) : -ENOTCONN;
        if (r == 0)
                r = ask_for_signals(monitor);
        while (r == 0 && monitor->n_confirmed < N_RULES && !monitor->is_refused)
                r = dn__clock_now_us() < until_us ? advance(monitor, until_us) : -ENOTCONN;
        return r == 0 && monitor->is_refused ? -ENOBUFS : r;
}

/* Tells of posts until a callback ends it, or the connection is lost. */
static int run(monitor *monitor)
{
        const dn_watcher *watcher = monitor->watcher;
        int r, ended;

        r = watcher->ready ? result_of_callback(watcher->ready(watcher->context)) : 0;
        if (r == 0)
                r = tell_due(monitor);
        while (r == 0) {
                const post *first = first_post(monitor);

                r = advance(monitor, first ? first->sender->until_us : DN__NEVER);
                ended = r < 0 ? tell_all(monitor) : tell_due(monitor);
                r = ended ? ended : r;
        }
        return r;
}

static void end(monitor *monitor)
{
        while (first_post(monitor))
                drop_post(monitor, first_post(monitor));
        dn__senders_deinit(&monitor->senders);
        for (size_t i = 0; i < N_RULES; i++)
                (void)sd_bus_slot_unref(monitor->rules[i]);
        dn__connection_close(&monitor->connection);
}

int dn__monitor_run(const dn__address *address, const char *prefix, const dn_watcher *watcher)
{
        monitor monitor = { .prefix = prefix, .watcher = watcher };
        int r;

        monitor.senders.connection = &monitor.connection;
        dn__list_init(&monitor.posts);
        r = begin(&monitor, address);
        if (r == 0)
                r = run(&monitor);
        end(&monitor);
        return r;
}
