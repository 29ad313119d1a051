/* The tokens of this process, which can be read by number without a lock.
 *
 * A token's index is given by the low bits of its number. Numbers only increase; a number whose
 * index is taken by an older token is skipped. A forked child leaves its parent's registry alone
 * and creates its own. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <notify_private.h>
#include <stdlib.h>
#include <unistd.h>

#include "center/table.h"
#include "notify/token.h"
#include "util/cleanup.h"
#include "util/fork.h"
#include "util/gate.h"

/* All fields but the last are read without a lock, and the memory is reused for other tokens.
 * Readers therefore check before and after that the word has the token's number. */
typedef struct token {
        _Atomic uint64_t word; /* the number above the 32-bit count of posts seen; 0: unused */
        _Atomic(dn__counter *) counter;
        _Atomic uint32_t n_alone;   /* posts to this token only */
        _Atomic dn__reach reach;    /* of the name */
        _Atomic bool is_delivered; /* posts are delivered, not only checked */
        dn__registration registration; /* guarded by the registry's lock */
} token;

static int number_of(uint64_t word)
{
        return (int)(word >> 32);
}

static uint64_t make_word(int number, uint32_t n_posts)
{
        return (uint64_t)number << 32 | n_posts;
}

static int get_number(const token *token)
{
        return number_of(atomic_load(&token->word));
}

/* Returns whether the memory still belongs to the token. */
static bool is_token(const token *token, int number)
{
        return get_number(token) == number;
}

/* Returns the number of posts that a token compares. */
static uint32_t count_posts(const token *token)
{
        return (uint32_t)dn__counter_get_posts(atomic_load(&token->counter)) +
               atomic_load(&token->n_alone);
}

/* How many tokens have room in a block: a power of two. The kernel allocates memory only for the
 * entries in use. */
#define BLOCK_TOKENS 65536

/* A token's number is its index in one of the blocks, modulo their size. A block is never freed or
 * moved while tokens are in use, because they are read without a lock. */
typedef struct block {
        token tokens[BLOCK_TOKENS];
        _Atomic(struct block *) next;
} block;

typedef struct registry {
        dn__per_process process;
        dn__lock lock;
        size_t n_tokens DN__GUARDED_BY(&lock);
        size_t n_more_blocks DN__GUARDED_BY(&lock);
        block first;
} registry;

static _Atomic(dn__per_process *) shared;

/* Shared with ancestors: a child never reuses a number of its parent. */
static _Atomic uint32_t last_number;

static void init_registry(void *state)
{
        dn__lock_init(&((registry *)state)->lock);
}

/* Returns the memory of the token with this number, or NULL; of number 0, memory that is free for
 * the token with the index. Async-signal-safe. */
static token *find_in(registry *registry, uint32_t index, int number)
{
        for (block *block = &registry->first; block; block = atomic_load(&block->next)) {
                token *token = &block->tokens[index % BLOCK_TOKENS];

                if (is_token(token, number))
                        return token;
        }
        return NULL;
}

/* Returns the memory of a token, or NULL. Async-signal-safe. */
static token *find(int number)
{
        registry *registry = dn__per_process_find(&shared);

        return registry && number ? find_in(registry, (uint32_t)number, number) : NULL;
}

/* --- Adding and removing ------------------------------------------------------------------ */

/* Keeps a quarter of the memory free, so that a free number is found soon. */
static int make_room(registry *registry) DN__REQUIRES(&registry->lock)
{
        size_t n_most = (registry->n_more_blocks + 1) * (BLOCK_TOKENS / 4 * 3);
        block *last = &registry->first, *next;

        if (registry->n_tokens < n_most)
                return 0;
        next = calloc(1, sizeof(*next));
        if (!next)
                return -ENOMEM;
        while (atomic_load(&last->next))
                last = atomic_load(&last->next);
        atomic_store(&last->next, next);
        registry->n_more_blocks++;
        return 0;
}

