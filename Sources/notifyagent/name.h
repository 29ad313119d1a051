/* The names that the agent posts, whether or not they are reserved for the system. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define NAME_NOT_HELD (-1)

/* Holds a name, so that its state lasts. Returns 0 or a negative errno. */
int name_hold(const char *name, int *ret_token);
void name_release(int token);

/* Returns the state of a held name. */
uint64_t name_get_state(int token);

/* Sets the state of a held name. Returns 0 or a negative errno. */
int name_set_state(const char *name, int token, uint64_t state);

/* Posts a name of the Darwin or the distributed center. Returns 0 or a negative errno. */
int name_post(const char *name, bool is_distributed);
