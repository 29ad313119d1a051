/* The tokens of this process, found by their numbers without a lock.
 *
 * A table is indexed by the low bits of the number. Numbers only go up; one whose place is taken by
 * an older token is left out, so that each token is in its place and nowhere else. A table that is
 * half full is replaced by one of twice the size; the old one stays, because somebody may be
 * reading it. In a forked child the registry is that of the parent: the child makes its own. */
#include "notify/registry.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "bus/access.h"
#include "bus/name.h"

#define FIRST_N_PLACES 64

typedef struct registry {
        dn__per_process process;
        dn__lock lock;
        size_t n_tokens DN__GUARDED_BY(&lock);
        dn__token *free_tokens DN__GUARDED_BY(&lock);
} registry;

_Atomic(dn__token_table *) dn__registry_table;

static _Atomic(dn__per_process *) shared;

/* Of this process and those it was forked from: a child has no number of its parent's. */
static _Atomic uint32_t last_number;

/* --- Making ------------------------------------------------------------------------------- */

static dn__per_process *make(void *context)
{
        registry *registry = calloc(1, sizeof(*registry));

        (void)context;
        if (!registry)
                return NULL;
        dn__lock_init(&registry->lock);
        return &registry->process;
}

static void unmake(dn__per_process *made)
{
        registry *registry = DN__CONTAINER(made, struct registry, process);

        dn__lock_deinit(&registry->lock);
        free(registry);
}

static registry *find_registry(void)
{
        dn__per_process *found = atomic_load_explicit(&shared, memory_order_acquire);

        return found && found->fork_id == dn__fork_id()
                       ? DN__CONTAINER(found, struct registry, process)
                       : NULL;
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

/* Two tokens have different places in a table, so also in one of twice the size. */
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

/* A child leaves the table of its parent alone; as the one before, a leak checker finds it. */
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

static dn__token *take_memory(registry *registry) DN__REQUIRES(&registry->lock)
{
        dn__token *token = registry->free_tokens;

        if (!token)
                return calloc(1, sizeof(*token));
        registry->free_tokens = token->next_free;
        return token;
}

/* After the last number comes the first one again, which nobody remembers any more. */
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

                *ret_number = next_number();
                if (registration.delivery)
                        registration.delivery->token = *ret_number;
                token->registration = registration;
                atomic_store(&token->counter, counter);
                atomic_store(&token->n_alone, 0);
                atomic_store(&token->is_local, dn__name_is_local(name));
                atomic_store(&token->is_delivered, registration.observer != NULL);
                atomic_store(&token->is_reserved, dn__access_is_reserved(name));
                /* The first check is true: it has seen one post less than there were. */
                atomic_store(&token->word,
                             dn__word_make(*ret_number, dn__token_count_posts(token) - 1));
                atomic_store(dn__token_table_at(atomic_load(&dn__registry_table), *ret_number),
                             token);
                registry->n_tokens++;
        }
        dn__lock_release(&registry->lock);
        return token ? 0 : -ENOMEM;
}

/* Returns a token, and has the lock then; or NULL, if there is no such token. */
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

/* --- What a token has --------------------------------------------------------------------- */

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
        may = dn__access_may_post(token->registration.topic->name, geteuid());
        dn__lock_release(&registry->lock);
        return may;
}

/* --- Looking at them ---------------------------------------------------------------------- */

/* One line for each token, whatever its name. */
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
        print_name(file, registration->topic->name);
        (void)fprintf(file, "%s\n", registration->watch ? " (monitors a file)" : "");
}

void dn__registry_print(FILE *file)
{
        registry *registry = find_registry();
        dn__token_table *table;

        if (!registry)
                return;
        dn__lock_acquire(&registry->lock);
        table = registry->n_tokens ? atomic_load(&dn__registry_table) : NULL;
        for (uint32_t i = 0; table && i <= table->mask; i++) {
                dn__token *token = atomic_load(&table->tokens[i]);

                if (token)
                        print_token(file, token);
        }
        dn__lock_release(&registry->lock);
}
