/* Closes everything of <notify.h>. */
#pragma once

#include <stdbool.h>

/* Cancels all tokens. */
void dn__tokens_cancel(void);

/* Returns whether there are none. */
bool dn__tokens_are_none(void);

/* Frees the memory of tokens. Call when there are none and nobody reads one. */
void dn__tokens_free(void);
