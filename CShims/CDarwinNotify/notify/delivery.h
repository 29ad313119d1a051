/* How a token is notified of posts; each kind has its own file. */
#pragma once

#include <stdbool.h>

typedef struct dn__delivery dn__delivery;

typedef struct dn__delivery_ops {
        const char *kind; /* as printed by notify_dump_status() */
        /* Delivers one post. Returns whether delivering another immediately makes sense. No lock is
         * held. */
        bool (*deliver)(dn__delivery *delivery);
        /* A delivery that stands for several posts is repeated for each of them. */
        bool is_counted;
        /* Called when the token is cancelled; a delivery may still be running. May be NULL. */
        void (*cancelled)(dn__delivery *delivery);
        /* Frees the delivery after its last use, or unused. */
        void (*destroy)(dn__delivery *delivery);
} dn__delivery_ops;

/* The first member of each kind of delivery. */
struct dn__delivery {
        const dn__delivery_ops *ops;
        int token; /* set before the first delivery */
};

/* Frees the list of pipes of descriptor.c, which is empty. */
void dn__pipes_free(void);
