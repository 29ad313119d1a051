/* Out of memory on the library's own threads. */
#include "failing-allocator.h"
#include "library-thread.h"
#include "roles.h"
#include "tally.h"
#include "test-bus.h"

/* Allocations of the library's threads: which ones fail. */
static _Atomic long n_until_failure = -1; /* that one alone; negative: none */
static _Atomic long failing_every;        /* every n-th; 0: none */
static _Atomic long n_failures;
static _Atomic long n_allocations;

static bool allocation_fails(void)
{
        long every = failing_every;

        if ((every == 0 && n_until_failure < 0) || !is_thread_of_library())
                return false;
        if (every ? ++n_allocations % every != 0 : n_until_failure-- != 0)
                return false;
        n_failures++;
        return true;
}

static test_bus *begin(void)
{
        require_failing_allocator();
        return test_bus_begin();
}

static void check_delivery(dn_center *center, tally *seen)
{
        uint64_t n_before = seen->n_posts;

        post_soon(center, "N");
        WAIT_UNTIL(seen->n_posts > n_before);
}

/* --- One allocation -------------------------------------------------------------------------- */

/* Returns whether an allocation failed. */
static bool live(dn_center *(*open)(const char *address), const char *address, long n)
{
        dn_center *center = open(address);
        tally seen = {0};
        dn_observer *observer;
        long n_before = n_failures;

        n_until_failure = n;
        observer = tally_observe_soon(center, "N", &seen);
        check_delivery(center, &seen);
        tally_drop(observer);
        WAIT_UNTIL_EQ(seen.n_destroyed, 1);
        dn_center_unref(center);
        n_until_failure = -1;
        return n_failures > n_before;
}

/* Lets each allocation fail once, until a life has fewer. */
static void fail_each(dn_center *(*open)(const char *address))
{
        test_bus *bus = begin();
        long n = 0;

        while (live(open, test_bus_address(bus), n))
                n++;
        CHECK(test_bus_is_none(bus) || n > 10);
        test_bus_stop(bus);
}

TEST(aDarwinPostIsHeardWhicheverAllocationFails)
{
        fail_each(open_center);
}

TEST_ON_BUS(aDistributedPostIsHeardWhicheverAllocationFails)
{
        fail_each(open_distributed);
}

/* --- Many allocations ------------------------------------------------------------------------ */

#define N_ELSEWHERE 20

/* The bus restarts, and another process posts. */
static void restart(test_bus *bus)
{
        long n_before = n_failures;

        post_soon(dn_center_darwin(), "N");
        post_soon(dn_center_distributed(), "N");
        if (!test_bus_is_none(bus)) {
                test_bus_kill(bus);
                test_bus_start_again(bus);
                WAIT_UNTIL(n_failures > n_before);
        }
        post_elsewhere("N", N_ELSEWHERE, "return");
}

TEST(postsAreHeardOnceThereIsMemoryAgain)
{
        static const long all[] = {1, 2, 3, 5, 11};
        test_bus *bus = begin();
        tally darwin = {0}, distributed = {0};
        dn_observer *observers[2];

        observers[0] = tally_observe_soon(dn_center_darwin(), "N", &darwin);
        observers[1] = tally_observe_soon(dn_center_distributed(), "N", &distributed);
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
                failing_every = all[i];
                restart(bus);
                failing_every = 0;
                WAIT_UNTIL_EQ(darwin.n_posts, (i + 1) * (N_ELSEWHERE + 2) - 1);
                check_delivery(dn_center_darwin(), &darwin);
                if (!test_bus_is_none(bus))
                        check_delivery(dn_center_distributed(), &distributed);
        }
        tally_drop(observers[0]);
        tally_drop(observers[1]);
        WAIT_UNTIL(darwin.n_destroyed + distributed.n_destroyed == 2);
}

TEST_MAIN()
