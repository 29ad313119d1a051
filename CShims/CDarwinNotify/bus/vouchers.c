/* Asking the bus which user has posted a name that is not for everybody.
 *
 * Anybody on a bus can send any signal. The bus knows the user, but tells only who asks: a post of
 * a reserved name waits for the answer, and all that come behind it wait with it, so that they
 * keep their order. */
#include "bus/vouchers.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bus/access.h"

void dn__vouchers_init(dn__vouchers *vouchers, dn__connection *connection)
{
        vouchers->connection = connection;
        dn__list_init(&vouchers->waiting);
}

static dn__voucher *first(dn__vouchers *vouchers)
{
        return dn__list_is_empty(&vouchers->waiting)
                       ? NULL
                       : DN__CONTAINER(vouchers->waiting.next, dn__voucher, link);
}

static void take_out(dn__vouchers *vouchers, dn__voucher *voucher)
{
        dn__list_remove(&voucher->link);
        vouchers->n_waiting--;
}

void dn__vouchers_deinit(dn__vouchers *vouchers)
{
        dn__voucher *voucher;

        while ((voucher = first(vouchers))) {
                take_out(vouchers, voucher);
                dn__voucher_free(voucher);
        }
}

void dn__voucher_free(dn__voucher *voucher)
{
        (void)sd_bus_slot_unref(voucher->call);
        free(voucher);
}

static const uid_t *find_known(const dn__vouchers *vouchers, const char *sender)
{
        for (size_t i = 0; i < vouchers->n_known && i < DN__VOUCHERS_N_KNOWN; i++)
                if (strcmp(vouchers->known[i].sender, sender) == 0)
                        return &vouchers->known[i].uid;
        return NULL;
}

static void remember(dn__vouchers *vouchers, const char *sender, uid_t uid)
{
        struct dn__vouchers_known *known =
                &vouchers->known[vouchers->n_known % DN__VOUCHERS_N_KNOWN];

        if (strlen(sender) >= DN__VOUCHERS_SENDER_BYTES)
                return;
        strcpy(known->sender, sender);
        known->uid = uid;
        /* The count wraps into the full range, not below it. */
        if (++vouchers->n_known == 2 * DN__VOUCHERS_N_KNOWN)
                vouchers->n_known = DN__VOUCHERS_N_KNOWN;
}

static int answered(sd_bus_message *answer, void *context, sd_bus_error *error)
{
        dn__voucher *voucher = context;
        uint32_t uid;

        (void)error;
        voucher->call = sd_bus_slot_unref(voucher->call);
        /* Whoever has gone cannot be vouched for. */
        if (sd_bus_message_is_method_error(answer, NULL) ||
            sd_bus_message_read_basic(answer, 'u', &uid) <= 0) {
                voucher->is_refused = true;
                return 0;
        }
        if (!find_known(voucher->vouchers, voucher->signal.sender))
                remember(voucher->vouchers, voucher->signal.sender, uid);
        voucher->is_refused = !dn__access_may_post(voucher->signal.name, uid);
        return 0;
}

static dn__voucher *voucher_new(dn__vouchers *vouchers, const dn__signal *signal)
{
        size_t n_sender_bytes = strlen(signal->sender) + 1;
        dn__voucher *voucher = calloc(1, sizeof(*voucher) + signal->n_name_bytes + 1 +
                                                 n_sender_bytes);

        if (!voucher)
                return NULL;
        voucher->vouchers = vouchers;
        voucher->signal = *signal;
        voucher->signal.name = memcpy(voucher->bytes, signal->name, signal->n_name_bytes + 1);
        voucher->signal.sender = memcpy(voucher->bytes + signal->n_name_bytes + 1,
                                        signal->sender, n_sender_bytes);
        return voucher;
}

/* A post that need not be asked for waits behind one that does. */
static dn__verdict await(dn__vouchers *vouchers, const dn__signal *signal, bool asks)
{
        dn__voucher *voucher = vouchers->n_waiting < DN__VOUCHERS_MAX_WAITING
                                       ? voucher_new(vouchers, signal)
                                       : NULL;

        if (!voucher)
                return asks ? DN__VERDICT_REFUSED : DN__VERDICT_GENUINE;
        if (asks && dn__connection_ask_user(vouchers->connection, voucher->signal.sender, answered,
                                            voucher, &voucher->call) < 0) {
                dn__voucher_free(voucher);
                return DN__VERDICT_REFUSED;
        }
        dn__list_append(&vouchers->waiting, &voucher->link);
        vouchers->n_waiting++;
        return DN__VERDICT_WAITS;
}

dn__verdict dn__vouchers_decide(dn__vouchers *vouchers, const dn__signal *signal)
{
        const uid_t *uid;

        /* Our own were decided when they were posted. */
        if (!signal->is_own && dn__access_is_reserved(signal->name)) {
                uid = find_known(vouchers, signal->sender);
                if (!uid)
                        return await(vouchers, signal, true);
                if (!dn__access_may_post(signal->name, *uid))
                        return DN__VERDICT_REFUSED;
        }
        return vouchers->n_waiting ? await(vouchers, signal, false) : DN__VERDICT_GENUINE;
}

dn__voucher *dn__vouchers_take(dn__vouchers *vouchers)
{
        dn__voucher *voucher = first(vouchers);

        if (!voucher || voucher->call)
                return NULL;
        take_out(vouchers, voucher);
        return voucher;
}

void dn__vouchers_disconnected(dn__vouchers *vouchers)
{
        for (dn__link *link = vouchers->waiting.next; link != &vouchers->waiting;
             link = link->next) {
                dn__voucher *voucher = DN__CONTAINER(link, dn__voucher, link);

                if (!voucher->call)
                        continue;
                voucher->call = sd_bus_slot_unref(voucher->call);
                voucher->is_refused = true;
        }
        vouchers->n_known = 0;
}
