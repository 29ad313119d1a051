/* The tokens of this process, found by number without a lock. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "darwinnotify/observer.h"
#include "darwinnotify/token.h"
#include "delivery/topic.h"
#include "notify/file-watch.h"

/* A pipe that receives the tokens of one or more registrations (descriptor.c). */
typedef struct dn__pipe dn__pipe;

/* Where the posts of a token go: to a function of the host or, without one, into a pipe. */
typedef struct dn__delivery {
        dn_token_handler handler; /* owned */
        dn__pipe *pipe;           /* guarded by descriptor.c; NULL once the token is cancelled */
        int token;                /* set before the first delivery */
} dn__delivery;

/* What a token owns. */
typedef struct dn__registration {
        dn__topic *topic;       /* held */
        dn_observer *observer;  /* owned; NULL: the token is only checked */
        dn__delivery *delivery; /* borrowed from the observer; NULL: the token is only checked */
        dn__file_watch *watch;  /* owned; NULL: no file is monitored */
} dn__registration;

/* All fields but the last are read without a lock, and the memory is reused for other tokens.
 * Readers therefore check before and after that the word has the token's number. */
typedef struct dn__token {
        _Atomic uint64_t word; /* the number above the 32-bit count of posts seen; 0: unused */
        _Atomic(dn__counter *) counter;
        _Atomic uint32_t n_alone;   /* posts to this token only */
        _Atomic dn__reach reach;    /* of the name */
        _Atomic bool is_delivered; /* posts are delivered, not only checked */
        dn__registration registration; /* guarded by the registry's lock */
} dn__token;

static inline int dn__word_get_number(uint64_t word)
{
        return (int)(word >> 32);
}

static inline uint64_t dn__word_make(int number, uint32_t n_posts)
{
        return (uint64_t)number << 32 | n_posts;
}

static inline int dn__token_get_number(const dn__token *token)
{
        return dn__word_get_number(atomic_load(&token->word));
}

/* Returns whether the memory still belongs to the token. */
static inline bool dn__token_is(const dn__token *token, int number)
{
        return dn__token_get_number(token) == number;
}

/* Returns the memory of a token of this process, or NULL. Async-signal-safe. */
dn__token *dn__registry_find(int number);

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

/* Counts posts to this token only, then calls a function for its observer, if it has one. Returns
 * whether the token exists. */
bool dn__registry_call_observer(int number, uint32_t n_alone, void (*call)(dn_observer *observer));

/* Attaches a file watch to a token. Returns false if the token does not exist or already has one:
 * the caller keeps the watch. */
bool dn__registry_set_watch(int number, dn__file_watch *watch);

/* Sets the state of the token's name if this user may. Returns whether the token exists. */
bool dn__registry_set_state(int number, uint64_t state);

/* Returns the number of a token, or 0 at the end. `place` is 0 for the first call, which advances
 * it. */
int dn__registry_get_any(uint32_t *place);

/* Frees the registry, which is empty. While nobody reads a token. */
void dn__registry_free(void);
