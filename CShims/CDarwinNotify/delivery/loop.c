/* The executor that runs callbacks in the host's event loop. */
#include "darwinnotify/loop.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "util/descriptor.h"
#include "util/fork.h"
#include "util/gate.h"
#include "util/lock.h"
#include "util/queue.h"

struct dn_loop {
        uint64_t fork_id;        /* of the process that created it */
        _Atomic unsigned n_refs; /* one for the owner and one for each enqueuer */
        int fd;                  /* an eventfd: readable while there is work */
        dn__lock lock;
        dn__queue queue DN__GUARDED_BY(&lock);
        bool is_closed DN__GUARDED_BY(&lock);
        dn_executor executor; /* constant */
};

static void loop_ref(void *context)
{
        dn_loop *loop = context;

        atomic_fetch_add_explicit(&loop->n_refs, 1, memory_order_relaxed);
}

static void loop_unref(void *context)
{
        dn_loop *loop = context;

        if (atomic_fetch_sub_explicit(&loop->n_refs, 1, memory_order_acq_rel) != 1)
                return;
        dn__queue_deinit(&loop->queue);
        dn__lock_deinit(&loop->lock);
        free(loop);
}

static int enqueue(void *context, dn_work_fn work, void *argument)
{
        dn_loop *loop = context;
        int r;

        if (loop->fork_id != dn__fork_id())
                return -ECANCELED;
        DN__AUTO_LOCK(&loop->lock);
        if (loop->is_closed)
                return -ECANCELED;
        r = dn__queue_push(&loop->queue, (dn__queued_work){ work, argument });
        if (r == 0 && loop->queue.n_items == 1)
                (void)eventfd_write(loop->fd, 1);
        return r;
}

int dn_loop_new(dn_loop **ret_loop)
{
        DN__GATE();
        dn_loop *loop DN__FREES = NULL;

        if (!ret_loop)
                return -EINVAL;
        if (dn__fork_init() < 0)
                return -ENOMEM;
        loop = calloc(1, sizeof(*loop));
        if (!loop)
                return -ENOMEM;
        loop->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (loop->fd < 0)
                return dn__descriptor_refused();
        loop->fork_id = dn__fork_id();
        atomic_init(&loop->n_refs, 1);
        dn__lock_init(&loop->lock);
        loop->executor = (dn_executor){
                .enqueue = enqueue,
                .context = loop,
                .retain = loop_ref,
                .release = loop_unref,
        };
        *ret_loop = DN__TAKE(loop);
        return 0;
}

int dn_loop_get_fd(dn_loop *loop)
{
        return loop ? loop->fd : -EINVAL;
}

const dn_executor *dn_loop_executor(dn_loop *loop)
{
        static const dn_executor none = { 0 };

        return loop ? &loop->executor : &none;
}

int dn_loop_process(dn_loop *loop)
{
        DN__GATE();
        uint64_t count;
        size_t n;

        if (!loop)
                return -EINVAL;
        if (loop->fork_id != dn__fork_id())
                return 0;
        loop_ref(loop); /* a callback may close it */
        dn__lock_acquire(&loop->lock);
        (void)eventfd_read(loop->fd, &count);
        n = dn__queue_run(&loop->queue, &loop->lock);
        if (loop->queue.n_items > 0)
                (void)eventfd_write(loop->fd, 1);
        dn__lock_release(&loop->lock);
        loop_unref(loop);
        return n < INT_MAX ? (int)n : INT_MAX;
}

dn_loop *dn_loop_close(dn_loop *loop)
{
        DN__GATE();
        if (!loop || loop->fork_id != dn__fork_id())
                return NULL;
        dn__lock_acquire(&loop->lock);
        loop->is_closed = true;
        dn__lock_release(&loop->lock);
        (void)dn_loop_process(loop);
        (void)close(loop->fd);
        loop->fd = -1;
        loop_unref(loop);
        return NULL;
}
