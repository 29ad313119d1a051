/* Delivery into a pipe: the token as 4 bytes in network byte order for each post.
 *
 * A pipe is closed with its last token, in the call that cancels that token. Deliveries write under
 * the lock, without waiting for room, so the number of the write end cannot become that of another
 * file. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <notify.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "notify/token.h"
#include "util/call.h"
#include "util/cleanup.h"
#include "util/fork.h"

/* The pipes of this process. */
static _Atomic(dn__per_process *) pipes;

typedef struct shared_pipe {
        dn__link link;
        unsigned n_tokens; /* guarded by the list's lock; at 0 the pipe is closed */
        int read_fd;
        int write_fd;
        struct stat status; /* identifies both ends */
} shared_pipe;

typedef struct descriptor {
        dn__delivery delivery;
        dn__process_list *list;
        shared_pipe *pipe; /* guarded likewise; NULL once the token is cancelled */
} descriptor;

/* --- Pipes ----------------------------------------------------------------------------------- */

/* A reader may wait for the next token, as on Darwin; the library never blocks writing one. */
static int open_ends(shared_pipe *pipe)
{
        int fds[2];

        if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
                return -errno;
        pipe->read_fd = fds[0];
        pipe->write_fd = fds[1];
        (void)fcntl(pipe->read_fd, F_SETFL, 0);
        (void)fstat(pipe->read_fd, &pipe->status);
        return 0;
}

static int pipe_new(dn__process_list *list, shared_pipe **ret_pipe)
{
        shared_pipe *pipe DN__FREES = calloc(1, sizeof(*pipe));
        int r = pipe ? open_ends(pipe) : -ENOMEM;

        if (r < 0)
                return r;
        pipe->n_tokens = 1;
        DN__HOLD(&list->lock);
        dn__list_append(&list->head, &pipe->link);
        *ret_pipe = DN__TAKE(pipe);
        return 0;
}

/* The host may have closed the descriptor, so another file may have its number. */
static bool is_end(const shared_pipe *pipe, int fd)
{
        struct stat status;

        return fstat(fd, &status) == 0 && status.st_dev == pipe->status.st_dev &&
               status.st_ino == pipe->status.st_ino;
}

/* Finds the pipe with a read end and adds a token to it; NULL if it is not ours. */
static shared_pipe *pipe_find(dn__process_list *list, int read_fd)
{
        DN__HOLD(&list->lock);
        DN__LIST_EACH(shared_pipe, pipe, &list->head, link) {
                if (pipe->read_fd != read_fd || !is_end(pipe, read_fd))
                        continue;
                pipe->n_tokens++;
                return pipe;
        }
        return NULL;
}

/* Removes a token. */
static void pipe_leave(shared_pipe *pipe)
{
        if (--pipe->n_tokens > 0)
                return;
        dn__list_remove(&pipe->link);
        if (is_end(pipe, pipe->read_fd))
                (void)close(pipe->read_fd);
        if (is_end(pipe, pipe->write_fd))
                (void)close(pipe->write_fd);
        free(pipe);
}

void dn__pipes_free(void)
{
        free(dn__per_process_take(&pipes));
}

/* --- Deliveries ------------------------------------------------------------------------------ */

/* If the host has closed the read end, SIGPIPE stays pending in the calling thread, which blocks
 * it. */
static bool descriptor_deliver(dn__delivery *delivery)
{
        const descriptor *descriptor = (struct descriptor *)delivery;
        uint32_t bytes = htonl((uint32_t)delivery->token);
        const shared_pipe *pipe;

        DN__HOLD(&descriptor->list->lock);
        pipe = descriptor->pipe;
        return pipe && is_end(pipe, pipe->write_fd) &&
               write(pipe->write_fd, &bytes, sizeof(bytes)) == sizeof(bytes);
}

static void descriptor_cancelled(dn__delivery *delivery)
{
        descriptor *descriptor = (struct descriptor *)delivery;

        DN__HOLD(&descriptor->list->lock);
        if (descriptor->pipe)
                pipe_leave(DN__TAKE(descriptor->pipe));
}

static void descriptor_destroy(dn__delivery *delivery)
{
        descriptor_cancelled(delivery);
        free(delivery);
}

static uint32_t get_pipe(dn__process_list *list, const int *notify_fd, int flags,
                         shared_pipe **ret_pipe)
{
        if (!(flags & NOTIFY_REUSE))
                return dn__status_of(pipe_new(list, ret_pipe));
        *ret_pipe = pipe_find(list, *notify_fd);
        return *ret_pipe ? NOTIFY_STATUS_OK : NOTIFY_STATUS_INVALID_FILE;
}

uint32_t notify_register_file_descriptor(const char *name, int *notify_fd, int flags,
                                         int *out_token)
{
        static const dn__delivery_ops ops = {
                .deliver = descriptor_deliver,
                .is_counted = true,
                .cancelled = descriptor_cancelled,
                .destroy = descriptor_destroy,
        };
        DN__CALL();
        dn__process_list *list = dn__process_list_get(&pipes);
        dn_executor executor = dn_executor_inline();
        descriptor *descriptor;
        uint32_t status;
        int fd;

        if (!name)
                return NOTIFY_STATUS_INVALID_NAME;
        if (!notify_fd)
                return NOTIFY_STATUS_INVALID_FILE;
        if (!out_token)
                return NOTIFY_STATUS_NULL_INPUT;
        descriptor = list ? malloc(sizeof(*descriptor)) : NULL;
        if (!descriptor)
                return NOTIFY_STATUS_FAILED;
        *descriptor = (struct descriptor){ { &ops, 0 }, list, NULL };
        status = get_pipe(list, notify_fd, flags, &descriptor->pipe);
        if (status != NOTIFY_STATUS_OK) {
                free(descriptor);
                return status;
        }
        fd = descriptor->pipe->read_fd;
        status = dn__token_register(name, &descriptor->delivery, &executor, out_token);
        if (status == NOTIFY_STATUS_OK)
                *notify_fd = fd;
        return status;
}