/* Wraps around, long after the first numbers were in use. */
static token *next_token(registry *registry, int *ret_number) DN__REQUIRES(&registry->lock)
{
        uint32_t number = atomic_load(&last_number);
        token *token;

        do {
                number = number == INT_MAX ? 1 : number + 1;
                token = find(number) ? NULL : find_in(registry, number, 0);
        } while (!token);
        atomic_store(&last_number, number);
        *ret_number = (int)number;
        return token;
}

/* Initializes the token, then makes it visible. */
static void publish(token *token, int number, const dn__registration *registration,
                    dn__counter *counter)
{
        const dn__name *name = &registration->topic->name;

        if (registration->target)
                registration->target->token = number;
        token->registration = *registration;
        atomic_store(&token->counter, counter);
        atomic_store(&token->n_alone, 0);
        atomic_store(&token->reach, name->reach);
        atomic_store(&token->is_delivered, registration->observer != NULL);
        /* Makes the first check succeed: the token has seen one post fewer than there were. */
        atomic_store(&token->word, make_word(number, count_posts(token) - 1));
}

int dn__registry_add(dn__registration registration, dn__counter *counter, int *ret_number)
{
        registry *registry = dn__process_state_get(&shared, sizeof(*registry), init_registry);
        token *token;

        assert(registration.topic && counter && !registration.watch);
        if (!registry)
                return -ENOMEM;
        DN__AUTO_LOCK(&registry->lock);
        if (make_room(registry) < 0)
                return -ENOMEM;
        token = next_token(registry, ret_number);
        publish(token, *ret_number, &registration, counter);
        registry->n_tokens++;
        return 0;
}

/* Returns a token with the lock held, or NULL without the lock if there is none. */
static token *acquire_token(registry *registry, int number)
        DN__TSA(try_acquire_capability(true, &registry->lock))
{
        token *token;

        if (!registry)
                return NULL;
        dn__lock_acquire(&registry->lock);
        token = find(number);
        if (!token)
                dn__lock_release(&registry->lock);
        return token;
}

