/* The tokens of this process, found by number without a lock. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "center/topic.h"
#include "darwinnotify/observer.h"
#include "filewatch/watch.h"
#include "notify/delivery.h"

/* What a token owns. */
typedef struct dn__registration {
        dn__topic *topic;       /* held */
        dn_observer *observer;  /* owned; NULL: the token is only checked */
        dn__delivery *delivery; /* borrowed from the observer; NULL: the token is only checked */
        dn__file_watch *watch;  /* owned; NULL: no file is monitored */
} dn__registration;

/* The part read without a lock; its memory is not freed but reused for another token. Readers
 * therefore check before and after that the word has the token's number. */
typedef struct dn__token {
        _Atomic uint64_t word; /* the number above the 32-bit count of posts seen; 0: unused */
        _Atomic(dn__counter *) counter;
        _Atomic uint32_t n_setting; /* threads currently setting the state */
        _Atomic uint32_t n_alone;   /* posts to this token only */
        _Atomic dn__reach reach;    /* of the name */
        _Atomic bool is_delivered; /* posts are delivered, not only checked */
        _Atomic bool is_reserved;  /* the name is restricted to certain users */
        dn__registration registration; /* guarded by the registry's lock */
        struct dn__token *next_free;   /* likewise */
} dn__token;

static inline int dn__word_get_number(uint64_t word)
{
        return (int)(word >> 32);
}

static inline uint64_t dn__word_make(int number, uint32_t n_posts)
{
        return (uint64_t)number << 32 | n_posts;
}

/* Returns whether the memory still belongs to the token. */
static inline bool dn__token_is(const dn__token *token, int number)
{
        return dn__word_get_number(atomic_load(&token->word)) == number;
}

/* Maps the low bits of token numbers to tokens. */
typedef struct dn__token_table {
        struct dn__token_table *before; /* smaller, kept for its readers */
        uint64_t fork_id;
        uint32_t mask;
        _Atomic(dn__token *) tokens[];
} dn__token_table;

/* Belongs to this process or to its parent. */
extern _Atomic(dn__token_table *) dn__registry_table;

static inline _Atomic(dn__token *) *dn__token_table_at(dn__token_table *table, int number)
{
        return &table->tokens[(uint32_t)number & table->mask];
}

/* Returns the memory of a token of this process, or NULL. Async-signal-safe. */
static inline dn__token *dn__registry_find(int number)
{
        dn__token_table *table = atomic_load(&dn__registry_table);
        dn__token *token;

        if (!table || table->fork_id != dn__fork_id())
                return NULL;
        token = atomic_load(dn__token_table_at(table, number));
        return token && dn__token_is(token, number) ? token : NULL;
}

/* Returns the number of posts that a token compares. */
static inline uint32_t dn__token_count_posts(const dn__token *token)
{
        return (uint32_t)dn__counter_get_posts(atomic_load(&token->counter)) +
               atomic_load(&token->n_alone);
}

/* Adds a token, which takes ownership of the registration's contents. Returns 0 or -ENOMEM. */
int dn__registry_add(dn__registration registration, dn__counter *counter, int *ret_number);

/* Removes a token and passes ownership of its contents to the caller. Returns false if there is no
 * such token. */
bool dn__registry_remove(int number, dn__registration *ret_registration);

/* Returns whether the token exists, and a reference to its observer or NULL. */
bool dn__registry_get_observer(int number, dn_observer **ret_observer);

/* Attaches a file watch to a token. Returns false if the token does not exist or already has one:
 * the caller keeps the watch. */
bool dn__registry_set_watch(int number, dn__file_watch *watch);

/* Counts a post to one token only; returns as dn__registry_get_observer(). */
bool dn__registry_count_alone(int number, dn_observer **ret_observer);

/* Returns whether this user may set the state of the token's name. */
bool dn__registry_may_set_state(int number);

/* Returns the number of a token, or 0 at the end. `place` is 0 for the first one, and then where
 * the next call goes on. */
int dn__registry_get_any(uint32_t *place);

/* Frees the registry, which is empty. While nobody reads a token. */
void dn__registry_free(void);

/* Prints a line for each token, in no particular order. */
void dn__registry_print(FILE *file);
