/* What comes from the bus: posts, and what is none. */
#include "bus/service-internal.h"

/* A bus drops signals for a reader whose queue is long, which a small queue of a fast reader does
 * not show: after so many messages it is looked for posts that did not come. A moment later, once
 * for a whole burst. */
#define BACKLOG_N_MESSAGES 32
#define BACKLOG_DELAY_US (20 * DN__US_PER_MS)

static void note_backlog(dn__service *service, size_t n_messages) DN__REQUIRES(&service->lock)
{
        uint64_t missed_us;

        service->n_backlog += n_messages;
        if (service->n_backlog < BACKLOG_N_MESSAGES)
                return;
        service->n_backlog = 0;
        missed_us = dn__clock_after_us(BACKLOG_DELAY_US);
        if (missed_us < service->missed_us)
                service->missed_us = missed_us;
}

/* Whether a post that came is to be delivered; counts it, if that is decided. */
static bool is_accepted(dn__service *service, dn__verdict verdict) DN__REQUIRES(&service->lock)
{
        if (verdict == DN__VERDICT_GENUINE)
                service->counts.n_received++;
        else if (verdict != DN__VERDICT_WAITS)
                service->counts.n_ignored++;
        /* It may have been counted in our table: what is there is genuine. */
        if (verdict == DN__VERDICT_GONE)
                note_backlog(service, BACKLOG_N_MESSAGES);
        return verdict == DN__VERDICT_GENUINE;
}

static void ignore(dn__service *service, sd_bus_message *message) DN__REQUIRES(&service->lock)
{
        service->counts.n_ignored++;
        /* A foreign message may be large enough to fill the queue alone. */
        note_backlog(service, BACKLOG_N_MESSAGES);
        if (sd_bus_message_is_method_call(message, NULL, NULL) > 0)
                dn__connection_refuse_call(message);
}

void dn__service_handle(dn__service *service, sd_bus_message *message)
{
        dn__signal signal;
        bool fits = dn__connection_read_post(&service->connection, message, &signal);

        dn__lock_acquire(&service->lock);
        if (fits) {
                note_backlog(service, 1);
                fits = is_accepted(service, dn__vouchers_decide(&service->vouchers, &signal));
        } else {
                ignore(service, message);
        }
        dn__lock_release(&service->lock);
        if (fits)
                service->ops->received(service->context, &signal);
}

static dn__voucher *take_voucher(dn__service *service, bool *ret_is_accepted)
{
        dn__voucher *voucher = NULL;

        dn__lock_acquire(&service->lock);
        if (service->vouchers.n_waiting)
                voucher = dn__vouchers_take(&service->vouchers, dn__clock_now_us());
        if (voucher)
                *ret_is_accepted = is_accepted(service, voucher->verdict);
        dn__lock_release(&service->lock);
        return voucher;
}

static void free_voucher(dn__service *service, dn__voucher *voucher)
{
        dn__lock_acquire(&service->lock);
        dn__voucher_free(voucher);
        dn__lock_release(&service->lock);
}

/* The answers that a step has brought may decide several posts. */
void dn__service_handle_decided(dn__service *service)
{
        dn__voucher *voucher;
        bool accepted;

        while ((voucher = take_voucher(service, &accepted))) {
                if (accepted)
                        service->ops->received(service->context, &voucher->signal);
                free_voucher(service, voucher);
        }
}
