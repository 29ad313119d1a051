/* Lists the functions of the library that a Darwin post passes through, for Scripts/count-way.
 *
 * The library is compiled so that each of its functions reports being entered; this file is not.
 * A post at rest: a bus, the default executor, everything warm. */
#include <darwinnotify/darwinnotify.h>
#include <stdio.h>
#include <stdlib.h>

#include "test-bus.h"
#include "test-child.h"
#include "test.h"
#include "util/wake.h"

#define NAME "com.example.way"
#define N_WARM 20
#define MAX_ENTERED 4096

static _Thread_local void *entered[MAX_ENTERED];
static _Thread_local size_t n_entered;
static _Thread_local bool is_listing;

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
        (void)caller;
        if (is_listing && n_entered < MAX_ENTERED)
                entered[n_entered++] = function;
}

/* The way into a receiver begins where its thread wakes up. */
void __cyg_profile_func_exit(void *function, void *caller)
{
        (void)caller;
        if (function != (void *)dn__wake_stay_asleep)
                return;
        is_listing = true;
        n_entered = 0;
}

static void begin(void)
{
        is_listing = true;
        n_entered = 0;
}

static void end(const char *side)
{
        FILE *file;

        is_listing = false;
        file = fopen(FORMAT("%s/%s", getenv("WAY"), side), "we");
        CHECK(file);
        for (size_t i = 0; i < n_entered; i++)
                fprintf(file, "%p\n", entered[i]);
        CHECK_EQ(fclose(file), 0);
}

static void received(const dn_event *event, void *context)
{
        static unsigned n_received;

        (void)event;
        (void)context;
        if (++n_received > N_WARM)
                end("receiver");
        printf("%u\n", n_received);
}

ROLE(receiver)
{
        int r = dn_center_observe(dn_center_darwin(), NAME, &(dn_handler){.invoke = received},
                                  NULL, NULL);

        printf("%d\n", r);
        (void)getchar();
        return 0;
}

TEST_ON_BUS(way)
{
        test_bus *bus = test_bus_begin();
        test_child *receiver = test_spawn_role("receiver", NULL);
        dn_center *center = dn_center_darwin();

        CHECK_STREQ(test_child_read_line(receiver), "0");
        for (int i = 0; i <= N_WARM; i++) {
                test_let_pass_ms(20); /* at rest */
                if (i == N_WARM)
                        begin();
                CHECK_EQ(dn_center_post(center, NAME, NULL, NULL, 0), 0);
                if (i == N_WARM)
                        end("poster");
                CHECK_EQ(atoi(test_child_read_line(receiver)), i + 1);
        }
        CHECK_EQ(test_child_wait(receiver), 0);
        test_bus_stop(bus);
}

TEST_MAIN()
