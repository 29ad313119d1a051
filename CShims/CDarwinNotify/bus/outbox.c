/* Posts written as messages, which the bus gets in one system call. */
#include "bus/outbox.h"

#include <errno.h>
#include <stdlib.h>

/* The serials of sd-bus start at 1. */
#define FIRST_SERIAL (UINT32_C(1) << 31)

int dn__outbox_init(dn__outbox *outbox)
{
        *outbox = (dn__outbox){ .bytes = malloc(DN__OUTBOX_BYTES) };
        return outbox->bytes ? 0 : -ENOMEM;
}

void dn__outbox_deinit(dn__outbox *outbox)
{
        free(outbox->bytes);
        *outbox = (dn__outbox){ 0 };
}

bool dn__outbox_add(dn__outbox *outbox, const dn__wire *wire, const dn__post *post,
                    const char *path)
{
        if (DN__OUTBOX_BYTES - outbox->n_bytes < DN__WIRE_POST_BYTES)
                return false;
        outbox->n_bytes += wire->write(post, path, FIRST_SERIAL | outbox->n_added++,
                                       outbox->bytes + outbox->n_bytes);
        outbox->n_posts++;
        outbox->has_reserved = outbox->has_reserved || post->name.is_reserved;
        return true;
}

void dn__outbox_clear(dn__outbox *outbox)
{
        outbox->n_bytes = 0;
        outbox->n_posts = 0;
        outbox->has_reserved = false;
}
