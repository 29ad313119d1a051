/* The pipes that tokens are written to.
 *
 * The read end closes with the last token, in the call that cancels it. The write end stays open
 * until running deliveries have ended, so its number cannot become another file's. */
#include "notify/pipe.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/process-list.h"

/* The pipes of this process. */
static _Atomic(dn__per_process *) pipes;

struct dn__pipe {
        dn__process_list *list;
        dn__link link;     /* while there are tokens */
        unsigned n_tokens; /* guarded by the lock of the list */
        unsigned n_refs;   /* likewise */
        int read_fd;
        int write_fd;
        struct stat status; /* identifies both ends */
};

/* A reader may wait for the next token, as on Darwin; the library never blocks writing one. */
static int open_ends(dn__pipe *pipe)
{
        int read_fd DN__CLOSES = -1, write_fd DN__CLOSES = -1;
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        read_fd = fds[0];
        write_fd = fds[1];
        if (fcntl(write_fd, F_SETFL, O_NONBLOCK) < 0 || fstat(read_fd, &pipe->status) < 0)
                return -errno;
        pipe->read_fd = DN__TAKE_FD(read_fd);
        pipe->write_fd = DN__TAKE_FD(write_fd);
        return 0;
}

int dn__pipe_new(dn__pipe **ret_pipe)
{
        dn__process_list *list = dn__process_list_get(&pipes);
        dn__pipe *pipe DN__FREES = list ? calloc(1, sizeof(*pipe)) : NULL;
        int r = pipe ? open_ends(pipe) : -ENOMEM;

        if (r < 0)
                return r;
        pipe->list = list;
        pipe->n_tokens = 1;
        pipe->n_refs = 1;
        DN__HOLD(&list->lock);
        dn__list_append(&list->head, &pipe->link);
        *ret_pipe = DN__TAKE(pipe);
        return 0;
}

/* The host may have closed the descriptor, so another file may have its number. */
static bool is_end(const dn__pipe *pipe, int fd)
{
        struct stat status;

        return fstat(fd, &status) == 0 && status.st_dev == pipe->status.st_dev &&
               status.st_ino == pipe->status.st_ino;
}

static bool is_read_end(const dn__pipe *pipe, int read_fd)
{
        return pipe->read_fd == read_fd && is_end(pipe, read_fd);
}

dn__pipe *dn__pipe_find(int read_fd)
{
        dn__process_list *list = dn__process_list_get(&pipes);

        if (!list)
                return NULL;
        DN__HOLD(&list->lock);
        for (dn__link *link = list->head.next; link != &list->head; link = link->next) {
                dn__pipe *pipe = DN__CONTAINER(link, dn__pipe, link);

                if (!is_read_end(pipe, read_fd))
                        continue;
                pipe->n_tokens++;
                pipe->n_refs++;
                return pipe;
        }
        return NULL;
}

int dn__pipe_get_fd(const dn__pipe *pipe)
{
        return pipe->read_fd;
}

/* If the host has closed the read end, SIGPIPE stays pending in the calling thread, which blocks
 * it. */
bool dn__pipe_write(dn__pipe *pipe, int token)
{
        uint32_t bytes = htonl((uint32_t)token);

        return is_end(pipe, pipe->write_fd) &&
               write(pipe->write_fd, &bytes, sizeof(bytes)) == sizeof(bytes);
}

void dn__pipe_leave(dn__pipe *pipe)
{
        dn__process_list *list = pipe->list;

        DN__HOLD(&list->lock);
        assert(pipe->n_tokens > 0);
        if (--pipe->n_tokens > 0)
                return;
        dn__list_remove(&pipe->link);
        if (is_read_end(pipe, pipe->read_fd))
                (void)close(pipe->read_fd);
}

void dn__pipe_unref(dn__pipe *pipe)
{
        dn__process_list *list = pipe->list;
        bool is_last;

        dn__lock_acquire(&list->lock);
        assert(pipe->n_refs > 0);
        is_last = --pipe->n_refs == 0;
        dn__lock_release(&list->lock);
        if (!is_last)
                return;
        if (is_end(pipe, pipe->write_fd))
                (void)close(pipe->write_fd);
        free(pipe);
}

void dn__pipe_free_list(void)
{
        dn__process_list_free(&pipes);
}
