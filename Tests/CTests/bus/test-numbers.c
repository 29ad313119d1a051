/* Post numbers, by which a receiver detects missing posts. */
#include "bus/numbers.h"

#include "test.h"

static dn__name name_of(const char *text)
{
        dn__name name;

        CHECK_EQ(dn__name_init(&name, text, DN__REACH_BEYOND), 0);
        return name;
}

static uint64_t note(dn__numbers *numbers, const char *sender, const char *name, uint64_t number)
{
        dn__post post = { .name = name_of(name), .origin.sender = sender, .body.number = number };

        return dn__numbers_note(numbers, &post);
}

TEST_NO_BUS(aGapIsReportedOnceForItsSenderAndName)
{
        dn__numbers numbers = { 0 };

        CHECK_EQ(note(&numbers, ":1.1", "a", 5), 0); /* nothing is known of earlier posts */
        CHECK_EQ(note(&numbers, ":1.1", "a", 6), 0);
        CHECK_EQ(note(&numbers, ":1.1", "a", 9), 2);
        CHECK_EQ(note(&numbers, ":1.1", "a", 10), 0);
        CHECK_EQ(note(&numbers, ":1.2", "a", 20), 0);
        CHECK_EQ(note(&numbers, ":1.1", "b", 30), 0);
        CHECK_EQ(note(&numbers, ":1.2", "a", 22), 1);
        dn__numbers_deinit(&numbers);
}

TEST_NO_BUS(aSenderLongerThanDBusAllowsIsNotRemembered)
{
        dn__numbers numbers = { 0 };
        char sender[300];

        memset(sender, 'x', sizeof(sender) - 1);
        sender[sizeof(sender) - 1] = '\0';
        CHECK_EQ(note(&numbers, sender, "a", 1), 0);
        CHECK_EQ(note(&numbers, sender, "a", 9), 0);
        CHECK_EQ(numbers.received.n_entries, 0);
        dn__numbers_deinit(&numbers);
}

TEST_MAIN()
