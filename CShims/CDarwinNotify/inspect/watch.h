/* Watches every post on a bus. */
#pragma once

#include <stdbool.h>

/* Returns whether this process has closed all watches that it opened. */
bool dn__watches_are_none(void);

/* Frees the list of watches, of which none may be open. */
void dn__watches_free(void);
