/* notify_dump_status(). */
#include <fcntl.h>
#include <notify_private.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "notify/registry.h"
#include "util/call.h"
#include "util/cleanup.h"

/* Prints to memory first, because the list of tokens is locked meanwhile. */
static char *print(size_t *ret_n_bytes)
{
        char *text = NULL;
        FILE *file = open_memstream(&text, ret_n_bytes);

        if (!file)
                return NULL;
        (void)fprintf(file, "# process %ld: token, kind, state, name\n", (long)getpid());
        dn__registry_print(file);
        if (fclose(file) == 0)
                return text;
        free(text);
        return NULL;
}

static bool write_file(const char *path, const char *text, size_t n_bytes)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                      0600);
        ssize_t n_written;

        if (fd < 0)
                return false;
        n_written = write(fd, text, n_bytes);
        return close(fd) == 0 && n_written == (ssize_t)n_bytes;
}

uint32_t notify_dump_status(const char *filepath)
{
        DN__CALL();
        char *text DN__FREES = NULL;
        size_t n_bytes;

        if (!filepath)
                return NOTIFY_STATUS_NULL_INPUT;
        text = print(&n_bytes);
        if (!text)
                return NOTIFY_STATUS_FAILED;
        return write_file(filepath, text, n_bytes) ? NOTIFY_STATUS_OK : NOTIFY_STATUS_INVALID_FILE;
}
