/* Stands in for a carrier that a center lacks. */
#include "post/carrier.h"

#include <errno.h>

static int post_to_nobody(dn__carrier *carrier, dn__post *post)
{
        dn__absence *absence = (dn__absence *)carrier;

        (void)post;
        if (absence->is_missed && !atomic_load(&absence->has_lost))
                atomic_store(&absence->has_lost, true);
        return DN_NOT_CONNECTED;
}

static int take_loss(dn__carrier *carrier)
{
        dn__absence *absence = (dn__absence *)carrier;

        return atomic_exchange(&absence->has_lost, false) ? -ENOTCONN : 0;
}

const dn__carrier_ops dn__absence_ops = { .post = post_to_nobody, .take_loss = take_loss };
