/* What a program that stands in for the system does in the table of its own user. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Sets the state of a name that this process holds, unless `state` is NULL, then posts the name if
 * `is_posted`: in the table of the Darwin center alone, so that no signal is sent. Therefore the
 * names below com.apple.system, which only root may post, are allowed too: inside the table of one
 * user that rule protects nobody.
 *
 * Returns 0 or a negative errno: -EINVAL or -ENAMETOOLONG for a name that does not leave the
 * process; -ENOENT if there is no table, or a state is to be set and nothing holds the name;
 * -EACCES if the table is not of the effective user; or that of opening the center. */
int dn__table_publish(const char *name, const uint64_t *state, bool is_posted);

/* How often a name was posted. Two of one name can be compared if their regions and the generations
 * with which their slots were named are equal. */
typedef struct dn__table_count {
        uint64_t region_id;
        uint64_t named;
        uint64_t generation;
} dn__table_count;

/* Reads the count of a name that is or was held. Returns 0, -ENOENT if there is no table, or the
 * name has no slot in it; or as dn__table_publish(). */
int dn__table_read_count(const char *name, dn__table_count *ret_count);

/* Writes the path of the table of the Darwin center. Returns 0, -ENOENT if there is none, or that
 * of opening the center. */
int dn__table_copy_path(char ret_path[PATH_MAX]);
