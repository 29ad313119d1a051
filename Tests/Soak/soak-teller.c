/* A worker in C that sets states and posts what has an order, or hears of it, until it is killed.
 * Only where a history is written, which alone can be judged by it.
 *
 *     soak-teller BOARD WORKER tell|hear */
#include <darwinnotify/darwinnotify.h>
#include <notify.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "soak.h"

#define DISTRIBUTED "org.example.soak.distributed"
#define PAUSE_US 5000

static int token;

/* Without a bus, it needs the table, whose owner may be stopped. */
static void hold_state(void)
{
        while (notify_register_check(soak_name(SOAK_STATE), &token) != NOTIFY_STATUS_OK)
                usleep(PAUSE_US);
}

/* --- Telling ------------------------------------------------------------------------------- */

static int post_darwin(unsigned name)
{
        return dn_center_post(dn_center_darwin(), soak_name(name), NULL, NULL, 0);
}

static void announce(uint64_t number)
{
        dn_dict_builder *builder = dn_dict_builder_new();
        dn_dict *info = NULL;

        dn_dict_builder_set_uint64(builder, "number", number);
        if (dn_dict_builder_finish(builder, &info) != 0)
                abort();
        soak_note_format("announces", "\"number\":%llu", (unsigned long long)number);
        (void)dn_center_post(dn_center_distributed(), DISTRIBUTED, NULL, info, 0);
        dn_dict_unref(info);
}

/* The numbers of a worker are above those of the one before it. */
static void tell(unsigned order)
{
        static uint64_t number;
        struct timespec now;

        (void)order;
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        if (number == 0)
                number = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
        number++;
        soak_note_format("sets", "\"state\":%llu", (unsigned long long)number);
        if (notify_set_state(token, number) == NOTIFY_STATUS_OK)
                soak_post_one(SOAK_STATE, post_darwin);
        announce(number);
}

/* --- Hearing ------------------------------------------------------------------------------- */

static void hear_state(const dn_event *event, void *context)
{
        uint64_t state = 0;

        (void)context;
        if (notify_get_state(token, &state) != NOTIFY_STATUS_OK)
                soak_violation("a state cannot be read");
        soak_heard(SOAK_STATE, event->n_posts);
        soak_note_format("reads", "\"state\":%llu", (unsigned long long)state);
}

static void hear_announcement(const dn_event *event, void *context)
{
        (void)context;
        soak_note_format("is-told", "\"number\":%llu",
                         (unsigned long long)dn_dict_get_uint64(event->user_info, "number", 0));
}

static void observe(dn_center *center, const char *name,
                    void (*invoke)(const dn_event *event, void *context))
{
        dn_handler handler = {.invoke = invoke};
        dn_observer *observer = NULL;
        int r;

        while ((r = dn_center_observe(center, name, &handler, dn_executor_delivery_thread(),
                                      &observer)) == DN_NOT_CONNECTED &&
               center == dn_center_darwin()) {
                dn_observer_cancel_wait(observer);
                observer = dn_observer_unref(observer);
                usleep(PAUSE_US);
        }
        if (r < 0) {
                fprintf(stderr, "dn_center_observe: %d\n", r);
                exit(1);
        }
        (void)dn_observer_unref(observer);
}

static void hear(void)
{
        soak_will_observe(SOAK_STATE);
        observe(dn_center_darwin(), soak_name(SOAK_STATE), hear_state);
        soak_did_observe(SOAK_STATE);
        observe(dn_center_distributed(), DISTRIBUTED, hear_announcement);
        soak_ready();
        for (;;)
                pause();
}

int main(int argc, char **argv)
{
        if (argc < 4) {
                fprintf(stderr, "usage: soak-teller BOARD WORKER tell|hear\n");
                return 2;
        }
        soak_begin(argv[1], (unsigned)strtoul(argv[2], NULL, 10));
        hold_state();
        if (strcmp(argv[3], "tell") == 0)
                soak_act(tell);
        hear();
}
