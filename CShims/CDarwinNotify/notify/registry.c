/* The tokens of this process, found by number without a lock.
 *
 * A table is indexed by the low bits of the number. Numbers only increase; a number whose place is
 * taken by an older token is skipped, so each token has one fixed place. A half-full table is
 * replaced by one twice its size; the old one is kept, because readers may still be using it. A
 * forked child leaves its parent's registry alone and creates its own. */
#include "notify/registry.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/cleanup.h"

#define FIRST_N_PLACES 64

typedef struct registry {
        dn__per_process process;
        dn__lock lock;
        size_t n_tokens DN__GUARDED_BY(&lock);
        dn__token *free_tokens DN__GUARDED_BY(&lock);
} registry;

_Atomic(dn__token_table *) dn__registry_table;

static _Atomic(dn__per_process *) shared;

/* Shared with ancestors: a child never reuses a number of its parent. */
static _Atomic uint32_t last_number;

/* --- Creation ----------------------------------------------------------------------------- */

static dn__per_process *make(void *context)
{
        registry *registry = calloc(1, sizeof(*registry));

        (void)context;
        if (!registry)
                return NULL;
        dn__lock_init(&registry->lock);
        return &registry->process;
}

static void discard(dn__per_process *made)
{
        registry *registry = DN__CONTAINER(made, struct registry, process);

        dn__lock_deinit(&registry->lock);
        free(registry);
}

static registry *find_registry(void)
{
        dn__per_process *found = dn__per_process_find(&shared);

        return found ? DN__CONTAINER(found, struct registry, process) : NULL;
}

/* --- Adding and removing ------------------------------------------------------------------ */

static dn__token_table *table_new(uint32_t n_places, dn__token_table *before)
{
        dn__token_table *table = calloc(1, sizeof(*table) + n_places * sizeof(table->tokens[0]));

        if (!table)
                return NULL;
        table->before = before;
        table->fork_id = dn__fork_id();
        table->mask = n_places - 1;
        return table;
}

/* Tokens with different places in a table also have different places in one twice its size. */
static void copy_tokens(dn__token_table *to, dn__token_table *from)
{
        for (uint32_t i = 0; i <= from->mask; i++) {
                dn__token *token = atomic_load(&from->tokens[i]);

                if (token)
                        atomic_init(dn__token_table_at(to, dn__word_get_number(
                                                                   atomic_load(&token->word))),
                                    token);
        }
}

/* A child leaves its parent's table alone; like a replaced one, it stays reachable for leak
 * checkers. */
static bool make_room(registry *registry) DN__REQUIRES(&registry->lock)
{
        dn__token_table *old = atomic_load(&dn__registry_table), *new;
        bool is_ours = old && old->fork_id == dn__fork_id();

        if (is_ours && registry->n_tokens <= old->mask / 2)
                return true;
        if (is_ours && old->mask >= (uint32_t)INT_MAX / 2)
                return false;
        new = table_new(is_ours ? 2 * (old->mask + 1) : FIRST_N_PLACES, old);
        if (!new)
                return false;
        if (is_ours)
                copy_tokens(new, old);
        atomic_store(&dn__registry_table, new);
        return true;
}

static dn__token *allocate_token(registry *registry) DN__REQUIRES(&registry->lock)
{
        dn__token *token = registry->free_tokens;

        if (!token)
                return calloc(1, sizeof(*token));
        registry->free_tokens = token->next_free;
        return token;
}

/* Wraps around; by then the first numbers are long out of use. */
static int next_number(void)
{
        dn__token_table *table = atomic_load(&dn__registry_table);
        uint32_t number = atomic_load(&last_number);

        do {
                number = number == INT_MAX ? 1 : number + 1;
        } while (atomic_load(dn__token_table_at(table, (int)number)));
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
        atomic_store(&token->is_reserved, name->is_reserved);
        /* Makes the first check succeed: the token has seen one post fewer than there were. */
        atomic_store(&token->word, dn__word_make(number, dn__token_count_posts(token) - 1));
        atomic_store(dn__token_table_at(atomic_load(&dn__registry_table), number), token);
}

