/* Work that is done at once, but not more often than every 100 ms. */
#include "pace.h"

#include <time.h>

void pace_init(pace *pace, sd_event *event, void (*run)(void *context), void *context)
{
        *pace = (struct pace){ .event = event, .run = run, .context = context };
}

static uint64_t read_clock(const pace *pace)
{
        uint64_t now_us = 0;

        (void)sd_event_now(pace->event, CLOCK_MONOTONIC, &now_us);
        return now_us;
}

static void run_now(pace *pace)
{
        pace->next_us = read_clock(pace) + PACE_US;
        pace->run(pace->context);
}

static int at_time(sd_event_source *timer, uint64_t time_us, void *context)
{
        (void)timer, (void)time_us;
        run_now(context);
        return 0;
}

void pace_ask(pace *pace)
{
        int enabled = SD_EVENT_OFF;

        if (pace->timer)
                (void)sd_event_source_get_enabled(pace->timer, &enabled);
        if (enabled != SD_EVENT_OFF)
                return;
        if (read_clock(pace) >= pace->next_us) {
                run_now(pace);
                return;
        }
        pace->timer = sd_event_source_unref(pace->timer);
        if (sd_event_add_time(pace->event, &pace->timer, CLOCK_MONOTONIC, pace->next_us, 1000,
                              at_time, pace) < 0)
                run_now(pace);
}

void pace_deinit(pace *pace)
{
        pace->timer = sd_event_source_disable_unref(pace->timer);
}
