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

/* Of two rules: one of the name "a", one of all others. */
static dn__link lists[2] = {{&lists[0], &lists[0]}, {&lists[1], &lists[1]}};

static uint64_t note(dn__numbers *numbers, const char *text, const char *sender, uint64_t number)
{
        dn__post post = {.origin.sender = sender, .body.number = number};

        CHECK_EQ(dn__name_init(&post.name, text, DN__REACH_BEYOND), 0);
        return dn__numbers_note(numbers, &post, &lists[strcmp(text, "a") != 0]);
}

TEST_NO_BUS(aGapIsTheNumberOfMissingPostsOfANameBySender)
{
        dn__numbers numbers = {0};

        CHECK_EQ(note(&numbers, "a", ":1.1", 5), 0); /* the first one reveals nothing */
        CHECK_EQ(note(&numbers, "a", ":1.1", 6), 0);
        CHECK_EQ(note(&numbers, "a", ":1.1", 10), 3);
        CHECK_EQ(note(&numbers, "a", ":1.2", 20), 0);
        CHECK_EQ(note(&numbers, "b", ":1.1", 30), 0);
        CHECK_EQ(note(&numbers, "a", ":1.1", 11), 0);
        CHECK_EQ(note(&numbers, "a", ":1.1", 0), 0); /* not counted */
        dn__numbers_deinit(&numbers);
}

TEST_NO_BUS(theNumbersOfARuleAreForgotten)
{
        dn__numbers numbers = {0};

        CHECK_EQ(note(&numbers, "a", ":1.1", 1), 0);
        CHECK_EQ(note(&numbers, "b", ":1.1", 1), 0);
        dn__numbers_forget(&numbers, &lists[0]);
        CHECK_EQ(note(&numbers, "a", ":1.1", 9), 0);
        CHECK_EQ(note(&numbers, "b", ":1.1", 9), 7);
        dn__numbers_forget_all(&numbers);
        CHECK_EQ(note(&numbers, "b", ":1.1", 90), 0);
        dn__numbers_deinit(&numbers);
}

TEST_NO_BUS(anotherRuleTakesOverTheNumbersOfOneThatEnds)
{
        dn__numbers numbers = {0};

        CHECK_EQ(note(&numbers, "a", ":1.1", 1), 0);
        CHECK_EQ(note(&numbers, "b", ":1.1", 1), 0);
        dn__list_append_all(&lists[1], &lists[0]);
        dn__numbers_forget(&numbers, &lists[0]);
        CHECK_EQ(note(&numbers, "a", ":1.1", 3), 1);
        dn__list_append_all(&lists[1], &lists[0]);
        dn__list_append_all(&lists[1], &lists[1]);
        dn__numbers_forget(&numbers, &lists[1]);
        CHECK_EQ(note(&numbers, "a", ":1.1", 5), 0);
        CHECK_EQ(note(&numbers, "b", ":1.1", 5), 0);
        dn__numbers_deinit(&numbers);
        CHECK(dn__list_is_empty(&lists[0]) && dn__list_is_empty(&lists[1]));
}

TEST_MAIN()
