/* Asking the bus which user has posted a name that is not for everybody.
 *
 * Anybody on a bus can send any signal. The bus knows the user, but tells only who asks: a post of
 * a reserved name waits for the answer, and all that come behind it wait with it, so that they
 * keep their order. Each sender is asked for once. */
#include "bus/vouchers.h"

#include <stdlib.h>
#include <string.h>

#include "bus/access.h"
#include "util/clock.h"
#include "util/hash.h"

/* A bus that does not answer must not hold back what is behind. */
#define ANSWER_TIMEOUT_US (1 * DN__US_PER_SECOND)

/* Posts of reserved names of one sender that wait; more are merged into those, or a flood, which
 * takes nothing from other senders. */
#define SENDER_MAX_WAITING 64

/* Both are above what the brokers let one user have connections, times the above. */
#define MAX_WAITING 32768
#define MAX_SENDERS 1024

typedef struct dn__voucher_sender {
        dn__map_entry entry;
        dn__link link;     /* by age */
        dn__link vouchers; /* its posts that wait */
        size_t n_vouchers;
        sd_bus_slot *call; /* the question, until it is answered */
        uint64_t until_us;
        bool is_known;
        bool is_forgotten; /* it ends with the last of its posts */
        uid_t uid;
        char name[];
} sender;

void dn__vouchers_init(dn__vouchers *vouchers, dn__connection *connection)
{
        vouchers->connection = connection;
        dn__list_init(&vouchers->waiting);
        dn__list_init(&vouchers->by_age);
}

/* --- Senders ------------------------------------------------------------------------------ */

static void sender_forget(dn__vouchers *vouchers, sender *sender)
{
        dn__map_remove(&vouchers->senders, &sender->entry);
        dn__list_remove(&sender->link);
        sender->call = sd_bus_slot_unref(sender->call);
        sender->is_forgotten = true;
        if (sender->n_vouchers == 0)
                free(sender);
}

static int answered(sd_bus_message *answer, void *context, sd_bus_error *error)
{
        sender *sender = context;
        uint32_t uid;

        (void)error;
        sender->call = sd_bus_slot_unref(sender->call);
        /* Whoever has gone has no user any more. */
        if (!sd_bus_message_is_method_error(answer, NULL) &&
            sd_bus_message_read_basic(answer, 'u', &uid) > 0) {
                sender->is_known = true;
                sender->uid = uid;
        }
        return 1;
}

static sender *find_sender(const dn__vouchers *vouchers, const char *name)
{
        size_t n_bytes = strlen(name);
        dn__map_entry *entry =
                dn__map_find(&vouchers->senders, dn__hash64(name, n_bytes), name, n_bytes);

        return entry ? DN__CONTAINER(entry, sender, entry) : NULL;
}

/* Makes room by forgetting the oldest one that nothing waits for. */
static bool make_room(dn__vouchers *vouchers)
{
        if (vouchers->senders.n_entries < MAX_SENDERS)
                return true;
        for (dn__link *link = vouchers->by_age.next; link != &vouchers->by_age;
             link = link->next) {
                sender *oldest = DN__CONTAINER(link, sender, link);

                if (oldest->n_vouchers)
                        continue;
                sender_forget(vouchers, oldest);
                return true;
        }
        return false;
}

static sender *sender_new(dn__vouchers *vouchers, const char *name)
{
        size_t n_bytes = strlen(name);
        sender *made = make_room(vouchers) ? calloc(1, sizeof(*made) + n_bytes + 1) : NULL;

        if (!made)
                return NULL;
        memcpy(made->name, name, n_bytes);
        made->entry = (dn__map_entry){ NULL, dn__hash64(name, n_bytes), made->name, n_bytes };
        dn__list_init(&made->vouchers);
        made->until_us = dn__clock_after_us(ANSWER_TIMEOUT_US);
        if (dn__map_add(&vouchers->senders, &made->entry) < 0) {
                free(made);
                return NULL;
        }
        dn__list_append(&vouchers->by_age, &made->link);
        if (dn__connection_ask_user(vouchers->connection, name, answered, made, &made->call) == 0)
                return made;
        sender_forget(vouchers, made);
        return NULL;
}

/* --- Posts -------------------------------------------------------------------------------- */

static dn__voucher *first_waiting(const dn__vouchers *vouchers)
{
        return dn__list_is_empty(&vouchers->waiting)
                       ? NULL
                       : DN__CONTAINER(vouchers->waiting.next, dn__voucher, link);
}

