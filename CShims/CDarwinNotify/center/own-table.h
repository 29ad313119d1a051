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

/* Writes the path of the table of the Darwin center. Returns 0, -ENOENT if there is none, or that
 * of opening the center. */
int dn__table_copy_path(char ret_path[PATH_MAX]);
