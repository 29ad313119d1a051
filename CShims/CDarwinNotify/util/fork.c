/* Telling a forked child from its parent, and keeping the parent's descriptors out of it. */
#include "util/fork.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "util/lock.h"

static dn__lock fork_lock = DN__LOCK_INIT;
static dn__link guards DN__GUARDED_BY(&fork_lock) = { &guards, &guards };

/* Written by a child only before its first other thread exists: relaxed is enough. */
static _Atomic uint64_t fork_id = 1;

/* The lock is held across fork(), so that the child finds the list whole and the lock its own. */
static void before_fork(void) DN__ACQUIRES(&fork_lock)
{
        dn__lock_acquire(&fork_lock);
}

static void after_fork_in_parent(void) DN__RELEASES(&fork_lock)
{
        dn__lock_release(&fork_lock);
}

static void after_fork_in_child(void) DN__RELEASES(&fork_lock)
{
        dn__link *link;

        atomic_fetch_add_explicit(&fork_id, 1, memory_order_relaxed);
        while ((link = dn__list_pop(&guards)))
                (void)close(DN__CONTAINER(link, dn__fork_fd, link)->fd);
        dn__lock_release(&fork_lock);
}

void dn__fork_lock_acquire(void) DN__TSA(no_thread_safety_analysis)
{
        dn__lock_acquire(&fork_lock);
}

void dn__fork_lock_release(void) DN__TSA(no_thread_safety_analysis)
{
        dn__lock_release(&fork_lock);
}

static int init_result;

static void init_once(void)
{
        init_result = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

int dn__fork_init(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        (void)pthread_once(&once, init_once);
        return init_result == 0 ? 0 : -ENOMEM;
}

uint64_t dn__fork_id(void)
{
        return atomic_load_explicit(&fork_id, memory_order_relaxed);
}

void dn__fork_guard(dn__fork_fd *guard, int fd)
{
        guard->fd = fd;
        dn__lock_acquire(&fork_lock);
        dn__list_append(&guards, &guard->link);
        dn__lock_release(&fork_lock);
}

void dn__fork_release(dn__fork_fd *guard)
{
        dn__lock_acquire(&fork_lock);
        dn__list_remove(&guard->link);
        dn__lock_release(&fork_lock);
}
