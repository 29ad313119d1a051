/* The distributed center on many threads at once. */
#include <darwinnotify/darwinnotify.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "record.h"
#include "test-bus.h"

#define N_THREADS 8
#define STORM_MS 500

static _Atomic bool stop;
static _Atomic uint64_t n_made, n_destroyed, n_calls;

static void check_event(const dn_event *event, void *context)
{
        (void)context;
        CHECK(event->n_posts > 0);
        CHECK(dn_dict_get_int64(event->user_info, "i", -1) >= 0);
        n_calls++;
}

static void count_destroyed(void *context)
{
        n_destroyed++;
        free(context); /* a double free or use after free is reported by the sanitizer */
}

static void count_callback(dn_center *center, void *observer, const char *name, const void *object,
                           const dn_dict *user_info)
{
        (void)center, (void)observer, (void)name, (void)object;
        CHECK(dn_dict_get_int64(user_info, "i", -1) >= 0);
        n_calls++;
}

/* Eight threads post faster than a bus reads. */
static void post_or_be_refused(const char *name, const char *object, int64_t number)
{
        dn_dict_builder *builder = dn_dict_builder_new();
        dn_dict *user_info = NULL;
        int r;

        dn_dict_builder_set_int64(builder, "i", number);
        CHECK_EQ(dn_dict_builder_finish(builder, &user_info), 0);
        r = dn_center_post(dn_center_distributed(), name, object, user_info, number % 7 == 0);
        CHECK(r == 0 || r == -ENOBUFS);
        dn_dict_unref(user_info);
}

static void *storm(void *argument)
{
        dn_center *center = dn_center_distributed();
        unsigned number = *(unsigned *)argument;
        char name[32];

        for (unsigned round = 0; !stop; round++) {
                const char *object = round % 2 ? "x" : NULL;
                int behavior = (int)(round % 4) + 1;
                dn_filter filter = { .name = name, .object = object, .behavior = behavior };
                dn_observer *observer = NULL;

                snprintf(name, sizeof(name), "storm.%u", (number + round) % 5);
                if (round % 5 == 0)
                        filter = (dn_filter){ .prefix = "storm.", .behavior = behavior };
                n_made++;
                CHECK_EQ(dn_center_observe_filtered(
                                 center, &filter,
                                 (dn_handler){ check_event, malloc(1), count_destroyed }, NULL,
                                 &observer),
                         0);
                CHECK_EQ(dn_center_add_observer(center, argument, count_callback, name, object,
                                                behavior),
                         0);
                post_or_be_refused(name, object, round);
                CHECK_EQ(dn_center_set_suspended(center, round % 3 == 0), 0);
                (round % 2 ? dn_observer_cancel_wait : dn_observer_cancel)(observer);
                dn_observer_unref(observer);
                CHECK_EQ(dn_center_remove_every_observer(center, argument), 0);
        }
        return NULL;
}

/* Returns when what this process has posted has come back and has been delivered. */
static void fence(void)
{
        dn_center *center = dn_center_distributed();
        record seen;
        dn_observer *observer = record_observe(center, &(dn_filter){ .name = "fence" }, &seen);

        WAIT_UNTIL_EQ(post_number(center, "fence", NULL, 0), 0);
        WAIT_UNTIL(seen.n_calls > 0); /* one that the full queue refused has come, too */
        record_drop(observer, &seen);
}

TEST_ON_BUS(noCallFollowsTheLastRemovalOfManyThreads)
{
        test_bus_begin();
        dn_center *center = dn_center_distributed();
        unsigned numbers[N_THREADS];
        pthread_t threads[N_THREADS];
        uint64_t n_before;

        await_bus(center);
        for (unsigned i = 0; i < N_THREADS; i++) {
                numbers[i] = i;
                CHECK_EQ(pthread_create(&threads[i], NULL, storm, &numbers[i]), 0);
        }
        test_let_pass_ms(STORM_MS);
        WAIT_UNTIL(n_calls > 0);
        stop = true;
        for (unsigned i = 0; i < N_THREADS; i++)
                pthread_join(threads[i], NULL);
        WAIT_UNTIL_EQ(n_destroyed, n_made);
        CHECK_EQ(dn_center_set_suspended(center, false), 0);
        /* A call that a callback's removal found running has come to its end. */
        fence();
        n_before = n_calls;
        for (unsigned i = 0; i < 5; i++)
                post_or_be_refused("storm.0", "x", i);
        fence();
        CHECK_EQ(n_calls, n_before);
}

TEST_MAIN()
