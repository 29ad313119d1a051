/* One unit that is started when a name is posted. */
#include "starts/unit.h"

#include <darwinnotify/inspect.h>
#include <notify.h>
#include <stdlib.h>
#include <string.h>

#include "name.h"
#include "say.h"

static void be_counted(void *context);

unit *unit_new(agent *agent, manager *manager, const char *name)
{
        unit *unit = calloc(1, sizeof(*unit));
        start_frame frame = { agent->event, manager, NULL, NULL, be_counted, unit };

        if (!unit)
                return NULL;
        unit->agent = agent;
        unit->name = strdup(name);
        frame.unit = unit->name;
        frame.note = &unit->note;
        if (!unit->name || start_init(&unit->start, &frame) < 0)
                return unit_free(unit);
        note_read(&unit->note, name);
        return unit;
}

/* --- Counts ---------------------------------------------------------------------------------- */

/* Compares the count of a name with the note. A name that is not in the note starts at its current
 * count. */
static void compare(unit *unit, const char *name, bool is_new_posted)
{
        const dn__table_count *noted = note_find(&unit->note, name);
        dn__table_count now = { 0 };

        (void)dn__table_read_count(name, &now);
        if (!noted) {
                if (is_new_posted && now.generation > now.named)
                        start_for(&unit->start, name, false);
                else
                        (void)note_set(&unit->note, name, &now);
        } else if (now.region) {
                bool is_other = !dn__table_is_comparable(noted, &now);

                if (is_other || noted->generation != now.generation)
                        start_for(&unit->start, name, is_other);
        }
}

/* Also finds names under a prefix that programs have registered while no agent was running. */
static int compare_listed(const dn_name_record *record, void *context)
{
        unit *unit = context;
        const char *match = section_find(&unit->section, record->name);

        if (match && section_is_prefix(match))
                compare(unit, record->name, unit->note.exists);
        return 0;
}

void unit_compare(unit *unit)
{
        bool has_prefix = false;

        if (unit->fault)
                return;
        for (size_t i = 0; i < unit->section.n_matches; i++) {
                if (section_is_prefix(unit->section.matches[i]))
                        has_prefix = true;
                else
                        compare(unit, unit->section.matches[i], false);
        }
        if (has_prefix)
                (void)dn_list_names(NULL, compare_listed, unit);
        if (!unit->note.exists)
                (void)note_write(&unit->note, unit->name);
        start_go(&unit->start);
}

/* --- Listening ------------------------------------------------------------------------------- */

/* Returns whether a name was posted since the last call. This includes posts on the bus, which the
 * table does not count. */
static bool check(const listener *listener)
{
        int is_posted = true;

        if (listener->token != NAME_NOT_HELD)
                (void)notify_check(listener->token, &is_posted);
        return is_posted;
}

static void be_counted(void *context)
{
        const unit *unit = context;

        for (size_t i = 0; i < unit->n_listeners; i++)
                (void)check(&unit->listeners[i]);
}

/* An event may come late, for posts that have already been counted. */
static void heard(const dn_event *event, void *context)
{
        const listener *listener = context;
        unit *unit = listener->unit;
        const dn__table_count *noted = note_find(&unit->note, event->name);
        dn__table_count now;
        bool is_other = noted && dn__table_read_count(event->name, &now) > 0 &&
                        !dn__table_is_comparable(noted, &now);

        if (section_find(&unit->section, event->name) == listener->match && check(listener))
                start_for(&unit->start, event->name, is_other);
}

static int observe(listener *listener)
{
        const char *match = listener->match;
        dn_handler handler = { .invoke = heard, .context = listener };
        const dn_executor *executor = dn_loop_executor(listener->unit->agent->loop);
        int r;

        if (section_is_prefix(match))
                return dn_center_observe_prefix(dn_center_darwin(), match, &handler, executor,
                                                &listener->observer);
        r = name_hold(match, &listener->token);
        return r < 0 ? r
                     : dn_center_observe(dn_center_darwin(), match, &handler, executor,
                                         &listener->observer);
}

static void observe_matches(unit *unit)
{
        unit->listeners = calloc(unit->section.n_matches, sizeof(*unit->listeners));
        for (size_t i = 0; unit->listeners && i < unit->section.n_matches; i++) {
                listener *listener = &unit->listeners[unit->n_listeners++];
                int r;

                *listener = (struct listener){ .unit = unit,
                                               .match = unit->section.matches[i],
                                               .token = NAME_NOT_HELD };
                r = observe(listener);
                if (r < 0)
                        say("%s: cannot listen for %s: %s", unit->name, listener->match,
                            strerror(-r));
        }
        be_counted(unit);
        start_repeat(&unit->start);
        unit_compare(unit);
}

static void ignore(unit *unit)
{
        for (size_t i = 0; i < unit->n_listeners; i++) {
                listener *listener = &unit->listeners[i];

                if (listener->observer)
                        dn_observer_cancel(listener->observer);
                (void)dn_observer_unref(listener->observer);
                name_release(listener->token);
        }
        free(unit->listeners);
        unit->listeners = NULL;
        unit->n_listeners = 0;
        start_cancel(&unit->start);
}

/* --- Its files ------------------------------------------------------------------------------- */

static const char *find_obstacle(const file *file, const section *section)
{
        if (strstr(file->name, "@."))
                return "it is a template";
        if (file->is_masked)
                return "it is masked";
        if (section->is_installable && !file->is_enabled)
                return "it is disabled";
        if (section->n_matches > 0) /* valid names count, whatever else is wrong */
                return NULL;
        return section->problem[0] ? section->problem : "Matching= is missing";
}

/* If the matches have not changed, the listeners keep borrowing them. */
static void take_section(unit *unit, section *section)
{
        char **matches = section->matches;

        if (section->problem[0] && agent_posts(unit->agent) &&
            strcmp(section->problem, unit->section.problem) != 0)
                say("%s: %s", unit->name, section->problem);
        if (section_is_same(&unit->section, section)) {
                section->matches = unit->section.matches;
                unit->section.matches = matches;
        } else {
                ignore(unit);
        }
        section_deinit(&unit->section);
        unit->section = *section;
}

void unit_take(unit *unit, const file *file, section *section)
{
        if (section)
                take_section(unit, section);
        unit->fault = find_obstacle(file, &unit->section);
        if (unit->fault)
                ignore(unit);
        else if (unit->n_listeners == 0 && agent_posts(unit->agent))
                observe_matches(unit);
}

void unit_lose_manager(unit *unit)
{
        start_lose_manager(&unit->start);
        if (unit->fault)
                start_cancel(&unit->start);
}

unit *unit_free(unit *unit)
{
        if (!unit)
                return NULL;
        ignore(unit);
        start_deinit(&unit->start);
        section_deinit(&unit->section);
        note_deinit(&unit->note);
        free(unit->name);
        free(unit);
        return NULL;
}