static dn__voucher *voucher_new(const dn__signal *signal)
{
        size_t n_sender_bytes = strlen(signal->sender) + 1;
        dn__voucher *voucher =
                calloc(1, sizeof(*voucher) + signal->n_name_bytes + 1 + n_sender_bytes);

        if (!voucher)
                return NULL;
        voucher->signal = *signal;
        voucher->signal.name = memcpy(voucher->bytes, signal->name, signal->n_name_bytes + 1);
        voucher->signal.sender = memcpy(voucher->bytes + signal->n_name_bytes + 1,
                                        signal->sender, n_sender_bytes);
        return voucher;
}

void dn__voucher_free(dn__voucher *voucher)
{
        sender *sender = voucher->sender;

        if (sender) {
                dn__list_remove(&voucher->sender_link);
                if (--sender->n_vouchers == 0 && sender->is_forgotten)
                        free(sender);
        }
        free(voucher);
}

/* Returns false without memory, or when too many wait. */
static bool await(dn__vouchers *vouchers, const dn__signal *signal, sender *sender)
{
        dn__voucher *voucher = vouchers->n_waiting < MAX_WAITING ? voucher_new(signal) : NULL;

        if (!voucher)
                return false;
        voucher->sender = sender;
        if (sender) {
                dn__list_append(&sender->vouchers, &voucher->sender_link);
                sender->n_vouchers++;
        }
        dn__list_append(&vouchers->waiting, &voucher->link);
        vouchers->n_waiting++;
        return true;
}

static bool is_waiting(const sender *sender, const dn__signal *signal)
{
        for (dn__link *link = sender->vouchers.next; link != &sender->vouchers;
             link = link->next)
                if (strcmp(DN__CONTAINER(link, dn__voucher, sender_link)->signal.name,
                           signal->name) == 0)
                        return true;
        return false;
}

static dn__verdict judge(const sender *sender, const char *name)
{
        if (!sender->is_known)
                return DN__VERDICT_GONE;
        return dn__access_may_post(name, sender->uid) ? DN__VERDICT_GENUINE : DN__VERDICT_REFUSED;
}

static dn__verdict decide_reserved(dn__vouchers *vouchers, const dn__signal *signal)
{
        sender *sender = find_sender(vouchers, signal->sender);
        dn__verdict verdict;

        if (!sender && !(sender = sender_new(vouchers, signal->sender)))
                return DN__VERDICT_GONE;
        verdict = sender->call ? DN__VERDICT_WAITS : judge(sender, signal->name);
        if (verdict == DN__VERDICT_GENUINE && vouchers->n_waiting)
                verdict = DN__VERDICT_WAITS;
        if (verdict != DN__VERDICT_WAITS)
                return verdict;
        if (sender->n_vouchers < SENDER_MAX_WAITING && await(vouchers, signal, sender))
                return DN__VERDICT_WAITS;
        /* One that waits already is delivered after this one was posted, too. */
        return is_waiting(sender, signal) ? DN__VERDICT_WAITS : DN__VERDICT_GONE;
}

dn__verdict dn__vouchers_decide(dn__vouchers *vouchers, const dn__signal *signal)
{
        /* Our own were decided when they were posted. */
        if (!signal->is_own && dn__access_is_reserved(signal->name))
                return decide_reserved(vouchers, signal);
        return vouchers->n_waiting && await(vouchers, signal, NULL) ? DN__VERDICT_WAITS
                                                                    : DN__VERDICT_GENUINE;
}

dn__voucher *dn__vouchers_take(dn__vouchers *vouchers, uint64_t now_us)
{
        dn__voucher *voucher = first_waiting(vouchers);
        sender *sender = voucher ? voucher->sender : NULL;

        if (!voucher || (sender && sender->call && now_us < sender->until_us))
                return NULL;
        voucher->verdict = sender ? judge(sender, voucher->signal.name) : DN__VERDICT_GENUINE;
        /* It may be asked for again when it posts again. */
        if (sender && sender->call)
                sender_forget(vouchers, sender);
        dn__list_remove(&voucher->link);
        vouchers->n_waiting--;
        return voucher;
}

uint64_t dn__vouchers_get_until(const dn__vouchers *vouchers)
{
        const dn__voucher *voucher = first_waiting(vouchers);

        if (!voucher)
                return DN__NEVER;
        return voucher->sender && voucher->sender->call ? voucher->sender->until_us : 0;
}

/* --- Ending ------------------------------------------------------------------------------- */

/* Another bus gives the same names to others. */
void dn__vouchers_disconnected(dn__vouchers *vouchers)
{
        while (!dn__list_is_empty(&vouchers->by_age))
                sender_forget(vouchers, DN__CONTAINER(vouchers->by_age.next, sender, link));
}

void dn__vouchers_deinit(dn__vouchers *vouchers)
{
        dn__voucher *voucher;

        dn__vouchers_disconnected(vouchers);
        while ((voucher = first_waiting(vouchers))) {
                dn__list_remove(&voucher->link);
                dn__voucher_free(voucher);
        }
        dn__map_deinit(&vouchers->senders);
}
