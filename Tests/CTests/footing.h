/* What a process has of its own, to check that nothing is left. */
#pragma once

#include <unistd.h>

#include "test.h"

typedef struct footing {
        unsigned n_fds;
        unsigned n_threads;
        unsigned n_tables;
} footing;

static footing take_footing(void)
{
        return (footing){test_n_fds(), test_n_threads(),
                         test_n_mappings_of(getpid(), "darwin-notify")};
}

static void check_nothing_is_left(footing before)
{
        CHECK_EQ(test_n_mappings_of(getpid(), "darwin-notify"), before.n_tables);
        CHECK_EQ(test_n_fds(), before.n_fds);
        /* A thread that was joined disappears a moment later; one of the sanitizer stays. */
        if (!TEST_HAS_THREAD_SANITIZER)
                WAIT_UNTIL_EQ(test_n_threads(), before.n_threads);
}
