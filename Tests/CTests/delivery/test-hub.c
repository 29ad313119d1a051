/* The list of hubs, which grows and shrinks while other threads walk it. */
#include <stdlib.h>

#include "delivery/hub.h"
#include "test.h"

static void close_hub(dn__hub *hub)
{
        dn__hub_unref(hub);
}

static const dn__center_ops plain_ops = { .close = close_hub };

static dn_center *make_center(const dn__center_ops *ops)
{
        dn_center *center = calloc(1, sizeof(*center));

        center->ops = ops;
        atomic_init(&center->n_refs, 1);
        return center;
}

static void use(dn_center *center)
{
        dn__hub *hub;

        CHECK_EQ(dn__hub_get(center, &hub), 0);
        dn__hub_unref(hub);
}

static unsigned count_visits(const dn_center *center)
{
        unsigned n = 0;
        dn__hub *hub;

        DN__HUBS_EACH(hub)
                n += hub->center == center;
        return n;
}

/* --- a center that is first used while another one opens ------------------------------------ */

static dn_center *meanwhile;

static int use_another(dn__hub *hub)
{
        use(meanwhile);
        return 0;
}

static const dn__center_ops slow_ops = { .open = use_another, .close = close_hub };

TEST_NO_BUS(centerThatWasFirstUsedWhileAnotherOpenedIsVisited)
{
        dn_center *slow = make_center(&slow_ops);

        meanwhile = make_center(&plain_ops);
        use(slow);
        CHECK_EQ(count_visits(slow), 1);
        CHECK_EQ(count_visits(meanwhile), 1);
        dn__center_release(slow);
        dn__center_release(meanwhile);
        dn__hub_free_list();
}

TEST_NO_BUS(centerThatIsFirstUsedDuringAWalkIsVisited)
{
        dn_center *first = make_center(&plain_ops), *second = make_center(&plain_ops);
        unsigned n = 0;
        dn__hub *hub;

        use(first);
        DN__HUBS_EACH(hub) {
                use(second);
                n++;
        }
        CHECK_EQ(n, 2);
        dn__center_release(first);
        dn__center_release(second);
        dn__hub_free_list();
}

TEST_MAIN()
