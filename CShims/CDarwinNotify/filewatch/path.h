/* Resolves a path at one moment: its file and the directories it goes through. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct dn__file_status {
        int error; /* errno if the path cannot be resolved; then the fields below are invalid */
        mode_t mode;
        uid_t user;
        gid_t group;
        uint64_t device;
        uint64_t inode;
        uint64_t n_links;
        uint64_t n_bytes;
        int64_t birth_ns; /* 0 if the file system does not record it */
        int64_t modified_ns;
        int64_t changed_ns;
        int64_t read_ns; /* CLOCK_REALTIME time of this status */
} dn__file_status;

/* Follows symbolic links. A path that leads nowhere also has a status. */
dn__file_status dn__file_status_read(const char *path);

/* Returns whether both are the same file, or both none. */
bool dn__file_status_is_same_file(const dn__file_status *a, const dn__file_status *b);

/* Returns the differences as NOTIFY_MONITOR_ bits. `is_written`: the kernel reported a write, which
 * times alone do not always show. */
unsigned dn__file_status_compare(const dn__file_status *before, const dn__file_status *now,
                                 bool is_written);

/* One lookup of a name: the path changes when this name changes in this directory. */
typedef struct dn__file_step {
        char *directory; /* absolute and without symbolic links */
        char *name;
        dev_t device; /* of the directory */
        ino_t inode;
} dn__file_step;

/* In lookup order. All zero: empty. */
typedef struct dn__file_route {
        dn__file_step *steps;
        size_t n_steps;
        size_t n_allocated;
} dn__file_route;

/* Walks an absolute path as far as possible: the last step is the file's own name, or the first
 * name that is missing or in the way. Returns 0 or -ENOMEM. */
int dn__file_route_init(dn__file_route *route, const char *path);
void dn__file_route_deinit(dn__file_route *route);

/* Returns whether both go through the same directories under the same names. */
bool dn__file_route_is_same(const dn__file_route *a, const dn__file_route *b);
