/* The directories that decide where a path leads. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* One look-up of one name: the way changes when this name changes in this directory. */
typedef struct dn__file_step {
        char *directory; /* absolute and without symbolic links */
        char *name;
        dev_t device; /* of the directory */
        ino_t inode;
} dn__file_step;

/* In the order in which the kernel goes. All zero is an empty one. */
typedef struct dn__file_route {
        dn__file_step *steps;
        size_t n_steps;
        size_t n_allocated;
} dn__file_route;

/* Walks an absolute path as far as it goes: the last step is the name of the file itself, or the
 * first name that is missing or in the way. Returns 0 or -ENOMEM. */
int dn__file_route_init(dn__file_route *route, const char *path);
void dn__file_route_deinit(dn__file_route *route);

/* Whether both go through the same directories under the same names. */
bool dn__file_route_is_same(const dn__file_route *a, const dn__file_route *b);
