/* The tokens of this process, found by their numbers without a lock. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "center/topic.h"
#include "darwinnotify/observer.h"
#include "notify/delivery.h"
#include "notify/file-watch.h"

/* What a token stands for. */
typedef struct dn__registration {
        dn__topic *topic;       /* held */
        dn_observer *observer;  /* owned; NULL: nothing is delivered */
        dn__delivery *delivery; /* borrowed from the observer; NULL: nothing is delivered */
        dn__file_watch *watch;  /* owned; NULL: no file is monitored */
} dn__registration;

/* The part that is read without a lock; its memory is never freed, but used again for another
 * token. So a reader looks at the word before and after: it has the number of the token. */
typedef struct dn__token {
        _Atomic uint64_t word; /* the number, above 32 bits of the posts it has seen; 0: none */
        _Atomic(dn__counter *) counter;
        _Atomic uint32_t n_setting; /* threads that are setting the state */
        _Atomic uint32_t n_alone;  /* posts to this token alone */
        _Atomic bool is_local;     /* the name does not leave the process */
        _Atomic bool is_delivered; /* somewhere, not only checked */
        _Atomic bool is_reserved;  /* the name is not for everybody */
        dn__registration registration; /* guarded by the lock of the registry */
        struct dn__token *next_free;   /* the same */
} dn__token;

static inline int dn__word_get_number(uint64_t word)
{
        return (int)(word >> 32);
}

static inline uint64_t dn__word_make(int number, uint32_t n_posts)
{
        return (uint64_t)number << 32 | n_posts;
}

/* Tells whether the memory is still that of the token. */
static inline bool dn__token_is(const dn__token *token, int number)
{
        return dn__word_get_number(atomic_load(&token->word)) == number;
}

/* Where the tokens are found: by the low bits of their numbers. */
typedef struct dn__token_table {
        struct dn__token_table *before; /* smaller, kept for its readers */
        uint64_t fork_id;
        uint32_t mask;
        _Atomic(dn__token *) tokens[];
} dn__token_table;

/* Of this process, or of the one that it was forked from. */
extern _Atomic(dn__token_table *) dn__registry_table;

static inline _Atomic(dn__token *) *dn__token_table_at(dn__token_table *table, int number)
{
        return &table->tokens[(uint32_t)number & table->mask];
}

/* Finds the memory of a token of this process, or NULL. Async-signal-safe. */
static inline dn__token *dn__registry_find(int number)
{
        dn__token_table *table = atomic_load(&dn__registry_table);
        dn__token *token;

        if (!table || table->fork_id != dn__fork_id())
                return NULL;
        token = atomic_load(dn__token_table_at(table, number));
        return token && dn__token_is(token, number) ? token : NULL;
}

/* The number of posts a token compares. */
static inline uint32_t dn__token_count_posts(const dn__token *token)
{
        return (uint32_t)dn__counter_get_posts(atomic_load(&token->counter)) +
               atomic_load(&token->n_alone);
}

/* Adds a token, which takes over what the registration owns. Returns 0 or -ENOMEM. */
int dn__registry_add(dn__registration registration, dn__counter *counter, int *ret_number);

/* Ends a token; what it owned is the caller's. Returns false if there is no such token. */
bool dn__registry_remove(int number, dn__registration *ret_registration);

/* Returns whether there is such a token, and a reference to its observer, or NULL. */
bool dn__registry_get_observer(int number, dn_observer **ret_observer);

/* Has a token monitor a file. Returns false if there is no such token or it has a file already: the
 * watch is still the caller's then. */
bool dn__registry_set_watch(int number, dn__file_watch *watch);

/* Counts a post to one token alone; returns as dn__registry_get_observer() does. */
bool dn__registry_count_alone(int number, dn_observer **ret_observer);

/* Tells whether this user may set the state of the token's name. */
bool dn__registry_may_set_state(int number);

/* Writes a line for each token, in no particular order. */
void dn__registry_print(FILE *file);
