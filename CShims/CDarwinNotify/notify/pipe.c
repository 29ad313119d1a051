/* The pipes that tokens are written into.
 *
 * The read end closes with the last token, in the call that cancels it. The write end stays until
 * the deliveries that were running then have ended: its number must not become another file's. */
#include "notify/pipe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/process-list.h"

/* The pipes of this process. */
static _Atomic(dn__per_process *) pipes;

struct dn__pipe {
        dn__process_list *list;
        dn__link link;     /* while there are tokens */
        unsigned n_tokens; /* guarded by the lock of the list */
        unsigned n_refs;   /* the same */
        int read_fd;
        int write_fd;
        struct stat status; /* what the read end is */
};

/* A reader may wait for the next token, as it would on Darwin; the library never waits for it. */
static int open_ends(dn__pipe *pipe)
{
        int fds[2];

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        if (fcntl(fds[1], F_SETFL, O_NONBLOCK) < 0 || fstat(fds[0], &pipe->status) < 0) {
                int error = errno;

                (void)close(fds[0]);
                (void)close(fds[1]);
                return -error;
        }
        pipe->read_fd = fds[0];
        pipe->write_fd = fds[1];
        return 0;
}

int dn__pipe_new(dn__pipe **ret_pipe)
{
        dn__process_list *list = dn__process_list_get(&pipes);
        dn__pipe *pipe = list ? calloc(1, sizeof(*pipe)) : NULL;
        int r = pipe ? open_ends(pipe) : -ENOMEM;

        if (r < 0) {
                free(pipe);
                return r;
        }
        pipe->list = list;
        pipe->n_tokens = 1;
        pipe->n_refs = 1;
        dn__lock_acquire(&list->lock);
        dn__list_append(&list->head, &pipe->link);
        dn__lock_release(&list->lock);
        *ret_pipe = pipe;
        return 0;
}

/* The host may have closed the descriptor, and have another file under its number. */
static bool is_same(const dn__pipe *pipe, int read_fd)
{
        struct stat status;

        return pipe->read_fd == read_fd && fstat(read_fd, &status) == 0 &&
               status.st_dev == pipe->status.st_dev && status.st_ino == pipe->status.st_ino;
}

dn__pipe *dn__pipe_find(int read_fd)
{
        dn__process_list *list = dn__process_list_get(&pipes);
        dn__pipe *found = NULL;

        if (!list)
                return NULL;
        dn__lock_acquire(&list->lock);
        for (dn__link *link = list->head.next; link != &list->head && !found; link = link->next) {
                dn__pipe *pipe = DN__CONTAINER(link, dn__pipe, link);

                if (!is_same(pipe, read_fd))
                        continue;
                found = pipe;
                pipe->n_tokens++;
                pipe->n_refs++;
        }
        dn__lock_release(&list->lock);
        return found;
}

int dn__pipe_get_fd(const dn__pipe *pipe)
{
        return pipe->read_fd;
}

/* SIGPIPE, if the host has closed the read end, stays with the thread, which has it blocked. */
bool dn__pipe_write(dn__pipe *pipe, int token)
{
        uint32_t bytes = htonl((uint32_t)token);

        return write(pipe->write_fd, &bytes, sizeof(bytes)) == sizeof(bytes);
}

void dn__pipe_leave(dn__pipe *pipe)
{
        dn__process_list *list = pipe->list;

        dn__lock_acquire(&list->lock);
        if (--pipe->n_tokens == 0) {
                dn__list_remove(&pipe->link);
                if (is_same(pipe, pipe->read_fd))
                        (void)close(pipe->read_fd);
        }
        dn__lock_release(&list->lock);
}

void dn__pipe_unref(dn__pipe *pipe)
{
        dn__process_list *list = pipe->list;
        bool is_last;

        dn__lock_acquire(&list->lock);
        is_last = --pipe->n_refs == 0;
        dn__lock_release(&list->lock);
        if (!is_last)
                return;
        (void)close(pipe->write_fd);
        free(pipe);
}
