/* The distributed center: who gets what, in which order. */
#include <darwinnotify/darwinnotify.h>

#include "record.h"
#include "tally.h"
#include "test-bus.h"

#define NAME "com.example.changed"

/* Returns a second connection of this process, which stands for another process. */
static dn_center *begin_with_poster(void)
{
        return open_distributed(test_bus_address(test_bus_begin()));
}

TEST_ON_BUS(anObjectReachesThoseWhoAskForItOrForNone)
{
        dn_center *center = dn_center_distributed(), *poster = begin_with_poster();
        char built[] = "sen\0der"; /* the same text elsewhere */
        static record x, any;

        strcat(built, "der");
        record_observe(center, &(dn_filter){ .name = NAME, .object = built }, &x);
        memset(built, '!', 6);
        record_observe(center, &(dn_filter){ .name = NAME }, &any);
        CHECK_EQ(dn_center_post(poster, NAME, NULL, NULL, 0), 0);
        CHECK_EQ(dn_center_post(poster, NAME, "sender", NULL, 0), 0);
        CHECK_EQ(dn_center_post(poster, NAME, "other", NULL, 0), 0);
        CHECK_EQ(dn_center_post(poster, NAME, "", NULL, 0), 0);
        CHECK_EQ(dn_center_post(poster, NAME, "sender", NULL, 0), 0);
        record_expect(&any, 5, NAME "\n" NAME " @sender\n" NAME " @other\n" NAME " @\n" NAME
                                    " @sender\n");
        record_expect(&x, 2, NAME " @sender\n" NAME " @sender\n");
}

TEST_ON_BUS(anObserverMayAskForAllNamesOrAPrefix)
{
        dn_center *center = dn_center_distributed(), *poster = begin_with_poster();
        static record all, of_x, prefix, exact;

        record_observe(center, &(dn_filter){ 0 }, &all);
        record_observe(center, &(dn_filter){ .object = "x" }, &of_x);
        record_observe(center, &(dn_filter){ .prefix = "com.x" }, &prefix);
        record_observe(center, &(dn_filter){ .name = "com.x" }, &exact);
        CHECK_EQ(dn_center_post(poster, "com.x", NULL, NULL, 0), 0);
        CHECK_EQ(dn_center_post(poster, "com.x.y", "x", NULL, 0), 0);
        CHECK_EQ(dn_center_post(poster, "org.x", "x", NULL, 0), 0);
        CHECK_EQ(dn_center_post(center, "self.x", "x", NULL, 0), 0);
        WAIT_UNTIL_EQ(all.n_calls, 4);
        record_expect(&exact, 1, "com.x\n");
        record_expect(&prefix, 2, "com.x\ncom.x.y @x\n");
        WAIT_UNTIL_EQ(of_x.n_calls, 3);
}

/* In registration order among those of one name or prefix, and of one of them after the other. */
TEST_ON_BUS(aPostReachesExactAndPrefixObserversOnceEachInOrder)
{
        enum { N = 21 };
        static const dn_filter filters[] = { { .name = NAME }, { .prefix = "com." }, { 0 } };
        dn_center *center = dn_center_distributed(), *poster = begin_with_poster();

        await_bus(center);
        for (int i = 0; i < N; i++)
                CHECK_EQ(dn_center_observe_filtered(center, &filters[i % 3], NOTING(i), NULL, NULL),
                         0);
        CHECK_EQ(dn_center_post(poster, NAME, NULL, NULL, 0), 0);
        WAIT_UNTIL_EQ(n_noted, N);
        for (int i = 0; i < N; i++)
                CHECK_EQ(noted[i], i % (N / 3) * 3 + i / (N / 3));
}

/* A handler that blocks leaves no signal waiting on the bus, which would drop it or the process. */
TEST_ON_BUS(postsOfOneProcessArriveCompleteAndInOrder)
{
        enum { N = 20000 };
        dn_center *center = dn_center_distributed();
        test_bus_begin();
        static record seen;

        record_observe(center, &(dn_filter){ .name = NAME }, &seen);
        seen.blocks = true;
        post_numbers_elsewhere(NAME, "x", FORMAT("%d", N));
        WAIT_UNTIL_EQ(statistic_of(center, DN_STATISTIC_SIGNALS_RECEIVED), N);
        CHECK_EQ(seen.n_calls, 1);
        seen.blocks = false;
        WAIT_UNTIL_EQ(seen.n_calls, N);
        CHECK_EQ(seen.n_dropped, 0);
        CHECK_EQ(statistic_of(center, DN_STATISTIC_CONNECTS), 1);
        char *text = record_copy(&seen), *line = text;
        for (int i = 0; i < N; i++, line = strchr(line, '\n') + 1) {
                const char *expected = FORMAT(NAME " @x {\"i\": %d}\n", i);

                CHECK(strncmp(line, expected, strlen(expected)) == 0);
        }
        free(text);
}

TEST_ON_BUS(namesAndObjectsInTurnStayInOrder)
{
        enum { N = 5000 };
        dn_center *poster = begin_with_poster();
        static record seen;

        record_observe(dn_center_distributed(), &(dn_filter){ .prefix = "com." }, &seen);
        for (int i = 0; i < N; i++)
                CHECK_EQ(post_number(poster, i % 2 ? "com.a" : "com.b", i % 3 ? "x" : NULL, i), 0);
        record_expect_numbers(&seen, N);
}

TEST_ON_BUS(aProcessHearsItselfOnceAndNeverFromInsideThePost)
{
        test_bus_begin();
        dn_center *center = dn_center_distributed();
        static record seen, end;

        record_observe(center, &(dn_filter){ .name = NAME }, &seen);
        record_observe(center, &(dn_filter){ .name = "com.example.end" }, &end);
        seen.blocks = true;
        CHECK_EQ(post_number(center, NAME, NULL, 1), 0);
        CHECK_EQ(post_number(center, NAME, NULL, 2), 0);
        seen.blocks = false;
        WAIT_UNTIL_EQ(seen.n_calls, 2);
        /* Anything that came back over the bus has arrived before this post. */
        post_numbers_elsewhere("com.example.end", "-", "1");
        WAIT_UNTIL_EQ(end.n_calls, 1);
        record_expect(&seen, 2, NAME " {\"i\": 1}\n" NAME " {\"i\": 2}\n");
}

TEST_ON_BUS(waitingPostsGoToTheHandlerThatReplacesAnother)
{
        test_bus_begin();
        dn_center *center = dn_center_distributed();
        dn_observer *old, *new = NULL;
        static record before, after;

        old = record_observe(center, &(dn_filter){ .name = NAME, .object = "x" }, &before);
        record_init(&after);
        before.blocks = true;
        for (int i = 0; i < 5; i++)
                CHECK_EQ(post_number(center, NAME, "x", i), 0);
        WAIT_UNTIL_EQ(before.n_calls, 1);
        CHECK_EQ(dn_observer_replace(old, RECORD_HANDLER(&after), NULL, &new), 0);
        CHECK_EQ(post_number(center, NAME, "y", 5), 0);
        CHECK_EQ(post_number(center, NAME, "x", 6), 0);
        before.blocks = false;
        WAIT_UNTIL_EQ(after.n_calls, 5);
        record_expect(&before, 1, NAME " @x {\"i\": 0}\n");
        record_expect(&after, 5,
                      NAME " @x {\"i\": 1}\n" NAME " @x {\"i\": 2}\n" NAME " @x {\"i\": 3}\n" NAME
                           " @x {\"i\": 4}\n" NAME " @x {\"i\": 6}\n");
        dn_observer_unref(old);
}

TEST_MAIN()
