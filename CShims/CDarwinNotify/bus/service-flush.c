/* Waiting until the bus has read what it was sent. */
#include <unistd.h>

#include "bus/service-internal.h"

/* Receivers ask the bus for the user who has posted a reserved name; a connection that is gone has
 * none. */
#define QUESTION_TIMEOUT_US (100 * DN__US_PER_MS)

/* What the socket took is not yet safe: a bus that finds us gone, with something from it unread,
 * leaves unread what we had sent. The kernel knows what it has read, but does not tell when it
 * reads: that is looked for, soon at first, then less often. */
#define LOOK_MIN_US 50
#define LOOK_MAX_US (5 * DN__US_PER_MS)

typedef struct flush {
        bool may_wait;
        bool is_drained;     /* nothing waited in the process once */
        uint64_t n_connects; /* by then: what a connection took that is lost is not waited for */
        uint64_t look_us;
} flush;

/* From the moment that nothing waits in the process, posts that come later do: otherwise they could
 * keep the socket from ever being empty. */
static bool is_flushed(dn__service *service, flush *flush) DN__REQUIRES(&service->lock)
{
        if (!flush->may_wait)
                return dn__service_is_drained(service);
        if (!flush->is_drained && dn__service_is_drained(service)) {
                flush->is_drained = true;
                flush->n_connects = service->counts.n_connects;
                service->n_flushes++;
        }
        if (!flush->is_drained)
                return false;
        return flush->n_connects != service->counts.n_connects ||
               !dn__connection_is_ready(&service->connection) ||
               dn__connection_is_read(&service->connection);
}

static void wait_a_moment(dn__service *service, flush *flush, uint64_t deadline_us)
        DN__REQUIRES(&service->lock)
{
        uint64_t until_us = deadline_us;

        if (flush->is_drained) {
                until_us = dn__clock_after_us(flush->look_us);
                flush->look_us = flush->look_us < LOOK_MAX_US ? 2 * flush->look_us : LOOK_MAX_US;
        } else {
                dn__service_wake(service);
        }
        (void)dn__condition_wait(&service->changed, &service->lock,
                                 until_us < deadline_us ? until_us : deadline_us);
}

int dn__service_flush(dn__service *service, uint64_t deadline_us)
{
        flush flush = {
                .may_wait = dn__clock_now_us() < deadline_us && !dn__service_is_current(service),
                .look_us = LOOK_MIN_US,
        };
        int r = 0;

        dn__lock_acquire(&service->lock);
        while (!is_flushed(service, &flush)) {
                /* A bus that is being connected to may take them in a moment; one that is not
                 * there will not. */
                if (!dn__connection_is_open(&service->connection))
                        r = -ENOTCONN;
                else if (!flush.may_wait || dn__clock_now_us() >= deadline_us)
                        r = -ETIMEDOUT;
                if (r < 0)
                        break;
                wait_a_moment(service, &flush, deadline_us);
        }
        if (flush.is_drained && --service->n_flushes == 0)
                dn__service_wake(service);
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
