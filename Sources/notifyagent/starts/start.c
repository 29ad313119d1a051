/* The starts of a unit, each once after the posts that made it due, with pauses in between.
 *
 * The note is written before the manager is asked, and closed when the job has ended. So if the
 * agent is killed between two steps, a start is repeated, but none is lost. */
#include "starts/start.h"

#include <errno.h>
#include <notify.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "say.h"
#include "starts/environment.h"

/* The default of launchd's ThrottleInterval. */
#define PAUSE_US (10 * UINT64_C(1000000))

/* After so many starts in a row, each for a post during the previous run, a line is logged. */
#define MANY_IN_A_ROW 5

static uint64_t read_clock_us(clockid_t clock)
{
        struct timespec now;

        (void)clock_gettime(clock, &now);
        return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

int start_init(start *start, const start_frame *frame)
{
        *start = (struct start){ .frame = *frame };
        start->path = manager_format_path(frame->unit);
        return start->path ? 0 : -ENOMEM;
}

/* --- What is due ----------------------------------------------------------------------------- */

static void be_due(start *start, const char *name, bool may_have_missed)
{
        char *cause = strdup(name);

        if (!cause)
                return; /* the count shows it later */
        free(start->cause);
        start->cause = cause;
        start->is_due = true;
        start->may_have_missed |= may_have_missed;
}

void start_for(start *start, const char *name, bool may_have_missed)
{
        be_due(start, name, may_have_missed);
        start->is_again |= start->frame.note->is_open;
        start_go(start);
}

void start_repeat(start *start)
{
        if (!start->frame.note->is_open || start->call || start->job)
                return;
        be_due(start, start->frame.note->cause, start->frame.note->may_have_missed);
        start_go(start);
}

void start_cancel(start *start)
{
        start->is_due = false;
        start->timer = sd_event_source_disable_unref(start->timer);
        start_go(start); /* it may have nothing left to hear */
}

static int at_time(sd_event_source *timer, uint64_t time_us, void *context)
{
        start *start = context;

        (void)timer, (void)time_us;
        start->timer = sd_event_source_disable_unref(start->timer);
        start_go(start);
        return 0;
}

static void wait_for_time(start *start)
{
        int r = sd_event_add_time(start->frame.event, &start->timer, CLOCK_MONOTONIC,
                                  start->next_us, 1000, at_time, start);

        if (r < 0)
                say("cannot wait to start %s: %s", start->frame.unit, strerror(-r));
}

/* --- The note -------------------------------------------------------------------------------- */

/* A name that has lost its slot is forgotten: in another slot, its count starts again. */
static bool refresh(const char *name, dn__table_count *count, void *context)
{
        (void)context;
        return dn__table_read_count(name, count) != 0;
}

/* Notes that the start covers everything posted until now. */
static int write_open_note(start *start)
{
        note *note = start->frame.note;
        dn__table_count now;
        int r = 0;

        start->frame.counted(start->frame.context);
        if (dn__table_read_count(start->cause, &now) > 0)
                r = note_set(note, start->cause, &now);
        note_each(note, refresh, NULL);
        free(note->cause);
        note->cause = start->cause;
        start->cause = NULL;
        note->started_us = read_clock_us(CLOCK_REALTIME);
        note->is_open = true;
        note->may_have_missed = start->may_have_missed;
        return r < 0 ? r : note_write(note, start->frame.unit);
}

static void close_note(start *start)
{
        start->frame.note->is_open = false;
        start->frame.note->may_have_missed = false;
        (void)note_write(start->frame.note, start->frame.unit);
}

/* --- Starting -------------------------------------------------------------------------------- */

static uint64_t read_state(const char *name)
{
        uint64_t state = 0;
        int token;

        if (notify_register_check(name, &token) != NOTIFY_STATUS_OK)
                return 0;
        (void)notify_get_state(token, &state);
        (void)notify_cancel(token);
        return state;
}

static int write_environment(const start *start)
{
        const note *note = start->frame.note;
        const dn__table_count *count = note_find(note, note->cause);
        environment environment = {
                .name = note->cause,
                .generation = count ? count->generation : 0,
                .state = count ? read_state(note->cause) : 0,
                .may_have_missed = note->may_have_missed,
        };

        return environment_write(start->frame.unit, &environment);
}

static void count_in_a_row(start *start)
{
        start->n_in_a_row = start->is_again ? start->n_in_a_row + 1 : 1;
        start->is_again = false;
        if (start->n_in_a_row == MANY_IN_A_ROW)
                say("%s was started %d times in a row, for posts while it ran: it may post %s"
                    " itself",
                    start->frame.unit, MANY_IN_A_ROW, start->frame.note->cause);
}

/* The note stays open. */
static void try_later(start *start)
{
        be_due(start, start->frame.note->cause, start->frame.note->may_have_missed);
        start->next_us = read_clock_us(CLOCK_MONOTONIC) + PAUSE_US;
        start_go(start);
}

static int on_started(sd_bus_message *reply, void *context, sd_bus_error *ret_error)
{
        start *start = context;
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        const char *job;

        (void)ret_error;
        start->call = sd_bus_slot_unref(start->call);
        if (error && manager_is_answer(error)) {
                say("%s is not started for %s: %s", start->frame.unit, start->frame.note->cause,
                    error->message);
                close_note(start);
                start_go(start);
                return 0;
        }
        if (!error && sd_bus_message_read(reply, "o", &job) >= 0)
                start->job = strdup(job);
        if (!start->job)
                try_later(start);
        return 0;
}

static void begin(start *start)
{
        int r = write_open_note(start);

        if (r < 0)
                say("cannot write the note of %s: %s", start->frame.unit, strerror(-r));
        r = write_environment(start);
        if (r < 0)
                say("cannot write the environment of %s: %s", start->frame.unit, strerror(-r));
        count_in_a_row(start);
        start->is_due = false;
        start->may_have_missed = false;
        start->next_us = read_clock_us(CLOCK_MONOTONIC) + PAUSE_US;
        r = manager_start(start->frame.manager, start->frame.unit, &start->call, on_started,
                          start);
        if (r < 0)
                try_later(start);
}

/* --- The manager ----------------------------------------------------------------------------- */

static int on_job_removed(sd_bus_message *message, void *context, sd_bus_error *error)
{
        start *start = context;
        const char *job;

        (void)error;
        if (!start->job || sd_bus_message_read(message, "uo", NULL, &job) < 0 ||
            strcmp(start->job, job) != 0)
                return 0;
        free(start->job);
        start->job = NULL;
        close_note(start);
        start_go(start);
        return 0;
}

static int on_state_changed(sd_bus_message *message, void *context, sd_bus_error *error)
{
        (void)message, (void)error;
        start_go(context);
        return 0;
}

/* A manager that does not know the unit says so again when it is asked to start it. */
static bool is_running(sd_bus_message *reply)
{
        const char *state = "inactive";

        if (!sd_bus_message_is_method_error(reply, NULL))
                (void)sd_bus_message_read(reply, "v", "s", &state);
        return strcmp(state, "inactive") != 0 && strcmp(state, "failed") != 0;
}

static int on_state(sd_bus_message *reply, void *context, sd_bus_error *error)
{
        start *start = context;

        (void)error;
        start->call = sd_bus_slot_unref(start->call);
        if (!start->is_due)
                start_go(start);
        else if (is_running(reply))
                start->is_again = true; /* a signal reports its end */
        else if (read_clock_us(CLOCK_MONOTONIC) < start->next_us)
                wait_for_time(start);
        else
                begin(start);
        return 0;
}

static void stop_hearing(start *start)
{
        for (size_t i = 0; i < 2; i++)
                start->rules[i] = sd_bus_slot_unref(start->rules[i]);
}

/* Listens only while there is something to hear, so that other units do not wake the agent. */
static int hear(start *start)
{
        int r;

        if (start->rules[1])
                return 0;
        stop_hearing(start);
        r = manager_hear_jobs(start->frame.manager, &start->rules[0], on_job_removed, start);
        return r < 0 ? r
                     : manager_hear_state(start->frame.manager, start->path, &start->rules[1],
                                          on_state_changed, start);
}

void start_go(start *start)
{
        int r;

        if (start->call || start->job || start->timer)
                return;
        if (!start->is_due) {
                stop_hearing(start);
                return;
        }
        if (!start->frame.manager->is_there)
                return;
        r = hear(start);
        if (r >= 0)
                r = manager_ask_state(start->frame.manager, start->path, &start->call, on_state,
                                      start);
        if (r >= 0)
                return;
        start->next_us = read_clock_us(CLOCK_MONOTONIC) + PAUSE_US;
        wait_for_time(start);
}

/* A start in progress may not have begun, so it is repeated without a pause. */
void start_lose_manager(start *start)
{
        start->call = sd_bus_slot_unref(start->call);
        free(start->job);
        start->job = NULL;
        stop_hearing(start);
        if (!start->frame.note->is_open)
                return;
        be_due(start, start->frame.note->cause, start->frame.note->may_have_missed);
        start->next_us = 0;
        start->timer = sd_event_source_disable_unref(start->timer);
}

void start_deinit(start *start)
{
        start_cancel(start);
        start->call = sd_bus_slot_unref(start->call);
        stop_hearing(start);
        free(start->job);
        free(start->cause);
        free(start->path);
}
