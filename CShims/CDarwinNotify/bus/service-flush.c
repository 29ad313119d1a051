/* Waiting until the bus has read what it was sent. */
#include <unistd.h>

#include "bus/service-internal.h"

/* Receivers ask the bus for the user who has posted a reserved name; a connection that is gone has
 * none. */
#define QUESTION_TIMEOUT_US (100 * DN__US_PER_MS)

static int answered(sd_bus_message *answer, void *context, sd_bus_error *error)
        DN__TSA(no_thread_safety_analysis)
{
        dn__service *service = context;

        (void)answer;
        (void)error;
        service->barrier = sd_bus_slot_unref(service->barrier);
        service->n_taken = service->barrier_n_sent;
        dn__condition_broadcast(&service->changed);
        return 1;
}

/* What the socket took is not yet safe: a bus that finds us gone, with something from it unread,
 * leaves unread what we had sent. An answer tells that it has read all before the question. */
static void ask_barrier(dn__service *service) DN__REQUIRES(&service->lock)
{
        if (service->barrier || !dn__connection_can_send(&service->connection))
                return;
        service->barrier_n_sent = service->counts.n_sent;
        (void)dn__connection_ask(&service->connection, "NameHasOwner",
                                 service->connection.unique_name, answered, service,
                                 &service->barrier);
}

/* What the bus has to have read, once nothing waits in the process: posts that come later are not
 * waited for. */
typedef struct flush {
        bool is_drained;
        uint64_t n_sent;
} flush;

static bool is_flushed(dn__service *service, flush *flush, bool asks)
        DN__REQUIRES(&service->lock)
{
        if (!flush->is_drained && dn__service_is_drained(service))
                *flush = (struct flush){ true, service->counts.n_sent };
        return flush->is_drained && (!asks || service->n_taken >= flush->n_sent);
}

int dn__service_flush(dn__service *service, uint64_t deadline_us)
{
        bool may_wait = dn__clock_now_us() < deadline_us && !dn__service_is_current(service);
        flush flush = { 0 };
        int r = 0;

        dn__lock_acquire(&service->lock);
        while (!is_flushed(service, &flush, may_wait)) {
                /* A bus that is being connected to may take them in a moment; one that is not
                 * there will not. */
                if (!dn__connection_is_open(&service->connection))
                        r = -ENOTCONN;
                else if (!may_wait || dn__clock_now_us() >= deadline_us)
                        r = -ETIMEDOUT;
                if (r < 0)
                        break;
                if (flush.is_drained)
                        ask_barrier(service);
                dn__service_wake(service);
                (void)dn__condition_wait(&service->changed, &service->lock, deadline_us);
        }
        dn__lock_release(&service->lock);
        return r;
}

void dn__service_await_questions(dn__service *service)
{
        uint64_t until_us, now_us = dn__clock_now_us();

        dn__lock_acquire(&service->lock);
        until_us = service->reserved_us ? service->reserved_us + QUESTION_TIMEOUT_US : 0;
        dn__lock_release(&service->lock);
        if (now_us < until_us)
                (void)usleep((useconds_t)(until_us - now_us));
}
