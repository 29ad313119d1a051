/* Where the two carriers deliver the posts that they receive. */
#pragma once

#include <stdint.h>

#include "post/post.h"

/* All functions are called with no lock held, on the loop that the carrier uses at the time. */
typedef struct dn__sink {
        /* A post arrived. Borrowed until the call returns. Returns how many new posts it stands
         * for: 0 if they all arrived before, or if nobody observes the name. */
        uint64_t (*received)(void *context, const dn__post *post);
        /* A post is about to arrive that was counted in a table that this process is not in. */
        void (*other_table)(void *context);
        /* Posts may have been missed: check every name. NULL if there is no table to check. */
        void (*may_have_missed)(void *context);
        /* A connection was made or lost. Called once for each, after the counts have changed. */
        void (*connection_changed)(void *context);
        /* The last call, after the carrier was closed. If it was never started, it is made from
         * within the closing. The carrier must then be freed once its loop has ended. */
        void (*closed)(void *context);
} dn__sink;