int dn__registry_add(dn__registration registration, dn__counter *counter, int *ret_number)
{
        dn__per_process *found = dn__per_process_get(&shared, make, discard, NULL);
        registry *registry = found ? DN__CONTAINER(found, struct registry, process) : NULL;
        dn__token *token;

        assert(registration.topic && counter && !registration.watch);
        if (!registry)
                return -ENOMEM;
        DN__HOLD(&registry->lock);
        token = make_room(registry) ? allocate_token(registry) : NULL;
        if (!token)
                return -ENOMEM;
        *ret_number = next_number();
        publish(token, *ret_number, &registration, counter);
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
        registry *registry = find_registry();
        dn__token *token = acquire_token(registry, number);

        if (!token)
                return false;
        atomic_store(dn__token_table_at(atomic_load(&dn__registry_table), number), NULL);
        atomic_store(&token->word, 0);
        while (atomic_load(&token->n_setting))
                (void)sched_yield();
        *ret_registration = token->registration;
        token->registration = (dn__registration){ 0 };
        token->next_free = registry->free_tokens;
        registry->free_tokens = token;
        registry->n_tokens--;
        dn__lock_release(&registry->lock);
        return true;
}

/* --- Access to tokens --------------------------------------------------------------------- */

static bool get_observer(int number, uint32_t n_alone, dn_observer **ret_observer)
{
        registry *registry = find_registry();
        dn__token *token = acquire_token(registry, number);

        if (!token)
                return false;
        *ret_observer = dn_observer_ref(token->registration.observer);
        atomic_fetch_add(&token->n_alone, n_alone);
        dn__lock_release(&registry->lock);
        return true;
}

bool dn__registry_get_observer(int number, dn_observer **ret_observer)
{
        return get_observer(number, 0, ret_observer);
}

bool dn__registry_count_alone(int number, dn_observer **ret_observer)
{
        return get_observer(number, 1, ret_observer);
}

bool dn__registry_set_watch(int number, dn__file_watch *watch)
{
        registry *registry = find_registry();
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

bool dn__registry_may_set_state(int number)
{
        registry *registry = find_registry();
        dn__token *token = acquire_token(registry, number);
        bool may;

        if (!token)
                return false;
        may = dn__name_may_post(&token->registration.topic->name, geteuid());
        dn__lock_release(&registry->lock);
        return may;
}

/* --- Emptying ----------------------------------------------------------------------------- */

int dn__registry_get_any(uint32_t *place)
{
        registry *registry = find_registry();
        dn__token_table *table;
        dn__token *token = NULL;

        if (!registry)
                return 0;
        DN__HOLD(&registry->lock);
        table = registry->n_tokens ? atomic_load(&dn__registry_table) : NULL;
        for (; table && !token && *place <= table->mask; (*place)++)
                token = atomic_load(&table->tokens[*place]);
        return token ? dn__word_get_number(atomic_load(&token->word)) : 0;
}

/* Those of the parent stay. */
static void free_tables(void)
{
        dn__token_table *table = atomic_load(&dn__registry_table);

        while (table && table->fork_id == dn__fork_id()) {
                dn__token_table *before = table->before;

                atomic_store(&dn__registry_table, before);
                free(table);
                table = before;
        }
}

static void free_unused(registry *registry)
{
        DN__HOLD(&registry->lock);

        assert(registry->n_tokens == 0);
        while (registry->free_tokens) {
                dn__token *token = registry->free_tokens;

                registry->free_tokens = token->next_free;
                free(token);
        }
}

void dn__registry_free(void)
{
        dn__per_process *found = dn__per_process_take(&shared);

        free_tables();
        if (!found)
                return;
        free_unused(DN__CONTAINER(found, struct registry, process));
        discard(found);
}

/* --- Listing ------------------------------------------------------------------------------ */

/* Prints one line per token, whatever characters its name contains. */
static void print_name(FILE *file, const char *name)
{
        for (; *name; name++)
                if ((unsigned char)*name < ' ' || *name == 0x7f)
                        (void)fprintf(file, "\\x%02x", (unsigned char)*name);
                else
                        (void)fputc(*name, file);
}

static void print_token(FILE *file, const dn__token *token)
{
        const dn__registration *registration = &token->registration;
        const dn__delivery *delivery = registration->delivery;

        (void)fprintf(file, "%d %s %" PRIu64 " ",
                      dn__word_get_number(atomic_load(&token->word)),
                      delivery ? delivery->ops->kind : "check",
                      dn__counter_get_state(atomic_load(&token->counter)));
        print_name(file, registration->topic->name.text);
        (void)fprintf(file, "%s\n", registration->watch ? " (monitors a file)" : "");
}

void dn__registry_print(FILE *file)
{
        registry *registry = find_registry();
        dn__token_table *table;

        if (!registry)
                return;
        DN__HOLD(&registry->lock);
        table = registry->n_tokens ? atomic_load(&dn__registry_table) : NULL;
        for (uint32_t i = 0; table && i <= table->mask; i++) {
                dn__token *token = atomic_load(&table->tokens[i]);

                if (token)
                        print_token(file, token);
        }
}
