/* The service thread: reads the bus, sends what waits, comes back when the bus goes.
 *
 * It waits for two descriptors: that of the connection, and an eventfd that says that another
 * thread has left something to do. It never runs a callback that may block, unless an observer
 * asked for that, so that a slow callback cannot fill the queue of the bus. */
#include <poll.h>
#include <sys/eventfd.h>

#include "bus/service-internal.h"

/* A connection that lasted that long was a good one: the next loss starts from the beginning. */
#define GOOD_CONNECTION_US (1 * DN__US_PER_SECOND)

/* What reading, callbacks and sending may do before the others get their turn. */
#define TURN_N_STEPS 256

static _Thread_local const dn__service *current;

bool dn__service_is_current(const dn__service *service)
{
        return current == service;
}

static uint64_t earlier(uint64_t a_us, uint64_t b_us)
{
        return a_us < b_us ? a_us : b_us;
}

/* Many processes lose a bus at the same moment: they should not come back at the same one. */
static uint64_t jittered(uint64_t span_us)
{
        return span_us / 2 + (dn__clock_now_us() * 2654435761u) % (span_us / 2 + 1);
}

static void connect_later(dn__service *service) DN__REQUIRES(&service->lock)
{
        service->connect_us = dn__clock_after_us(jittered(service->backoff_us));
        service->backoff_us = earlier(2 * service->backoff_us, DN__BACKOFF_MAX_US);
        service->is_tried = true;
        dn__condition_broadcast(&service->changed);
}

static void disconnect(dn__service *service) DN__REQUIRES(&service->lock)
{
        if (dn__connection_is_ready(&service->connection) &&
            dn__clock_now_us() - service->connected_us > GOOD_CONNECTION_US)
                service->backoff_us = DN__BACKOFF_MIN_US;
        dn__rules_disconnected(&service->rules);
        dn__vouchers_disconnected(&service->vouchers);
        dn__connection_close(&service->connection);
        dn__service_take_back(service);
        connect_later(service);
}

/* Opening may take a while, where an address has a host name in it: nobody waits for that. */
static void connect_if_due(dn__service *service)
{
        dn__connection connection = { 0 };
        bool is_due;
        int r = 0;

        dn__lock_acquire(&service->lock);
        is_due = service->connect_us <= dn__clock_now_us();
        if (is_due)
                service->connect_us = DN__NEVER;
        dn__lock_release(&service->lock);
        if (!is_due)
                return;
        r = dn__connection_open(&connection, &service->address);
        dn__lock_acquire(&service->lock);
        if (r < 0)
                connect_later(service);
        else
                service->connection = connection;
        dn__lock_release(&service->lock);
}

/* The bus has said hello: it has to be told all that the last one knew. */
static void connected(dn__service *service) DN__REQUIRES(&service->lock)
{
        service->is_tried = true;
        service->connected_us = dn__clock_now_us();
        service->counts.n_connects++;
        service->has_unasked = true;
        dn__rules_connected(&service->rules);
        dn__condition_broadcast(&service->changed);
}

/* The answers to our questions are dispatched inside of step, so look at the outcome after it. */
static void stepped(dn__service *service, bool was_ready, size_t n_asked)
        DN__REQUIRES(&service->lock)
{
        if (!was_ready && dn__connection_is_ready(&service->connection))
                connected(service);
        if (service->rules.n_asked != n_asked)
                dn__condition_broadcast(&service->changed);
        dn__service_note_written(service);
        service->has_unasked = service->has_unasked || service->rules.has_gap;
        service->rules.has_gap = false;
        if (service->has_unasked && dn__connection_is_ready(&service->connection) &&
            service->rules.n_asked == 0) {
                service->has_unasked = false;
                service->missed_us = 0;
        }
}

/* Returns whether there may be more; `message` is what came last and, on return, what came now. */
static bool step(dn__service *service, sd_bus_message **message)
{
        int r = 0;

        dn__lock_acquire(&service->lock);
        *message = sd_bus_message_unref(*message);
        if (dn__connection_is_open(&service->connection)) {
                bool was_ready = dn__connection_is_ready(&service->connection);
                size_t n_asked = service->rules.n_asked;

                r = dn__connection_step(&service->connection, message);
                if (r < 0)
                        disconnect(service);
                else
                        stepped(service, was_ready, n_asked);
        }
        dn__lock_release(&service->lock);
        return r > 0;
}

/* Runs the works that are there now; those that they add, such as a callback that posts the name
 * it observes, come after the next look at the bus. */
static void run_works(dn__service *service)
{
        dn__work work;
        size_t n;

        dn__lock_acquire(&service->lock);
        for (n = service->works.n_works; n > 0 && dn__queue_pop(&service->works, &work); n--) {
                dn__lock_release(&service->lock);
                work.run(work.argument);
                dn__lock_acquire(&service->lock);
        }
        dn__lock_release(&service->lock);
}

