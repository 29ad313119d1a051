/* What a file is like at one moment, for telling how it has changed. */
#include "notify/file-status.h"

#include <errno.h>
#include <fcntl.h>
#include <notify_private.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#define NS_PER_SECOND INT64_C(1000000000)

/* The clock of file systems moves in steps of up to so much: two writes within one leave the same
 * time behind. */
#define TICK_NS INT64_C(20000000)

static int64_t to_ns(struct statx_timestamp time)
{
        return time.tv_sec * NS_PER_SECOND + time.tv_nsec;
}

static int64_t now_ns(void)
{
        struct timespec now;

        (void)clock_gettime(CLOCK_REALTIME, &now);
        return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

dn__file_status dn__file_status_read(const char *path)
{
        int64_t read_ns = now_ns();
        struct statx file;

        if (statx(AT_FDCWD, path, 0, STATX_BASIC_STATS | STATX_BTIME, &file) < 0)
                return (dn__file_status){ .error = errno, .read_ns = read_ns };
        return (dn__file_status){
                .mode = file.stx_mode,
                .user = file.stx_uid,
                .group = file.stx_gid,
                .device = makedev(file.stx_dev_major, file.stx_dev_minor),
                .inode = file.stx_ino,
                .n_links = file.stx_nlink,
                .n_bytes = file.stx_size,
                .birth_ns = file.stx_mask & STATX_BTIME ? to_ns(file.stx_btime) : 0,
                .modified_ns = to_ns(file.stx_mtime),
                .changed_ns = to_ns(file.stx_ctime),
                .read_ns = read_ns,
        };
}

/* The number of a file that was deleted is soon that of another one: hence the birth. */
bool dn__file_status_is_same_file(const dn__file_status *a, const dn__file_status *b)
{
        if (a->error || b->error)
                return a->error && b->error;
        return a->device == b->device && a->inode == b->inode &&
               a->birth_ns == b->birth_ns && (a->mode & S_IFMT) == (b->mode & S_IFMT);
}

static unsigned bits_of_gone(int error)
{
        if (error == ENOENT || error == ENOTDIR)
                return NOTIFY_MONITOR_DELETE | NOTIFY_MONITOR_RENAME;
        return NOTIFY_MONITOR_DELETE | NOTIFY_MONITOR_REVOKE;
}

/* It may have been made and written to since the last look, or it came with its contents: who asks
 * for those has to read it either way. */
static unsigned bits_of_new(const dn__file_status *now)
{
        return NOTIFY_MONITOR_CREATE |
               (now->n_bytes > 0 ? NOTIFY_MONITOR_WRITE | NOTIFY_MONITOR_EXTEND : 0);
}

unsigned dn__file_status_compare(const dn__file_status *before, const dn__file_status *now,
                                 bool is_written)
{
        bool is_same = dn__file_status_is_same_file(before, now);
        bool is_recent = before->read_ns - before->modified_ns < TICK_NS;
        unsigned bits = 0;

        if (before->error && now->error)
                return 0;
        if (now->error)
                return bits_of_gone(now->error);
        if (before->error)
                return bits_of_new(now);
        /* Perhaps deleted and made anew between two looks. */
        if (!is_same)
                bits |= NOTIFY_MONITOR_RENAME | NOTIFY_MONITOR_WRITE | NOTIFY_MONITOR_DELETE |
                        NOTIFY_MONITOR_CREATE;
        if (now->n_bytes > before->n_bytes)
                bits |= NOTIFY_MONITOR_EXTEND;
        if (now->n_bytes != before->n_bytes)
                bits |= NOTIFY_MONITOR_WRITE;
        /* Setting the time of a file cannot be told from writing the same into it. */
        if (now->modified_ns != before->modified_ns || (is_written && is_recent))
                bits |= NOTIFY_MONITOR_MTIME | NOTIFY_MONITOR_WRITE;
        if (now->changed_ns != before->changed_ns)
                bits |= NOTIFY_MONITOR_CTIME;
        if (now->mode != before->mode || now->user != before->user || now->group != before->group)
                bits |= NOTIFY_MONITOR_ATTRIB;
        if (now->n_links != before->n_links)
                bits |= NOTIFY_MONITOR_LINK;
        return bits;
}