bool dn__registry_remove(int number, dn__registration *ret_registration)
{
        registry *registry = dn__per_process_find(&shared);
        token *token = acquire_token(registry, number);

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

uint32_t dn__registry_call_observer(int number, uint32_t n_alone,
                                    void (*call)(dn_observer *observer))
{
        registry *registry = dn__per_process_find(&shared);
        token *token = acquire_token(registry, number);
        dn_observer *observer;

        if (!token)
                return NOTIFY_STATUS_INVALID_TOKEN;
        observer = dn_observer_ref(token->registration.observer);
        atomic_fetch_add(&token->n_alone, n_alone);
        dn__lock_release(&registry->lock);
        if (observer)
                call(observer);
        (void)dn_observer_unref(observer);
        return NOTIFY_STATUS_OK;
}

uint32_t dn__registry_set_watch(int number, dn__file_watch *watch)
{
        registry *registry = dn__per_process_find(&shared);
        token *token = acquire_token(registry, number);
        bool may_have_one;

        if (!token)
                return NOTIFY_STATUS_INVALID_TOKEN;
        may_have_one = atomic_load(&token->reach) != DN__REACH_PROCESS &&
                       !token->registration.watch;
        if (may_have_one)
                token->registration.watch = watch;
        dn__lock_release(&registry->lock);
        return may_have_one ? NOTIFY_STATUS_OK : NOTIFY_STATUS_INVALID_REQUEST;
}

/* --- Whether a name was posted ---------------------------------------------------------------- */

bool notify_is_valid_token(int number)
{
        return find(number) != NULL;
}

/* Another thread, or a handler that interrupts this one, may check or cancel the token meanwhile:
 * the word shows this. The caller that exchanges the word answers "yes" for all posts so far. */
uint32_t notify_check(int number, int *check)
{
        token *token;

        if (!check)
                return NOTIFY_STATUS_NULL_INPUT;
        token = find(number);
        while (token) {
                uint64_t word = atomic_load(&token->word);
                uint32_t n_posts = count_posts(token);

                if (number_of(word) != number)
                        break;
                if ((uint32_t)word != n_posts) {
                        if (!atomic_compare_exchange_strong(&token->word, &word,
                                                            make_word(number, n_posts)))
                                continue;
                        *check = 1;
                        return NOTIFY_STATUS_OK;
                }
                if (!is_token(token, number))
                        break;
                *check = 0;
                return NOTIFY_STATUS_OK;
        }
        return NOTIFY_STATUS_INVALID_TOKEN;
}

uint32_t notify_peek(int number, uint32_t *val)
{
        const token *token = val ? find(number) : NULL;
        uint32_t n_posts;
        bool may_peek;

        if (!token)
                return val ? NOTIFY_STATUS_INVALID_TOKEN : NOTIFY_STATUS_NULL_INPUT;
        may_peek = atomic_load(&token->reach) == DN__REACH_PROCESS ||
                   !atomic_load(&token->is_delivered);
        n_posts = count_posts(token);
        if (!is_token(token, number))
                return NOTIFY_STATUS_INVALID_TOKEN;
        if (!may_peek)
                return NOTIFY_STATUS_INVALID_REQUEST;
        *val = n_posts;
        return NOTIFY_STATUS_OK;
}

/* --- The state of a name: 64 bits shared by all its registrations ----------------------------- */

uint32_t notify_get_state(int number, uint64_t *state64)
{
        const token *token = state64 ? find(number) : NULL;
        uint32_t status;
        uint64_t state;

        if (!token)
                return state64 ? NOTIFY_STATUS_INVALID_TOKEN : NOTIFY_STATUS_NULL_INPUT;
        status = dn__token_check_options(atomic_load(&token->reach));
        state = dn__counter_get_state(atomic_load(&token->counter));
        if (!is_token(token, number))
                return NOTIFY_STATUS_INVALID_TOKEN;
        if (status == NOTIFY_STATUS_OK)
                *state64 = state;
        return status;
}

/* If this user may. Under the lock, the memory cannot pass to another name. */
static uint32_t set_state(int number, uint64_t state)
{
        registry *registry = dn__per_process_find(&shared);
        token *token = acquire_token(registry, number);
        const dn__name *name;
        uint32_t status;

        if (!token)
                return NOTIFY_STATUS_INVALID_TOKEN;
        name = &token->registration.topic->name;
        status = dn__token_check_options(name->reach);
        if (status == NOTIFY_STATUS_OK &&
            (!name->is_reserved || dn__name_may_post(name, geteuid())))
                dn__counter_set_state(atomic_load(&token->counter), state);
        dn__lock_release(&registry->lock);
        return status;
}

/* Processes that have moved do not see a state that is set in a stale table. */
static bool have_moved(void)
{
        dn__hub *hub = dn__hub_find(dn_center_darwin());
        const dn__region *region = hub ? atomic_load(&hub->member.region) : NULL;

        if (!region || !dn__region_is_stale(region))
                return false;
        dn__table_look(hub, false);
        return atomic_load(&hub->member.region) != region;
}

uint32_t notify_set_state(int number, uint64_t state64)
{
        DN__GATE();
        uint32_t status = set_state(number, state64);

        return status == NOTIFY_STATUS_OK && have_moved() ? set_state(number, state64) : status;
}

/* --- Emptying ----------------------------------------------------------------------------- */

int dn__registry_get_any(uint32_t *index)
{
        registry *registry = dn__per_process_find(&shared);
        const block *block = registry ? &registry->first : NULL;
        int number = 0;

        if (!registry)
                return 0;
        DN__AUTO_LOCK(&registry->lock);
        for (uint32_t i = 0; i < *index / BLOCK_TOKENS; i++)
                block = atomic_load(&block->next);
        while (registry->n_tokens > 0 && !number && block) {
                number = get_number(&block->tokens[(*index)++ % BLOCK_TOKENS]);
                if (*index % BLOCK_TOKENS == 0)
                        block = atomic_load(&block->next);
        }
        return number;
}

void dn__registry_free(void)
{
        registry *registry = dn__per_process_take(&shared);
        block *next = registry ? atomic_load(&registry->first.next) : NULL;

        for (block *block; (block = next);) {
                next = atomic_load(&block->next);
                free(block);
        }
        free(registry);
}
