/* The numbers of posts, which are forgotten all at once when there are too many. */
#include <stdio.h>
#include <time.h>

#include "bus/numbers.h"
#include "test.h"

static uint64_t own_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Returns the processor time that it took. */
static uint64_t add(dn__numbers *numbers, unsigned first, unsigned end)
{
        uint64_t began_ns = own_ns();

        for (unsigned i = first; i < end; i++) {
                char text[32];
                dn__name name;

                snprintf(text, sizeof text, "com.example.%u", i);
                CHECK_EQ(dn__name_init(&name, text, DN__REACH_BEYOND), 0);
                CHECK(dn__numbers_get_last(numbers, &name) != NULL);
        }
        return own_ns() - began_ns;
}

TEST_NO_BUS(forgettingAllNumbersTakesNoLongerThanAddingThem)
{
        dn__numbers numbers = {0};
        uint64_t added_ns = add(&numbers, 0, DN__NUMBERS_MAX);

        CHECK_EQ(numbers.sent.n_entries, DN__NUMBERS_MAX);
        CHECK(add(&numbers, DN__NUMBERS_MAX, DN__NUMBERS_MAX + 1) < 2 * added_ns);
        CHECK_EQ(numbers.sent.n_entries, 1);
        dn__numbers_deinit(&numbers);
}

TEST_MAIN()
