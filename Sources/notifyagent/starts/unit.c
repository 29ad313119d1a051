/* One unit that is started when a name is posted.
 *
 * The note is written before the manager is asked, and closed when the job has ended. So a kill
 * between two steps repeats a start, and loses none. */
#include "starts/unit.h"

#include <darwinnotify/inspect.h>
#include <errno.h>
#include <notify.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "center/own-table.h"
#include "say.h"
#include "starts/environment.h"

/* As launchd's ThrottleInterval. */
#define PAUSE_US (10 * UINT64_C(1000000))

/* Starts in a row, each for a post during the run before, after which a line says so. */
#define MANY_IN_A_ROW 5

static uint64_t read_clock_us(clockid_t clock)
{
        struct timespec now;

        (void)clock_gettime(clock, &now);
        return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

unit *unit_new(agent *agent, const char *name)
{
        unit *unit = calloc(1, sizeof(*unit));

        if (!unit)
                return NULL;
        unit->agent = agent;
        unit->name = strdup(name);
        if (!unit->name || sd_bus_path_encode(UNIT_MANAGER_PATH "/unit", name, &unit->path) < 0)
                return unit_free(unit);
        return unit;
}

/* --- Counts ---------------------------------------------------------------------------------- */

/* A name without a slot cannot be compared. */
static count read_count(const char *name)
{
        dn__table_count found;

        if (dn__table_read_count(name, &found) < 0)
                return (count){ 0 };
        return (count){ found.region_id, found.named, found.generation };
}

static void be_due(unit *unit, const char *name, bool may_have_missed)
{
        char *cause = strdup(name);

        if (!cause)
                return;
        free(unit->cause);
        unit->cause = cause;
        unit->is_due = true;
        unit->may_have_missed |= may_have_missed;
}

static bool is_comparable(const count *a, const count *b)
{
        return a->region == b->region && a->named == b->named;
}

/* Compares the count of a name with the note. A name that is not in it begins now. */
static void compare(unit *unit, const char *name, bool is_new_posted)
{
        const count *noted = note_find(&unit->note, name);
        count now = read_count(name);

        if (!noted) {
                if (is_new_posted && now.generation > now.named)
                        be_due(unit, name, false);
                else
                        (void)note_set(&unit->note, name, &now);
        } else if (!now.region) {
                return;
        } else if (!is_comparable(noted, &now)) {
                be_due(unit, name, true);
        } else if (noted->generation != now.generation) {
                be_due(unit, name, false);
        }
}

/* What programs have registered under a prefix, while no agent ran, too. */
static int compare_listed(const dn_name_record *record, void *context)
{
        unit *unit = context;

        for (size_t i = 0; i < unit->section.n_matches; i++) {
                const char *match = unit->section.matches[i];

                if (!section_is_prefix(match) || !section_fits(match, record->name))
                        continue;
                compare(unit, record->name, unit->note.exists);
                break;
        }
        return 0;
}

void unit_compare(unit *unit)
{
        bool has_prefix = false;

        for (size_t i = 0; i < unit->section.n_matches; i++) {
                if (section_is_prefix(unit->section.matches[i]))
                        has_prefix = true;
                else
                        compare(unit, unit->section.matches[i], false);
        }
        if (has_prefix)
                (void)dn_list_names(NULL, compare_listed, unit);
        if (!unit->note.exists && note_write(&unit->note, unit->name) == 0)
                unit->note.exists = true;
        unit_go(unit);
}

/* --- Listening ------------------------------------------------------------------------------- */

static void heard(const dn_event *event, void *context)
{
        unit *unit = context;
        count now = read_count(event->name);
        const count *noted = note_find(&unit->note, event->name);
        bool is_other = noted && now.region && !is_comparable(noted, &now);

        /* The first event after a registration may be of posts that were compared. */
        if (noted && now.region && !is_other && noted->generation == now.generation)
                return;
        be_due(unit, event->name, is_other);
        unit->is_again |= unit->job || unit->call;
        unit_go(unit);
}

static int observe(unit *unit, const char *match)
{
        dn_handler handler = { .invoke = heard, .context = unit };
        const dn_executor *executor = dn_loop_executor(unit->agent->loop);
        dn_observer **ret = &unit->observers[unit->n_observers];
        int r = section_is_prefix(match)
                        ? dn_center_observe_prefix(dn_center_darwin(), match, &handler, executor,
                                                   ret)
                        : dn_center_observe(dn_center_darwin(), match, &handler, executor, ret);

        if (r >= 0)
                unit->n_observers++;
        return r;
}

void unit_listen(unit *unit)
{
        unit->observers = calloc(unit->section.n_matches, sizeof(*unit->observers));
        for (size_t i = 0; unit->observers && i < unit->section.n_matches; i++) {
                int r = observe(unit, unit->section.matches[i]);

                if (r < 0)
                        say("%s: cannot listen for %s: %s", unit->name, unit->section.matches[i],
                            strerror(-r));
        }
        if (unit->note.is_open && !unit->call && !unit->job)
                be_due(unit, unit->note.cause ? unit->note.cause : "", unit->may_have_missed);
        unit_compare(unit);
}

void unit_ignore(unit *unit)
{
        for (size_t i = 0; i < unit->n_observers; i++) {
                dn_observer_cancel(unit->observers[i]);
                (void)dn_observer_unref(unit->observers[i]);
        }
        free(unit->observers);
        unit->observers = NULL;
        unit->n_observers = 0;
        unit->is_due = false;
        unit->timer = sd_event_source_disable_unref(unit->timer);
}

/* --- Starting -------------------------------------------------------------------------------- */

static uint64_t read_state(const char *name)
{
        uint64_t state = 0;
        int token;

        if (!read_count(name).region || notify_register_check(name, &token) != NOTIFY_STATUS_OK)
                return 0;
        (void)notify_get_state(token, &state);
        (void)notify_cancel(token);
        return state;
}

/* Counts as started for everything that was posted until now. */
static int write_open_note(unit *unit)
{
        count now = read_count(unit->cause);
        int r = note_set(&unit->note, unit->cause, &now);

        for (size_t i = 0; r == 0 && i < unit->note.n_names; i++) {
                now = read_count(unit->note.names[i].name);
                if (now.region)
                        unit->note.names[i].count = now;
        }
        free(unit->note.cause);
        unit->note.cause = strdup(unit->cause);
        unit->note.started_us = read_clock_us(CLOCK_REALTIME);
        unit->note.is_open = true;
        return r < 0 ? r : note_write(&unit->note, unit->name);
}

static void close_note(unit *unit)
{
        unit->note.is_open = false;
        (void)note_write(&unit->note, unit->name);
}

static void count_in_a_row(unit *unit)
{
        unit->n_in_a_row = unit->is_again ? unit->n_in_a_row + 1 : 1;
        unit->is_again = false;
        if (unit->n_in_a_row == MANY_IN_A_ROW)
                say("%s was started %d times in a row, for posts while it ran: it may post %s"
                    " itself", unit->name, MANY_IN_A_ROW, unit->cause);
}

/* Without an answer of the manager, only another try shows whether it can be asked. */
static bool is_answer(const sd_bus_error *error)
{
        return strncmp(error->name, UNIT_MANAGER ".", sizeof(UNIT_MANAGER)) == 0 &&
               !sd_bus_error_has_name(error, UNIT_MANAGER ".ShuttingDown");
}

static void try_again(unit *unit, const char *cause)
{
        be_due(unit, cause, false);
        unit->next_us = read_clock_us(CLOCK_MONOTONIC) + PAUSE_US;
        unit_go(unit);
}

static int on_started(sd_bus_message *reply, void *context, sd_bus_error *ret_error)
{
        unit *unit = context;
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        const char *job;

        (void)ret_error;
        unit->call = sd_bus_slot_unref(unit->call);
        if (error && !is_answer(error)) {
                try_again(unit, unit->note.cause); /* the note stays open */
                return 0;
        }
        if (error) {
                say("%s is not started for %s: %s", unit->name, unit->note.cause, error->message);
                close_note(unit);
                return 0;
        }
        if (sd_bus_message_read(reply, "o", &job) >= 0)
                unit->job = strdup(job);
        return 0;
}

static void start(unit *unit)
{
        count now;
        int r = write_open_note(unit);

        if (r < 0)
                say("cannot write the note of %s: %s", unit->name, strerror(-r));
        now = read_count(unit->cause);
        r = environment_write(unit->name, unit->cause, now.generation, read_state(unit->cause),
                              unit->may_have_missed);
        if (r < 0)
                say("cannot write the environment of %s: %s", unit->name, strerror(-r));
        count_in_a_row(unit);
        unit->is_due = false;
        unit->may_have_missed = false;
        unit->next_us = read_clock_us(CLOCK_MONOTONIC) + PAUSE_US;
        (void)sd_bus_call_method_async(unit->agent->session_bus.connection, &unit->call,
                                       UNIT_MANAGER, UNIT_MANAGER_PATH, UNIT_MANAGER_INTERFACE,
                                       "StartUnit", on_started, unit, "ss", unit->name, "replace");
}

/* --- When ------------------------------------------------------------------------------------ */

static int on_state(sd_bus_message *reply, void *context, sd_bus_error *error)
{
        unit *unit = context;
        const char *state;

        (void)error;
        unit->call = sd_bus_slot_unref(unit->call);
        if (sd_bus_message_is_method_error(reply, NULL) ||
            sd_bus_message_read(reply, "v", "s", &state) < 0)
                state = "inactive"; /* the manager says so when it is asked to start it */
        if (strcmp(state, "inactive") == 0 || strcmp(state, "failed") == 0)
                start(unit);
        else
                unit->is_again = true; /* its end is a signal */
        return 0;
}

static int at_time(sd_event_source *timer, uint64_t time_us, void *context)
{
        unit *unit = context;

        (void)timer, (void)time_us;
        unit->timer = sd_event_source_disable_unref(unit->timer);
        unit_go(unit);
        return 0;
}

void unit_go(unit *unit)
{
        sd_bus *connection = unit->agent->session_bus.connection;

        if (!unit->is_due || unit->call || unit->job || unit->timer || !connection)
                return;
        if (read_clock_us(CLOCK_MONOTONIC) < unit->next_us) {
                (void)sd_event_add_time(unit->agent->event, &unit->timer, CLOCK_MONOTONIC,
                                        unit->next_us, 1000, at_time, unit);
                return;
        }
        (void)sd_bus_call_method_async(connection, &unit->call, UNIT_MANAGER, unit->path,
                                       "org.freedesktop.DBus.Properties", "Get", on_state, unit,
                                       "ss", UNIT_MANAGER ".Unit", "ActiveState");
}

void unit_job_ended(unit *unit, const char *job)
{
        if (!unit->job || strcmp(unit->job, job) != 0)
                return;
        free(unit->job);
        unit->job = NULL;
        close_note(unit);
        unit_go(unit);
}

void unit_lose_manager(unit *unit)
{
        unit->call = sd_bus_slot_unref(unit->call);
        free(unit->job);
        unit->job = NULL;
        if (!unit->note.is_open)
                return;
        be_due(unit, unit->note.cause ? unit->note.cause : "", false);
        unit->next_us = 0; /* what is repeated needs no pause */
        unit->timer = sd_event_source_disable_unref(unit->timer);
}

unit *unit_free(unit *unit)
{
        if (!unit)
                return NULL;
        unit_ignore(unit);
        unit->call = sd_bus_slot_unref(unit->call);
        section_deinit(&unit->section);
        note_deinit(&unit->note);
        free(unit->job);
        free(unit->cause);
        free(unit->path);
        free(unit->name);
        free(unit);
        return NULL;
}
