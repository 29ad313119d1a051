/* Post numbers, by which a receiver detects missing posts. */
#pragma once

#include "post/post.h"
#include "util/list.h"
#include "util/map.h"

/* Limit of remembered names and, for received posts, pairs of name and sender: beyond it all are
 * forgotten. The next post of each reveals nothing about earlier ones. */
#define DN__NUMBERS_MAX 16384

/* All zero: none. Protected by its owner's lock. */
typedef struct dn__numbers {
        dn__map sent;     /* by name */
        dn__map received; /* by name hash and sender; each also in the list of a rule */
} dn__numbers;

void dn__numbers_deinit(dn__numbers *numbers);

/* Returns the number of our last post of a name, borrowed until the next call; the caller
 * increments it when the next post is sent. NULL if out of memory: posts then have no number. */
uint64_t *dn__numbers_get_last(dn__numbers *numbers, const dn__name *name);

/* Records the number of a received post, and puts it into the list of the rule that matches the
 * next one. Returns how many posts before it are missing. */
uint64_t dn__numbers_note(dn__numbers *numbers, const dn__post *post, dn__link *list);

/* Forgets the received posts in a list: its rule matches no more of them. */
void dn__numbers_forget(dn__numbers *numbers, dn__link *list);

/* Forgets all received posts: another bus gives connections the same names. */
void dn__numbers_forget_all(dn__numbers *numbers);
