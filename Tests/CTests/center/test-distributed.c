/* The distributed center: who gets what, in which order. */
#include <darwinnotify/darwinnotify.h>
#include <errno.h>
#include <unistd.h>

#include "record.h"
#include "test-bus.h"
#include "test-child.h"

#define NAME "com.example.changed"

/* A second connection of this process, which stands for another process. */
static dn_center *open_poster(const test_bus *bus)
{
        dn_center *center = NULL;

        CHECK_EQ(dn_center_open_distributed(test_bus_address(bus), &center), 0);
        return center;
}

TEST_ON_BUS(anObjectReachesThoseWhoAskForItOrForNone)
{
        test_bus *bus = test_bus_begin();
        dn_center *center = dn_center_distributed(), *poster = open_poster(bus);
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

TEST_ON_BUS(aUserInfoArrivesAsItWasPosted)
{
        test_bus *bus = test_bus_begin();
        dn_center *poster = open_poster(bus);
        dn_dict_builder *builder = dn_dict_builder_new();
        dn_dict *user_info = NULL, *empty = NULL;
        static record seen;

        record_observe(dn_center_distributed(), &(dn_filter){ .name = NAME }, &seen);
        dn_dict_builder_set_string(builder, "title", "Grüße");
        dn_dict_builder_set_uint64(builder, "largest", UINT64_MAX);
        dn_dict_builder_begin_array(builder, "array");
        dn_dict_builder_set_bool(builder, NULL, true);
        dn_dict_builder_end(builder);
        CHECK_EQ(dn_dict_builder_finish(builder, &user_info), 0);
        CHECK_EQ(dn_dict_builder_finish(dn_dict_builder_new(), &empty), 0);
        CHECK_EQ(dn_center_post(poster, NAME, "x", user_info, 0), 0);
        dn_dict_unref(user_info);
        CHECK_EQ(dn_center_post(poster, NAME, NULL, empty, 0), 0);
        CHECK_EQ(dn_center_post(poster, NAME, NULL, NULL, 0), 0);
        record_expect(&seen, 3,
                      NAME " @x {\"array\": [true], \"largest\": 18446744073709551615, "
                           "\"title\": \"Grüße\"}\n" NAME " {}\n" NAME "\n");
        dn_dict_unref(empty);
}

TEST_ON_BUS(anObserverMayAskForAllNamesOrAPrefix)
{
        test_bus *bus = test_bus_begin();
        dn_center *center = dn_center_distributed(), *poster = open_poster(bus);
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

/* A handler that records its number. */
typedef struct turn {
        int number;
        _Atomic int *order;
        _Atomic int *n_calls;
} turn;

static void take_turn(const dn_event *event, void *context)
{
        turn *self = context;

        (void)event;
        self->order[(*self->n_calls)++] = self->number;
}

/* In registration order among those of one name or prefix, and of one of them after the other. */
TEST_ON_BUS(aPostReachesExactAndPrefixObserversOnceEachInOrder)
{
        enum { N = 21 };
        static const dn_filter filters[] = { { .name = NAME }, { .prefix = "com." }, { 0 } };
        test_bus *bus = test_bus_begin();
        dn_center *center = dn_center_distributed(), *poster = open_poster(bus);
        static _Atomic int order[N + 1], n_calls;
        static turn turns[N];

        await_bus(center);
        for (int i = 0; i < N; i++) {
                turns[i] = (turn){ i, order, &n_calls };
                CHECK_EQ(dn_center_observe_filtered(center, &filters[i % 3],
                                                    (dn_handler){ take_turn, &turns[i], NULL },
                                                    NULL, NULL),
                         0);
        }
        CHECK_EQ(dn_center_post(poster, NAME, NULL, NULL, 0), 0);
        WAIT_UNTIL_EQ(n_calls, N);
        for (int i = 0; i < N; i++)
                CHECK_EQ(order[i], i % (N / 3) * 3 + i / (N / 3));
}

/* A handler that blocks leaves no signal waiting on the bus, which would drop it or the process. */
TEST_ON_BUS(postsOfOneProcessArriveCompleteAndInOrder)
{
        enum { N = 20000 };
        dn_center *center = dn_center_distributed();
        uint64_t n_received = 0, n_connects = 0;
        test_bus_begin();
        char count[16];
        static record seen;

        record_observe(center, &(dn_filter){ .name = NAME }, &seen);
        seen.holds = true;
        snprintf(count, sizeof(count), "%d", N);
        post_numbers_elsewhere(NAME, "x", count);
        WAIT_UNTIL((dn_center_get_statistic(center, DN_STATISTIC_SIGNALS_RECEIVED, &n_received),
                    n_received == N));
        CHECK_EQ(seen.n_calls, 1);
        seen.holds = false;
        WAIT_UNTIL_EQ(seen.n_calls, N);
        CHECK_EQ(seen.n_dropped, 0);
        CHECK_EQ(dn_center_get_statistic(center, DN_STATISTIC_CONNECTS, &n_connects), 0);
        CHECK_EQ(n_connects, 1);
        char *text = record_copy(&seen), *line = text;
        for (int i = 0; i < N; i++, line = strchr(line, '\n') + 1) {
                char expected[64];

                snprintf(expected, sizeof(expected), NAME " @x {\"i\": %d}\n", i);
                CHECK(strncmp(line, expected, strlen(expected)) == 0);
        }
        free(text);
}

TEST_ON_BUS(namesAndObjectsInTurnStayInOrder)
{
        enum { N = 5000 };
        test_bus *bus = test_bus_begin();
        dn_center *poster = open_poster(bus);
        static record seen;

        record_observe(dn_center_distributed(), &(dn_filter){ .prefix = "com." }, &seen);
        for (int i = 0; i < N; i++)
                CHECK_EQ(post_number(poster, i % 2 ? "com.a" : "com.b", i % 3 ? "x" : NULL, i), 0);
        WAIT_UNTIL_EQ(seen.n_calls, N);
        char *text = record_copy(&seen), *at = text;
        for (int i = 0; i < N; i++) {
                at = strstr(at, "\"i\": ");
                CHECK(at);
                CHECK_EQ(atoi(at + 5), i);
                at++;
        }
        free(text);
}

TEST_ON_BUS(aProcessHearsItselfOnceAndNeverFromInsideThePost)
{
        test_bus_begin();
        dn_center *center = dn_center_distributed();
        static record seen, end;

        record_observe(center, &(dn_filter){ .name = NAME }, &seen);
        record_observe(center, &(dn_filter){ .name = "com.example.end" }, &end);
        seen.holds = true;
        CHECK_EQ(post_number(center, NAME, NULL, 1), 0);
        CHECK_EQ(post_number(center, NAME, NULL, 2), 0);
        seen.holds = false;
        WAIT_UNTIL_EQ(seen.n_calls, 2);
        /* Anything that came back over the bus is behind it. */
        post_numbers_elsewhere("com.example.end", "-", "1");
        WAIT_UNTIL_EQ(end.n_calls, 1);
        record_expect(&seen, 2, NAME " {\"i\": 1}\n" NAME " {\"i\": 2}\n");
}

TEST_NO_BUS(whatIsMalformedIsRefused)
{
        dn_center *center = dn_center_distributed();
        char *large = calloc(1, DN_OBJECT_MAX_BYTES + 2);
        char too_long[DN_NAME_MAX_BYTES + 2] = { 0 };
        record seen;

        setenv("DARWIN_NOTIFY_BUS", "none", 1);
        record_init(&seen);
        memset(large, 'o', DN_OBJECT_MAX_BYTES + 1);
        memset(too_long, 'n', sizeof(too_long) - 1);
        CHECK_EQ(dn_center_post(center, too_long, NULL, NULL, 0), -ENAMETOOLONG);
        CHECK_EQ(dn_center_add_observer(center, &seen, record_callback, too_long, NULL, 0),
                 -ENAMETOOLONG);
        CHECK_EQ(dn_center_post(center, NULL, NULL, NULL, 0), -EINVAL);
        CHECK_EQ(dn_center_post(center, "", NULL, NULL, 0), -EINVAL);
        CHECK_EQ(dn_center_post(center, "\xff", NULL, NULL, 0), -EINVAL);
        CHECK_EQ(dn_center_post(center, NAME, "\xff", NULL, 0), -EINVAL);
        CHECK_EQ(dn_center_post(center, NAME, large, NULL, 0), -E2BIG);
        large[DN_OBJECT_MAX_BYTES] = '\0';
        CHECK_EQ(dn_center_post(center, NAME, large, NULL, 0), DN_NOT_CONNECTED);
        large[DN_OBJECT_MAX_BYTES] = 'o';
        CHECK_EQ(dn_center_observe_filtered(center, NULL, record_handler(&seen), NULL, NULL),
                 -EINVAL);
        CHECK_EQ(dn_center_observe_filtered(center, &(dn_filter){ .name = NAME, .prefix = "" },
                                            record_handler(&seen), NULL, NULL),
                 -EINVAL);
        CHECK_EQ(dn_center_observe_filtered(center, &(dn_filter){ .prefix = "\xc3" },
                                            record_handler(&seen), NULL, NULL),
                 -EINVAL);
        CHECK_EQ(dn_center_observe_filtered(center, &(dn_filter){ .name = NAME, .object = "\xff" },
                                            record_handler(&seen), NULL, NULL),
                 -EINVAL);
        CHECK_EQ(dn_center_observe_filtered(center, &(dn_filter){ .object = large },
                                            record_handler(&seen), NULL, NULL),
                 -E2BIG);
        CHECK_EQ(dn_center_observe_prefix(center, NULL, record_handler(&seen), NULL, NULL),
                 -EINVAL);
        CHECK_EQ(dn_center_observe_filtered(dn_center_local(), &(dn_filter){ .prefix = "x" },
                                            record_handler(&seen), NULL, NULL),
                 -EINVAL);
        CHECK_EQ(seen.n_destroyed, 7);
        CHECK_EQ(seen.n_calls, 0);
        record_deinit(&seen);
        free(large);
}

TEST_ON_BUS(removalGoesByNameAndObjectAndTakesDuplicates)
{
        test_bus_begin();
        dn_center *center = dn_center_distributed();
        static record seen, other;
        char x[] = "x";

        record_init(&seen);
        record_init(&other);
        await_bus(center);
        CHECK_EQ(dn_center_add_observer(center, &other, record_callback, "a", NULL, 0), 0);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(dn_center_add_observer(center, &seen, record_callback, "a", "x", 0), 0);
        CHECK_EQ(dn_center_add_observer(center, &seen, record_callback, "a", "y", 0), 0);
        CHECK_EQ(dn_center_add_observer(center, &seen, record_callback, "b", "x", 0), 0);
        CHECK_EQ(dn_center_add_observer(center, &seen, record_callback, NULL, NULL, 0), 0);
        CHECK_EQ(dn_center_post(center, "a", "x", NULL, 0), 0);
        WAIT_UNTIL_EQ(seen.n_calls, 4);
        CHECK_EQ(dn_center_remove_observer(center, &seen, "a", x), 0);
        CHECK_EQ(dn_center_post(center, "a", "x", NULL, 0), 0);
        WAIT_UNTIL_EQ(seen.n_calls, 5);
        CHECK_EQ(dn_center_post(center, "a", "y", NULL, 0), 0);
        WAIT_UNTIL_EQ(seen.n_calls, 7);
        CHECK_EQ(dn_center_remove_observer(center, &seen, "a", NULL), 0);
        CHECK_EQ(dn_center_post(center, "a", "y", NULL, 0), 0);
        CHECK_EQ(dn_center_post(center, "b", "x", NULL, 0), 0);
        WAIT_UNTIL_EQ(seen.n_calls, 10);
        CHECK_EQ(dn_center_remove_observer(center, &seen, NULL, "x"), 0);
        CHECK_EQ(dn_center_post(center, "b", "x", NULL, 0), 0);
        WAIT_UNTIL_EQ(seen.n_calls, 11);
        CHECK_EQ(dn_center_remove_every_observer(center, &seen), 0);
        CHECK_EQ(dn_center_post(center, "a", "x", NULL, 0), 0);
        WAIT_UNTIL_EQ(other.n_calls, 5);
        CHECK_EQ(seen.n_calls, 11);
        CHECK_EQ(dn_center_remove_every_observer(center, &other), 0);
}

TEST_ON_BUS(whatWaitsGoesToTheHandlerThatReplacesAnother)
{
        test_bus_begin();
        dn_center *center = dn_center_distributed();
        dn_observer *old, *new = NULL;
        static record before, after;

        old = record_observe(center, &(dn_filter){ .name = NAME, .object = "x" }, &before);
        record_init(&after);
        before.holds = true;
        for (int i = 0; i < 5; i++)
                CHECK_EQ(post_number(center, NAME, "x", i), 0);
        WAIT_UNTIL_EQ(before.n_calls, 1);
        CHECK_EQ(dn_observer_replace(old, record_handler(&after), NULL, &new), 0);
        CHECK_EQ(post_number(center, NAME, "y", 5), 0);
        CHECK_EQ(post_number(center, NAME, "x", 6), 0);
        before.holds = false;
        WAIT_UNTIL_EQ(after.n_calls, 5);
        record_expect(&before, 1, NAME " @x {\"i\": 0}\n");
        record_expect(&after, 5,
                      NAME " @x {\"i\": 1}\n" NAME " @x {\"i\": 2}\n" NAME " @x {\"i\": 3}\n" NAME
                           " @x {\"i\": 4}\n" NAME " @x {\"i\": 6}\n");
        dn_observer_unref(old);
}

TEST_MAIN()
