/* Files that are replaced at once. */
#include "baseline.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "baseline-private.h"

void baseline_file_replace(const char *path, const void *bytes, size_t n_bytes)
{
        char temporary[PATH_MAX];

        snprintf(temporary, sizeof temporary, "%s.new", path);
        int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0)
                baseline_fail(temporary, errno);
        if (write(fd, bytes, n_bytes) != (ssize_t)n_bytes)
                baseline_fail(temporary, errno);
        close(fd);
        if (rename(temporary, path) < 0)
                baseline_fail(path, errno);
}
