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
#include <unistd.h>

#include "notify/token.h"
#include "util/cleanup.h"
#include "util/descriptor.h"
#include "util/fork.h"
#include "util/gate.h"

/* The pipes of this process. */
static _Atomic(dn__per_process *) pipes;

struct dn__pipe {
        dn__link link;
        unsigned n_tokens; /* guarded by the list's lock; at 0 the pipe is closed */
        int read_fd;
        int write_fd;
        struct stat status; /* identifies both ends */
};

/* --- Pipes ----------------------------------------------------------------------------------- */

/* A reader may wait for the next token, as on Darwin; the library never blocks writing one. */
static int open_ends(dn__pipe *pipe)
{
        int fds[2], r;

        if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
                return dn__descriptor_refused();
        pipe->read_fd = fds[0];
        pipe->write_fd = fds[1];
        if (fcntl(pipe->read_fd, F_SETFL, 0) == 0 && fstat(pipe->read_fd, &pipe->status) == 0)
                return 0;
        r = dn__descriptor_refused();
        (void)close(pipe->read_fd);
        (void)close(pipe->write_fd);
        return r;
}

static int pipe_new(dn__process_list *list, dn__pipe **ret_pipe)
{
        dn__pipe *pipe DN__FREES = calloc(1, sizeof(*pipe));
        int r = pipe ? open_ends(pipe) : -ENOMEM;

        if (r < 0)
                return r;
        pipe->n_tokens = 1;
        DN__AUTO_LOCK(&list->lock);
        dn__list_append(&list->head, &pipe->link);
        *ret_pipe = DN__TAKE(pipe);
        return 0;
}

/* Finds the pipe with a read end and adds a token to it; NULL if it is not ours. */
static dn__pipe *pipe_find(dn__process_list *list, int read_fd)
{
        DN__AUTO_LOCK(&list->lock);
        DN__LIST_EACH(dn__pipe, pipe, &list->head, link) {
                if (pipe->read_fd != read_fd || !dn__descriptor_refers_to(read_fd, &pipe->status))
                        continue;
                pipe->n_tokens++;
                return pipe;
        }
        return NULL;
}

static void pipe_close(dn__pipe *pipe)
{
        dn__list_remove(&pipe->link);
        if (dn__descriptor_refers_to(pipe->read_fd, &pipe->status))
                (void)close(pipe->read_fd);
        if (dn__descriptor_refers_to(pipe->write_fd, &pipe->status))
                (void)close(pipe->write_fd);
        free(pipe);
}

void dn__pipe_leave(dn__token_target *target)
{
        dn__process_list *list = dn__process_list_get(&pipes);
        dn__pipe *pipe;

        DN__AUTO_LOCK(&list->lock);
        pipe = DN__TAKE(target->pipe);
        if (pipe && --pipe->n_tokens == 0)
                pipe_close(pipe);
}

void dn__pipes_free(void)
{
        free(dn__per_process_take(&pipes));
}

/* --- Deliveries ------------------------------------------------------------------------------ */

/* Posts of one name that are found together must leave room for other names in a pipe, whose
 * size is 16 384 tokens. */
#define MAX_TIMES 1024

/* If the host has closed the read end, SIGPIPE stays pending in the calling thread, which blocks
 * it. */
static bool write_token(dn__process_list *list, const dn__token_target *target)
{
        uint32_t bytes = htonl((uint32_t)target->token);
        const dn__pipe *pipe;

        DN__AUTO_LOCK(&list->lock);
        pipe = target->pipe;
        return pipe && dn__descriptor_refers_to(pipe->write_fd, &pipe->status) &&
               write(pipe->write_fd, &bytes, sizeof(bytes)) == sizeof(bytes);
}

void dn__pipe_write(const dn__token_target *target, uint64_t n_posts)
{
        dn__process_list *list = dn__process_list_get(&pipes);
        uint64_t n_left = n_posts < MAX_TIMES ? n_posts : MAX_TIMES;

        while (n_left > 0 && write_token(list, target))
                n_left--;
}

static uint32_t get_pipe(dn__process_list *list, const int *notify_fd, int flags,
                         dn__pipe **ret_pipe)
{
        if (!(flags & NOTIFY_REUSE))
                return dn__status_of(pipe_new(list, ret_pipe));
        *ret_pipe = pipe_find(list, *notify_fd);
        return *ret_pipe ? NOTIFY_STATUS_OK : NOTIFY_STATUS_INVALID_FILE;
}

uint32_t notify_register_file_descriptor(const char *name, int *notify_fd, int flags,
                                         int *out_token)
{
        DN__GATE();
        dn__process_list *list = dn__process_list_get(&pipes);
        dn__token_target *target DN__FREES = NULL;
        uint32_t status;
        int fd;

        if (!name)
                return NOTIFY_STATUS_INVALID_NAME;
        if (!notify_fd)
                return NOTIFY_STATUS_INVALID_FILE;
        if (!out_token)
                return NOTIFY_STATUS_NULL_INPUT;
        target = list ? calloc(1, sizeof(*target)) : NULL;
        if (!target)
                return NOTIFY_STATUS_FAILED;
        status = get_pipe(list, notify_fd, flags, &target->pipe);
        if (status != NOTIFY_STATUS_OK)
                return status;
        fd = target->pipe->read_fd;
        status = dn__token_register(name, DN__TAKE(target), dn_executor_inline(), out_token);
        if (status == NOTIFY_STATUS_OK)
                *notify_fd = fd;
        return status;
}
