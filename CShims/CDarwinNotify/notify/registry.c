/* The tokens of this process, found by their numbers without a lock.
 *
 * A table is indexed by the low bits of the number. Numbers only go up; one whose place is taken by
 * an older token is left out, so that each token is in its place and nowhere else. A table that is
 * half full is replaced by one of twice the size; the old one stays, because somebody may be
 * reading it. In a forked child the registry is that of the parent: the child makes its own. */
#include "notify/registry.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "bus/access.h"
#include "bus/name.h"

#define FIRST_N_PLACES 64

typedef struct table {
        struct table *before; /* smaller, kept for its readers */
        uint32_t mask;
        _Atomic(dn__token *) tokens[];
} table;

typedef struct registry {
        dn__per_process process;
        _Atomic(table *) table;
        dn__lock lock;
        size_t n_tokens DN__GUARDED_BY(&lock);
        dn__token *free_tokens DN__GUARDED_BY(&lock);
} registry;

static _Atomic(dn__per_process *) shared;

/* Of this process and those it was forked from: a child has no number of its parent's. */
static _Atomic uint32_t last_number;

/* --- Making ------------------------------------------------------------------------------- */

static table *table_new(uint32_t n_places)
{
        table *made = calloc(1, sizeof(*made) + n_places * sizeof(made->tokens[0]));

        if (made)
                made->mask = n_places - 1;
        return made;
}

static dn__per_process *make(void *context)
{
        registry *registry = calloc(1, sizeof(*registry));
        table *first = table_new(FIRST_N_PLACES);

        (void)context;
        if (!registry || !first) {
                free(registry);
                free(first);
                return NULL;
        }
        dn__lock_init(&registry->lock);
        atomic_init(&registry->table, first);
        return &registry->process;
}

static void unmake(dn__per_process *made)
{
        registry *registry = DN__CONTAINER(made, struct registry, process);

        dn__lock_deinit(&registry->lock);
        free(atomic_load(&registry->table));
        free(registry);
}

/* --- Finding ------------------------------------------------------------------------------ */

static registry *find_registry(void)
{
        dn__per_process *found = atomic_load_explicit(&shared, memory_order_acquire);

        return found && found->fork_id == dn__fork_id()
                       ? DN__CONTAINER(found, struct registry, process)
                       : NULL;
}

static _Atomic(dn__token *) *place_of(table *table, uint32_t number)
{
        return &table->tokens[number & table->mask];
}

static dn__token *find_in(registry *registry, int number)
{
        table *table = atomic_load_explicit(&registry->table, memory_order_acquire);
        dn__token *token =
                atomic_load_explicit(place_of(table, (uint32_t)number), memory_order_acquire);

        return token && dn__token_is(token, number) ? token : NULL;
}

dn__token *dn__registry_find(int number)
{
        registry *registry = number > 0 ? find_registry() : NULL;

        return registry ? find_in(registry, number) : NULL;
}

/* --- Adding and removing ------------------------------------------------------------------ */

/* Two tokens have different places in a table, so also in one of twice the size. */
static bool make_room(registry *registry) DN__REQUIRES(&registry->lock)
{
        table *old = atomic_load(&registry->table), *new;

        if (registry->n_tokens <= old->mask / 2)
                return true;
        if (old->mask >= (uint32_t)INT_MAX / 2)
                return false;
        new = table_new(2 * (old->mask + 1));
        if (!new)
                return false;
        new->before = old;
        for (uint32_t i = 0; i <= old->mask; i++) {
                dn__token *token = atomic_load(&old->tokens[i]);

                if (token)
                        atomic_init(place_of(new, (uint32_t)dn__word_get_number(
                                                          atomic_load(&token->word))),
                                    token);
        }
        atomic_store(&registry->table, new);
        return true;
}

static dn__token *take_memory(registry *registry) DN__REQUIRES(&registry->lock)
{
        dn__token *token = registry->free_tokens;

        if (!token)
                return calloc(1, sizeof(*token));
        registry->free_tokens = token->next_free;
        return token;
}

/* After the last number comes the first one again, which nobody remembers any more. */
static int next_number(registry *registry) DN__REQUIRES(&registry->lock)
{
        table *table = atomic_load(&registry->table);
        uint32_t number = atomic_load(&last_number);

        do {
                number = number == INT_MAX ? 1 : number + 1;
        } while (atomic_load(place_of(table, number)));
        atomic_store(&last_number, number);
        return (int)number;
}

