/* What a forked child keeps of its parent. */
#include <notify_private.h>
#include <unistd.h>

#include "roles.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

static test_bus *bus;
static tally in_parent;

/* Nobody listens at the first address: the second one's descriptor gets the same number. */
TEST_ON_BUS(childDoesNotKeepAConnectionToTheSecondAddress)
{
        dn_center *center = NULL;

        bus = test_bus_begin();
        const char *second = test_bus_address(bus);
        CHECK_EQ(dn_center_open(FORMAT("tcp:host=127.0.0.1,port=1;%s", second), &center), 0);
        await_bus(center);
        CHECK_EQ(dn_center_post(center, "N", NULL, NULL, 0), 0);
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        WAIT_UNTIL_EQ(test_bus_n_connections(bus, NULL), 1);
        pid_t pid = test_fork();
        if (pid == 0)
                _exit((int)test_bus_n_connections(bus, NULL));
        CHECK_EQ(test_wait_for(pid), 0);
        CHECK_EQ(test_bus_n_connections(bus, NULL), 1);
        dn_center_unref(center);
}

/* No fork handlers and no other code of the library run in this child. */
TEST_ON_BUS(childWithoutForkHandlersClosesTheParentsConnection)
{
        bus = test_bus_begin();
        tally_observe(dn_center_darwin(), "N", &in_parent);
        _notify_fork_child();
        WAIT_UNTIL_EQ(test_bus_n_connections(bus, NULL), 1);
        pid_t pid = _Fork();
        if (pid == 0) {
                unsigned n_before = test_bus_n_connections(bus, NULL);

                _notify_fork_child();
                _notify_fork_child();
                _exit((int)(10 * n_before + test_bus_n_connections(bus, NULL)));
        }
        CHECK_EQ(test_wait_for(pid), 10);
        CHECK_EQ(test_bus_n_connections(bus, NULL), 1);
        post_elsewhere("N", 1, "return");
        WAIT_UNTIL_EQ(in_parent.n_posts, 1);
}

TEST_MAIN()
