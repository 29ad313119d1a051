/* The tokens of this process, found by number without a lock.
 *
 * A token's place is given by the low bits of its number. Numbers only increase; a number whose
 * place is taken by an older token is skipped. A forked child leaves its parent's registry alone
 * and creates its own. */
#include "notify/registry.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/fork.h"

/* As many tokens can a process have, a power of two. The kernel gives memory only for places that
 * were used. */
#define DN__TOKENS_MAX 65536

typedef struct registry {
        dn__per_process process;
        dn__lock lock;
        size_t n_tokens DN__GUARDED_BY(&lock);
        dn__token tokens[DN__TOKENS_MAX];
} registry;

static _Atomic(dn__per_process *) shared;

/* Shared with ancestors: a child never reuses a number of its parent. */
static _Atomic uint32_t last_number;

static void init_registry(void *state)
{
        dn__lock_init(&((registry *)state)->lock);
}

static dn__token *place_of(registry *registry, int number)
{
        return &registry->tokens[(uint32_t)number % DN__TOKENS_MAX];
}

dn__token *dn__registry_find(int number)
{
        registry *registry = dn__per_process_find(&shared);
        dn__token *token = registry ? place_of(registry, number) : NULL;

        return token && number && dn__token_is(token, number) ? token : NULL;
}

/* --- Adding and removing ------------------------------------------------------------------ */

/* Wraps around, long after the first numbers were in use. */
static int next_number(registry *registry)
{
        uint32_t number = atomic_load(&last_number);

        do {
                number = number == INT_MAX ? 1 : number + 1;
        } while (atomic_load(&place_of(registry, (int)number)->word));
        atomic_store(&last_number, number);
        return (int)number;
}

/* Initializes the token, then makes it visible. */
static void publish(dn__token *token, int number, const dn__registration *registration,
                    dn__counter *counter)
{
        const dn__name *name = &registration->topic->name;

        if (registration->delivery)
                registration->delivery->token = number;
        token->registration = *registration;
        atomic_store(&token->counter, counter);
        atomic_store(&token->n_alone, 0);
        atomic_store(&token->reach, name->reach);
        atomic_store(&token->is_delivered, registration->observer != NULL);
        /* Makes the first check succeed: the token has seen one post fewer than there were. */
        atomic_store(&token->word, dn__word_make(number, dn__token_count_posts(token) - 1));
}

int dn__registry_add(dn__registration registration, dn__counter *counter, int *ret_number)
{
        registry *registry = dn__process_state_get(&shared, sizeof(*registry), init_registry);

        assert(registration.topic && counter && !registration.watch);
        if (!registry)
                return -ENOMEM;
        DN__HOLD(&registry->lock);
        if (registry->n_tokens == DN__TOKENS_MAX)
                return -ENOMEM;
        *ret_number = next_number(registry);
        publish(place_of(registry, *ret_number), *ret_number, &registration, counter);
        registry->n_tokens++;
        return 0;
}

/* Returns a token with the lock held, or NULL without the lock if there is none. */
static dn__token *acquire_token(registry *registry, int number)
        DN__TSA(try_acquire_capability(true, &registry->lock))
{
        dn__token *token;

        if (!registry)
                return NULL;
        dn__lock_acquire(&registry->lock);
        token = dn__registry_find(number);
        if (!token)
                dn__lock_release(&registry->lock);
        return token;
}

bool dn__registry_remove(int number, dn__registration *ret_registration)
{
        registry *registry = dn__per_process_find(&shared);
        dn__token *token = acquire_token(registry, number);

        if (!token)
                return false;
        atomic_store(&token->word, 0);
        *ret_registration = token->registration;
        token->registration = (dn__registration){ 0 };
        registry->n_tokens--;
        dn__lock_release(&registry->lock);
        return true;
}

/* --- Access to tokens --------------------------------------------------------------------- */

bool dn__registry_call_observer(int number, uint32_t n_alone, void (*call)(dn_observer *observer))
{
        registry *registry = dn__per_process_find(&shared);
        dn__token *token = acquire_token(registry, number);
        dn_observer *observer;

        if (!token)
                return false;
        observer = dn_observer_ref(token->registration.observer);
        atomic_fetch_add(&token->n_alone, n_alone);
        dn__lock_release(&registry->lock);
        if (observer)
                call(observer);
        (void)dn_observer_unref(observer);
        return true;
}

bool dn__registry_set_watch(int number, dn__file_watch *watch)
{
        registry *registry = dn__per_process_find(&shared);
        dn__token *token = acquire_token(registry, number);
        bool is_set;

        assert(watch);
        if (!token)
                return false;
        is_set = !token->registration.watch;
        if (is_set)
                token->registration.watch = watch;
        dn__lock_release(&registry->lock);
        return is_set;
}

/* Under the lock the memory cannot become that of another name. */
bool dn__registry_set_state(int number, uint64_t state)
{
        registry *registry = dn__per_process_find(&shared);
        dn__token *token = acquire_token(registry, number);
        const dn__name *name;

        if (!token)
                return false;
        name = &token->registration.topic->name;
        if (!name->is_reserved || dn__name_may_post(name, geteuid()))
                dn__counter_set_state(atomic_load(&token->counter), state);
        dn__lock_release(&registry->lock);
        return true;
}

/* --- Emptying ----------------------------------------------------------------------------- */

int dn__registry_get_any(uint32_t *place)
{
        registry *registry = dn__per_process_find(&shared);
        int number = 0;

        if (!registry)
                return 0;
        DN__HOLD(&registry->lock);
        for (; registry->n_tokens > 0 && !number && *place < DN__TOKENS_MAX; (*place)++)
                number = dn__token_get_number(&registry->tokens[*place]);
        return number;
}

void dn__registry_free(void)
{
        free(dn__per_process_take(&shared));
}