static void receive(dn__service *service)
{
        sd_bus_message *message = NULL;

        for (size_t i = 0; i < TURN_N_STEPS && step(service, &message); i++) {
                if (!message)
                        continue;
                dn__service_handle(service, message);
                run_works(service);
        }
        if (!message)
                return;
        dn__lock_acquire(&service->lock);
        (void)sd_bus_message_unref(message);
        dn__lock_release(&service->lock);
}

static bool is_held(dn__service *service) DN__REQUIRES(&service->lock)
{
        return !dn__pending_is_empty(&service->pending) &&
               dn__clock_now_us() < service->hold_us;
}

static bool has_to_send(dn__service *service) DN__REQUIRES(&service->lock)
{
        return !dn__pending_is_empty(&service->pending) && !service->n_flushes &&
               !is_held(service) && dn__connection_can_send(&service->connection);
}

static bool send_one_pending(dn__service *service)
{
        dn__pending_post *post;
        bool is_sent;

        dn__lock_acquire(&service->lock);
        post = has_to_send(service) ? dn__pending_first(&service->pending) : NULL;
        /* If it fails on a connection that could send, the next step finds that broken. */
        is_sent = post && dn__service_send(service, post->entry.hash, post->name,
                                           post->entry.n_key_bytes, post->generation,
                                           post->region) == 0;
        if (is_sent)
                dn__pending_take(&service->pending, post);
        dn__lock_release(&service->lock);
        return is_sent;
}

static void call_when_due(dn__service *service)
{
        uint64_t now_us = dn__clock_now_us();
        bool missed, woken;

        dn__lock_acquire(&service->lock);
        missed = service->missed_us <= now_us;
        woken = service->wake_us <= now_us;
        if (missed)
                service->missed_us = DN__NEVER;
        if (woken)
                service->wake_us = DN__NEVER;
        if (dn__service_is_drained(service))
                dn__condition_broadcast(&service->changed);
        dn__lock_release(&service->lock);
        if (missed)
                service->ops->may_have_missed(service->context);
        if (woken)
                service->ops->woken(service->context, now_us);
}

static void send_pending(dn__service *service)
{
        for (size_t i = 0; i < TURN_N_STEPS && send_one_pending(service); i++)
                continue;
}

/* Fills in what to poll. Returns false when there is something to do at once. */
static bool prepare_wait(dn__service *service, struct pollfd fds[2], uint64_t *ret_until_us)
{
        uint64_t until_us = DN__NEVER;
        bool idle;

        fds[0] = (struct pollfd){ .fd = service->wake_fd, .events = POLLIN };
        fds[1] = (struct pollfd){ .fd = -1 };
        dn__lock_acquire(&service->lock);
        if (dn__connection_is_open(&service->connection) &&
            dn__connection_get_wait(&service->connection, &fds[1].fd, &fds[1].events,
                                    &until_us) < 0)
                disconnect(service);
        until_us = earlier(until_us, earlier(service->connect_us, service->close_us));
        until_us = earlier(until_us, earlier(service->missed_us, service->wake_us));
        until_us = earlier(until_us, dn__vouchers_get_until(&service->vouchers));
        if (is_held(service))
                until_us = earlier(until_us, service->hold_us);
        idle = service->works.n_works == 0 && !has_to_send(service) &&
               !service->connection.is_broken;
        dn__lock_release(&service->lock);
        *ret_until_us = until_us;
        return idle;
}

static void wait_for_work(dn__service *service)
{
        struct pollfd fds[2];
        uint64_t until_us, count;

        if (!prepare_wait(service, fds, &until_us))
                return;
        (void)dn__clock_poll(fds, 2, until_us);
        if (!(fds[0].revents & POLLIN))
                return;
        dn__lock_acquire(&service->lock);
        (void)eventfd_read(service->wake_fd, &count);
        service->is_woken = false;
        dn__lock_release(&service->lock);
}

/* A service that closes sends first what waits for its bus. */
static bool is_over(dn__service *service)
{
        bool is_over;

        dn__lock_acquire(&service->lock);
        is_over = service->close_us != DN__NEVER && service->works.n_works == 0 &&
                  (dn__service_is_drained(service) ||
                   !dn__connection_is_open(&service->connection) ||
                   dn__clock_now_us() >= service->close_us);
        dn__lock_release(&service->lock);
        return is_over;
}

void dn__service_main(void *context)
{
        dn__service *service = context;

        current = service;
        while (!is_over(service)) {
                connect_if_due(service);
                wait_for_work(service);
                /* What has come is next after the wait: somebody waits for it. */
                receive(service);
                dn__service_handle_decided(service);
                run_works(service);
                send_pending(service);
                call_when_due(service);
        }
        current = NULL;
        dn__service_free(service);
}

