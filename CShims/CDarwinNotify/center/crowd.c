/* A list of observers. */
#include "center/crowd.h"

#include <stdlib.h>
#include <string.h>

static bool crowd_grow(dn__crowd *crowd)
{
        size_t n_allocated = 4 * (crowd->more ? crowd->n_allocated : DN__CROWD_N_FIXED);
        dn_observer **more = malloc(n_allocated * sizeof(dn_observer *));

        if (!more)
                return false;
        memcpy(more, dn__crowd_get(crowd), crowd->n_observers * sizeof(dn_observer *));
        free(crowd->more);
        crowd->more = more;
        crowd->n_allocated = n_allocated;
        return true;
}

bool dn__crowd_add(dn__crowd *crowd, dn_observer *observer)
{
        if (crowd->n_observers == (crowd->more ? crowd->n_allocated : DN__CROWD_N_FIXED) &&
            !crowd_grow(crowd))
                return false;
        dn__crowd_get(crowd)[crowd->n_observers++] = observer;
        return true;
}

void dn__crowd_clear(dn__crowd *crowd)
{
        free(crowd->more);
        *crowd = (dn__crowd){ 0 };
}
