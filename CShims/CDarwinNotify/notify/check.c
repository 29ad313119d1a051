/* Tokens that are polled rather than notified. */
#include <notify_private.h>

#include "notify/registry.h"
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
        dn__token *token;
        uint32_t n_posts;
        bool may_peek;

        if (!val)
                return NOTIFY_STATUS_NULL_INPUT;
        token = dn__registry_find(number);
        if (!token)
                return NOTIFY_STATUS_INVALID_TOKEN;
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
