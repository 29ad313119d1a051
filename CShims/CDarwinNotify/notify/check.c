/* Answers the questions about a token: whether its name was posted, and the name's state. */
#include <notify_private.h>

#include "center/table.h"
#include "notify/token.h"
#include "util/call.h"

uint32_t notify_register_plain(const char *name, int *out_token)
{
        DN__CALL();
        if (!name)
                return NOTIFY_STATUS_INVALID_NAME;
        if (!out_token)
                return NOTIFY_STATUS_NULL_INPUT;
        return dn__token_register(name, NULL, NULL, out_token);
}

uint32_t notify_register_check(const char *name, int *out_token)
{
        if (out_token)
                *out_token = NOTIFY_TOKEN_INVALID;
        return notify_register_plain(name, out_token);
}

/* Another thread, or a handler that interrupts this one, may check or cancel the token meanwhile:
 * the word shows it. The caller that exchanges the word answers "yes" for all posts so far. */
uint32_t notify_check(int number, int *check)
{
        dn__token *token;

        if (!check)
                return NOTIFY_STATUS_NULL_INPUT;
        token = dn__registry_find(number);
        while (token) {
                uint64_t word = atomic_load(&token->word);
                uint32_t n_posts = dn__token_count_posts(token);

                if (dn__word_get_number(word) != number)
                        break;
                if ((uint32_t)word != n_posts) {
                        if (!atomic_compare_exchange_strong(&token->word, &word,
                                                            dn__word_make(number, n_posts)))
                                continue;
                        *check = 1;
                        return NOTIFY_STATUS_OK;
                }
                if (!dn__token_is(token, number))
                        break;
                *check = 0;
                return NOTIFY_STATUS_OK;
        }
        return NOTIFY_STATUS_INVALID_TOKEN;
}

uint32_t notify_peek(int number, uint32_t *val)
{
        const dn__token *token = val ? dn__registry_find(number) : NULL;
        uint32_t n_posts;
        bool may_peek;

        if (!token)
                return val ? NOTIFY_STATUS_INVALID_TOKEN : NOTIFY_STATUS_NULL_INPUT;
        may_peek = atomic_load(&token->reach) == DN__REACH_PROCESS ||
                   !atomic_load(&token->is_delivered);
        n_posts = dn__token_count_posts(token);
        if (!dn__token_is(token, number))
                return NOTIFY_STATUS_INVALID_TOKEN;
        if (!may_peek)
                return NOTIFY_STATUS_INVALID_REQUEST;
        *val = n_posts;
        return NOTIFY_STATUS_OK;
}

/* --- The state of a name: 64 bits shared by all its registrations ----------------------------- */

uint32_t notify_get_state(int number, uint64_t *state64)
{
        const dn__token *token = state64 ? dn__registry_find(number) : NULL;
        uint32_t status;
        uint64_t state;

        if (!token)
                return state64 ? NOTIFY_STATUS_INVALID_TOKEN : NOTIFY_STATUS_NULL_INPUT;
        status = dn__token_check_options(atomic_load(&token->reach));
        state = dn__counter_get_state(atomic_load(&token->counter));
        if (!dn__token_is(token, number))
                return NOTIFY_STATUS_INVALID_TOKEN;
        if (status == NOTIFY_STATUS_OK)
                *state64 = state;
        return status;
}

/* A process that has left the table does not see a state that is set there. */
static bool have_followed(void)
{
        dn__hub *hub = dn__hub_find(dn_center_darwin());
        const dn__region *region = hub ? atomic_load(&hub->region) : NULL;

        if (!region || !dn__region_was_left(region))
                return false;
        dn__table_look(hub, false);
        return hub->region != region;
}

uint32_t notify_set_state(int number, uint64_t state64)
{
        DN__CALL();
        dn__token *token = dn__registry_find(number);
        uint32_t status;

        if (!token)
                return NOTIFY_STATUS_INVALID_TOKEN;
        status = dn__token_check_options(atomic_load(&token->reach));
        if (!dn__token_is(token, number))
                return NOTIFY_STATUS_INVALID_TOKEN;
        if (status != NOTIFY_STATUS_OK)
                return status;
        if (!dn__registry_set_state(number, state64) ||
            (have_followed() && !dn__registry_set_state(number, state64)))
                return NOTIFY_STATUS_INVALID_TOKEN;
        return NOTIFY_STATUS_OK;
}
