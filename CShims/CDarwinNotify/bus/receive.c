/* Handles the messages that the bus has sent. */
#include "bus/state.h"

#include <string.h>

/* A bus drops signals for a reader whose queue is long, which a fast reader's short queue does not
 * reveal: after this many messages the table is checked for missed posts. Delayed briefly, to check
 * once per burst. */
#define BACKLOG_N_MESSAGES 32
#define BACKLOG_DELAY_US (20 * DN__US_PER_MS)

/* Maximum number of waiting posts of reserved names from one sender; others are not affected.
 * Further posts are dropped; a waiting post of the same name, delivered later, stands for them. */
#define SENDER_MAX_WAITING 64

/* More connections than the brokers allow one user, times the limit above. */
#define TOTAL_MAX_WAITING 32768

typedef enum verdict {
        VERDICT_GENUINE,
        VERDICT_REFUSED,
        VERDICT_GONE, /* the sender can no longer be identified */
        VERDICT_WAITS,
} verdict;

static void note_backlog(dn__dbus *dbus, size_t n_messages) DN__REQUIRES(&dbus->lock)
{
        dbus->n_backlog += n_messages;
        if (dbus->n_backlog < BACKLOG_N_MESSAGES)
                return;
        dbus->n_backlog = 0;
        dbus->missed_us = dn__clock_earlier(dbus->missed_us, dn__clock_after_us(BACKLOG_DELAY_US));
}

/* --- Access check of reserved names ----------------------------------------------------------- */

static verdict judge(const dn__peer *peer, const dn__post *post)
{
        if (!peer->is_known)
                return VERDICT_GONE;
        return dn__name_may_post(&post->name, peer->id) ? VERDICT_GENUINE : VERDICT_REFUSED;
}

static bool add_waiting(dn__dbus *dbus, const dn__post *post, dn__peer *peer)
        DN__REQUIRES(&dbus->lock)
{
        return dbus->waiting.n_posts < TOTAL_MAX_WAITING &&
               dn__waiting_add(&dbus->waiting, post, peer) == 0;
}

static verdict decide_reserved(dn__dbus *dbus, const dn__post *post) DN__REQUIRES(&dbus->lock)
{
        dn__peer *peer = dn__peers_get(&dbus->peers, post->origin.sender);
        verdict verdict;

        if (!peer)
                return VERDICT_GONE;
        verdict = peer->call ? VERDICT_WAITS : judge(peer, post);
        if (verdict == VERDICT_GENUINE && dbus->waiting.n_posts)
                verdict = VERDICT_WAITS;
        if (verdict != VERDICT_WAITS)
                return verdict;
        return peer->n_posts < SENDER_MAX_WAITING && add_waiting(dbus, post, peer) ? VERDICT_WAITS
                                                                                   : VERDICT_GONE;
}

static verdict decide(dn__dbus *dbus, const dn__post *post) DN__REQUIRES(&dbus->lock)
{
        /* Our own posts were checked when they were made. */
        if (post->name.is_reserved && !post->origin.is_own)
                return decide_reserved(dbus, post);
        return dbus->waiting.n_posts && add_waiting(dbus, post, NULL) ? VERDICT_WAITS
                                                                      : VERDICT_GENUINE;
}

/* Returns how many posts before one are missing. */
static uint64_t count_lost(dn__dbus *dbus, const dn__post *post) DN__REQUIRES(&dbus->lock)
{
        dn__rule *rule = post->body.number ? dn__rules_find(&dbus->rules, &post->name) : NULL;

        return rule ? dn__numbers_note(&dbus->numbers, post, &rule->numbers) : 0;
}

/* Returns whether to deliver a post now, and counts it if that is decided. One that is dropped is
 * missing before the next of its name. */
