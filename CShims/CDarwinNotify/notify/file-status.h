/* What a file is like at one moment, for telling how it has changed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct dn__file_status {
        int error; /* errno where there is no way to it; then nothing below means anything */
        mode_t mode;
        uid_t user;
        gid_t group;
        uint64_t device;
        uint64_t inode;
        uint64_t n_links;
        uint64_t n_bytes;
        int64_t birth_ns; /* 0 where the file system does not know */
        int64_t modified_ns;
        int64_t changed_ns;
        int64_t read_ns; /* when all this was so, CLOCK_REALTIME */
} dn__file_status;

/* Follows symbolic links. A path that leads nowhere is a status too. */
dn__file_status dn__file_status_read(const char *path);

/* Whether it is the same file, or no file both times. */
bool dn__file_status_is_same_file(const dn__file_status *a, const dn__file_status *b);

/* Returns what is different as NOTIFY_MONITOR_ bits. `is_written`: the kernel said that something
 * was written into it, which times alone do not always tell. */
unsigned dn__file_status_compare(const dn__file_status *before, const dn__file_status *now,
                                 bool is_written);