int dn__registry_add(dn__registration registration, dn__counter *counter, int *ret_number)
{
        dn__per_process *found = dn__per_process_get(&shared, make, unmake, NULL);
        registry *registry = found ? DN__CONTAINER(found, struct registry, process) : NULL;
        dn__token *token = NULL;

        if (!registry)
                return -ENOMEM;
        dn__lock_acquire(&registry->lock);
        if (make_room(registry))
                token = take_memory(registry);
        if (token) {
                const char *name = registration.topic->name;

                *ret_number = next_number(registry);
                token->registration = registration;
                atomic_store(&token->counter, counter);
                atomic_store(&token->n_alone, 0);
                atomic_store(&token->is_local, dn__name_is_local(name));
                atomic_store(&token->is_delivered, registration.observer != NULL);
                atomic_store(&token->is_reserved, dn__access_is_reserved(name));
                /* The first check is true: it has seen one post less than there were. */
                atomic_store(&token->word,
                             dn__word_make(*ret_number, dn__token_count_posts(token) - 1));
                atomic_store(place_of(atomic_load(&registry->table), (uint32_t)*ret_number),
                             token);
                registry->n_tokens++;
        }
        dn__lock_release(&registry->lock);
        return token ? 0 : -ENOMEM;
}

bool dn__registry_remove(int number, dn__registration *ret_registration)
{
        registry *registry = number > 0 ? find_registry() : NULL;
        dn__token *token;

        if (!registry)
                return false;
        dn__lock_acquire(&registry->lock);
        token = find_in(registry, number);
        if (token) {
                atomic_store(place_of(atomic_load(&registry->table), (uint32_t)number), NULL);
                atomic_store(&token->word, 0);
                while (atomic_load(&token->n_setting))
                        (void)sched_yield();
                *ret_registration = token->registration;
                token->registration = (dn__registration){ 0 };
                token->next_free = registry->free_tokens;
                registry->free_tokens = token;
                registry->n_tokens--;
        }
        dn__lock_release(&registry->lock);
        return token != NULL;
}

/* --- What a token has --------------------------------------------------------------------- */

static bool get_observer(int number, uint32_t n_alone, dn_observer **ret_observer)
{
        registry *registry = number > 0 ? find_registry() : NULL;
        dn__token *token;

        if (!registry)
                return false;
        dn__lock_acquire(&registry->lock);
        token = find_in(registry, number);
        if (token) {
                *ret_observer = dn_observer_ref(token->registration.observer);
                atomic_fetch_add(&token->n_alone, n_alone);
        }
        dn__lock_release(&registry->lock);
        return token != NULL;
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
        registry *registry = number > 0 ? find_registry() : NULL;
        dn__token *token;
        bool is_set;

        if (!registry)
                return false;
        dn__lock_acquire(&registry->lock);
        token = find_in(registry, number);
        is_set = token && !token->registration.watch;
        if (is_set)
                token->registration.watch = watch;
        dn__lock_release(&registry->lock);
        return is_set;
}

bool dn__registry_may_set_state(int number)
{
        registry *registry = number > 0 ? find_registry() : NULL;
        dn__token *token;
        bool may;

        if (!registry)
                return false;
        dn__lock_acquire(&registry->lock);
        token = find_in(registry, number);
        may = token && dn__access_may_post(token->registration.topic->name, geteuid());
        dn__lock_release(&registry->lock);
        return may;
}

/* --- Looking at them ---------------------------------------------------------------------- */

static void print_token(FILE *file, dn__token *token)
{
        const dn__registration *registration = &token->registration;
        const dn__delivery *delivery = registration->delivery;

        (void)fprintf(file, "%d %s %llu %s%s\n",
                      dn__word_get_number(atomic_load(&token->word)),
                      delivery ? delivery->ops->kind : "check",
                      (unsigned long long)atomic_load(
                              dn__counter_get_state(atomic_load(&token->counter))),
                      registration->topic->name, registration->watch ? " (monitors a file)" : "");
}

void dn__registry_print(FILE *file)
{
        registry *registry = find_registry();
        table *table;

        if (!registry)
                return;
        dn__lock_acquire(&registry->lock);
        table = atomic_load(&registry->table);
        for (uint32_t i = 0; i <= table->mask; i++) {
                dn__token *token = atomic_load(&table->tokens[i]);

                if (token)
                        print_token(file, token);
        }
        dn__lock_release(&registry->lock);
}