static bool is_accepted(dn__dbus *dbus, dn__post *post, verdict verdict)
        DN__REQUIRES(&dbus->lock)
{
        if (verdict == VERDICT_GENUINE) {
                dbus->counts.n_received++;
                post->body.n_lost = count_lost(dbus, post);
        } else if (verdict != VERDICT_WAITS) {
                dbus->counts.n_ignored++;
        }
        /* It may have been counted in our table, which can be trusted. */
        if (verdict == VERDICT_GONE)
                note_backlog(dbus, BACKLOG_N_MESSAGES);
        return verdict == VERDICT_GENUINE;
}

/* --- Messages --------------------------------------------------------------------------------- */

static void ignore(dn__dbus *dbus, sd_bus_message *message) DN__REQUIRES(&dbus->lock)
{
        dbus->counts.n_ignored++;
        /* A single foreign message may be large enough to fill the queue. */
        note_backlog(dbus, BACKLOG_N_MESSAGES);
        if (sd_bus_message_is_method_call(message, NULL, NULL) > 0)
                dn__connection_refuse_call(message);
}

static bool is_foreign(const dn__dbus *dbus, const dn__post *post) DN__REQUIRES(&dbus->lock)
{
        return post->region_id && post->region_id != dbus->rules.region_id &&
               !post->origin.is_own;
}

static void pass_on(dn__dbus *dbus, const dn__post *post, bool is_foreign)
{
        if (is_foreign && dbus->sink->other_table)
                dbus->sink->other_table(dbus->context);
        (void)dbus->sink->received(dbus->context, post);
}

void dn__dbus_handle(dn__dbus *dbus, sd_bus_message *message)
{
        dn__post post;
        bool fits = dn__wire_read_post(dbus->wire, message, &post), is_wanted = false;
        bool is_from_elsewhere = false;

        if (!fits && dbus->client && dbus->client->ops->handle(dbus->client, message))
                return;
        dn__lock_acquire(&dbus->lock);
        if (fits) {
                note_backlog(dbus, 1);
                post.origin.is_own = dn__connection_is_own(&dbus->connection, post.origin.sender);
                is_wanted = is_accepted(dbus, &post, decide(dbus, &post));
                is_from_elsewhere = is_foreign(dbus, &post);
        } else {
                ignore(dbus, message);
        }
        dn__lock_release(&dbus->lock);
        if (is_wanted)
                pass_on(dbus, &post, is_from_elsewhere);
        if (fits)
                dn__post_release(&post);
}

/* Returns the first waiting post if it is decided, or NULL. */
static dn__waiting_post *take_decided(dn__dbus *dbus, bool *ret_is_accepted)
        DN__REQUIRES(&dbus->lock)
{
        dn__waiting_post *first = dn__waiting_first(&dbus->waiting);
        dn__peer *peer = first ? first->peer : NULL;

        if (!first || dn__waiting_get_until(&dbus->waiting) > dn__clock_now_us())
                return NULL;
        *ret_is_accepted = is_accepted(dbus, &first->post,
                                       peer ? judge(peer, &first->post) : VERDICT_GENUINE);
        dn__waiting_take(&dbus->waiting, first);
        /* The bus may be asked again when it posts again. */
        if (peer && peer->call)
                dn__peers_forget(&dbus->peers, peer);
        return first;
}

/* The answers received in one step may decide several posts. */
void dn__dbus_handle_decided(dn__dbus *dbus)
{
        dn__waiting_post *decided;
        bool accepted, is_from_elsewhere;

        dn__lock_acquire(&dbus->lock);
        while ((decided = take_decided(dbus, &accepted))) {
                is_from_elsewhere = is_foreign(dbus, &decided->post);
                dn__lock_release(&dbus->lock);
                if (accepted)
                        pass_on(dbus, &decided->post, is_from_elsewhere);
                dn__post_release(&decided->post); /* it may be large: not under the lock */
                dn__lock_acquire(&dbus->lock);
                dn__waiting_post_free(decided);
        }
        dn__lock_release(&dbus->lock);
}
