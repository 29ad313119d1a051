/* A list of observers. */
#include "center/crowd.h"

#include "test.h"

TEST_NO_BUS(anyNumberOfObserversKeepsItsOrder)
{
        static char observers[100]; /* only their addresses count */
        dn__crowd crowd = { 0 };

        for (size_t i = 0; i < sizeof(observers); i++) {
                CHECK(dn__crowd_add(&crowd, (dn_observer *)&observers[i]));
                CHECK(!crowd.more == (i < DN__CROWD_N_FIXED));
        }
        CHECK_EQ(crowd.n_observers, sizeof(observers));
        for (size_t i = 0; i < sizeof(observers); i++)
                CHECK(dn__crowd_get(&crowd)[i] == (dn_observer *)&observers[i]);
        dn__crowd_clear(&crowd);
        CHECK_EQ(crowd.n_observers, 0);
        CHECK(!crowd.more);
        dn__crowd_clear(&crowd);
}

TEST_MAIN()
