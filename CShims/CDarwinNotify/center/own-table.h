/* Operations of a program that stands in for the system, in the table of its own user. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Sets the state of a name that this process holds, unless `state` is NULL, then posts the name if
 * `is_posted`: only in the table of the Darwin center, so that no signal is sent. Names below
 * com.apple.system, which only root may post, are therefore also allowed: within the table of one
 * user, that rule protects nobody.
 *
 * Returns 0 or a negative errno: -EINVAL or -ENAMETOOLONG for a name that does not leave the
 * process; -ENOENT if there is no table, or a state is to be set and nothing holds the name;
 * -EACCES if the table is not of the effective user; or that of opening the center. */
int dn__table_publish(const char *name, const uint64_t *state, bool is_posted);

/* How often a name was posted. */
typedef struct dn__table_count {
        uint64_t region; /* the id of the table; 0: there is none */
        uint64_t slot;
        uint64_t named;  /* the generation with which the slot got the name */
        uint64_t generation;
} dn__table_count;

/* Returns whether the generations of two counts of one name say if it was posted in between. */
static inline bool dn__table_is_comparable(const dn__table_count *a, const dn__table_count *b)
{
        return a->region == b->region && a->slot == b->slot && a->named == b->named;
}

/* Reads the count of a name that is or was held. Returns 1, or 0 if the name has no slot; -ENOENT
 * if there is no table; or as dn__table_publish(). */
int dn__table_read_count(const char *name, dn__table_count *ret_count);

/* Writes the path of the table of the Darwin center. Returns 0, -ENOENT if there is none, or that
 * of opening the center. */
int dn__table_copy_path(char ret_path[PATH_MAX]);
