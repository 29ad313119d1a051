/* The state of a name: 64 bits shared by all its registrations. */
#include <notify.h>

#include "center/table.h"
#include "notify/options.h"
#include "notify/registry.h"
#include "util/call.h"

uint32_t notify_get_state(int number, uint64_t *state64)
{
        dn__token *token;
        uint32_t status;
        uint64_t state;

        if (!state64)
                return NOTIFY_STATUS_NULL_INPUT;
        token = dn__registry_find(number);
        if (!token)
                return NOTIFY_STATUS_INVALID_TOKEN;
        status = dn__options_check(atomic_load(&token->reach));
        state = dn__counter_get_state(atomic_load(&token->counter));
        if (!dn__token_is(token, number))
                return NOTIFY_STATUS_INVALID_TOKEN;
        if (status == NOTIFY_STATUS_OK)
                *state64 = state;
        return status;
}

/* Cancelling the token waits for threads setting its state, since the memory may then be reused for
 * another name. */
static bool set(dn__token *token, int number, uint64_t state)
{
        bool is_valid;

        atomic_fetch_add(&token->n_setting, 1);
        is_valid = dn__token_is(token, number);
        if (is_valid)
                dn__counter_set_state(atomic_load(&token->counter), state);
        atomic_fetch_sub(&token->n_setting, 1);
        return is_valid;
}

/* Others do not see what is set in a table that they have left. */
static bool have_followed(void)
{
        dn__hub *hub = dn__hub_find(dn_center_darwin());
        const dn__region *region = hub ? atomic_load(&hub->region) : NULL;

        return region && dn__region_was_left(region) && dn__table_follow(hub, region);
}

uint32_t notify_set_state(int number, uint64_t state64)
{
        DN__CALL();
        dn__token *token = dn__registry_find(number);
        uint32_t status;
        bool is_reserved;

        if (!token)
                return NOTIFY_STATUS_INVALID_TOKEN;
        status = dn__options_check(atomic_load(&token->reach));
        is_reserved = atomic_load(&token->is_reserved);
        if (!dn__token_is(token, number))
                return NOTIFY_STATUS_INVALID_TOKEN;
        if (status != NOTIFY_STATUS_OK || (is_reserved && !dn__registry_may_set_state(number)))
                return status;
        if (!set(token, number, state64) || (have_followed() && !set(token, number, state64)))
                return NOTIFY_STATUS_INVALID_TOKEN;
        return NOTIFY_STATUS_OK;
}
