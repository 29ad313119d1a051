/* Delivery into a pipe: the token as 4 bytes in network byte order for each post. */
#include <notify.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "notify/pipe.h"
#include "notify/token.h"
#include "util/call.h"

typedef struct descriptor {
        dn__delivery delivery;
        dn__pipe *pipe;
        _Atomic bool is_cancelled;
} descriptor;

static bool descriptor_deliver(dn__delivery *delivery)
{
        descriptor *descriptor = (struct descriptor *)delivery;

        return !atomic_load(&descriptor->is_cancelled) &&
               dn__pipe_write(descriptor->pipe, delivery->token);
}

static void descriptor_cancelled(dn__delivery *delivery)
{
        descriptor *descriptor = (struct descriptor *)delivery;

        atomic_store(&descriptor->is_cancelled, true);
        dn__pipe_leave(descriptor->pipe);
}

static void descriptor_destroy(dn__delivery *delivery)
{
        descriptor *descriptor = (struct descriptor *)delivery;

        if (!atomic_load(&descriptor->is_cancelled))
                dn__pipe_leave(descriptor->pipe);
        dn__pipe_unref(descriptor->pipe);
        free(descriptor);
}

static const dn__delivery_ops ops = {
        .kind = "file",
        .deliver = descriptor_deliver,
        .is_counted = true,
        .cancelled = descriptor_cancelled,
        .destroy = descriptor_destroy,
};

static uint32_t get_pipe(const int *notify_fd, int flags, dn__pipe **ret_pipe)
{
        if (!(flags & NOTIFY_REUSE))
                return dn__status_of(dn__pipe_new(ret_pipe));
        *ret_pipe = dn__pipe_find(*notify_fd);
        return *ret_pipe ? NOTIFY_STATUS_OK : NOTIFY_STATUS_INVALID_FILE;
}

uint32_t notify_register_file_descriptor(const char *name, int *notify_fd, int flags,
                                         int *out_token)
{
        DN__CALL();
        dn_executor executor = dn_executor_inline();
        descriptor *descriptor;
        uint32_t status;
        int token, fd;

        if (!name)
                return NOTIFY_STATUS_INVALID_NAME;
        if (!notify_fd)
                return NOTIFY_STATUS_INVALID_FILE;
        if (!out_token)
                return NOTIFY_STATUS_NULL_INPUT;
        descriptor = calloc(1, sizeof(*descriptor));
        if (!descriptor)
                return NOTIFY_STATUS_FAILED;
        descriptor->delivery.ops = &ops;
        status = get_pipe(notify_fd, flags, &descriptor->pipe);
        if (status != NOTIFY_STATUS_OK) {
                free(descriptor);
                return status;
        }
        fd = dn__pipe_get_fd(descriptor->pipe);
        status = dn__token_register(name, &descriptor->delivery, &executor, &token);
        if (status == NOTIFY_STATUS_OK) {
                *notify_fd = fd;
                *out_token = token;
                dn__token_start(token);
        }
        return status;
}
