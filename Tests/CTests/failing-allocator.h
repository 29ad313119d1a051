/* Replaces the allocator with one that fails when the test says so. Include it in only one file of
 * a test program. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "test.h"

/* Returns whether this allocation fails. Defined by the test. */
static inline bool allocation_fails(void);

static inline void require_failing_allocator(void)
{
        SKIP_IF(TEST_HAS_SANITIZER, "a sanitizer has its own allocator");
}

#if !TEST_HAS_SANITIZER
/* The C library's allocator, under names that cannot be replaced. */
extern void *__libc_malloc(size_t n_bytes);
extern void *__libc_calloc(size_t n, size_t n_bytes);
extern void *__libc_realloc(void *memory, size_t n_bytes);

/* libsystemd also uses them. */
#define REPLACES __attribute__((visibility("default")))

static bool fails_with_errno(void)
{
        if (!allocation_fails())
                return false;
        errno = ENOMEM;
        return true;
}

REPLACES void *malloc(size_t n_bytes)
{
        return fails_with_errno() ? NULL : __libc_malloc(n_bytes);
}

REPLACES void *calloc(size_t n, size_t n_bytes)
{
        return fails_with_errno() ? NULL : __libc_calloc(n, n_bytes);
}

REPLACES void *realloc(void *memory, size_t n_bytes)
{
        return fails_with_errno() ? NULL : __libc_realloc(memory, n_bytes);
}
#endif
