/* How a token hears of posts: one file for each kind. */
#pragma once

#include <stdbool.h>

typedef struct dn__delivery dn__delivery;

typedef struct dn__delivery_ops {
        const char *kind; /* as notify_dump_status() writes it */
        /* Delivers one post. Returns whether another one at once makes sense. No lock is held. */
        bool (*deliver)(dn__delivery *delivery);
        /* Deliveries that stand for several posts are made one by one. */
        bool is_counted;
        /* The token is cancelled; a delivery may still be running. May be NULL. */
        void (*cancelled)(dn__delivery *delivery);
        /* Frees it, after the last delivery, or instead of the first. */
        void (*destroy)(dn__delivery *delivery);
} dn__delivery_ops;

/* The first member of each kind. */
struct dn__delivery {
        const dn__delivery_ops *ops;
        int token; /* set before the first delivery */
};
