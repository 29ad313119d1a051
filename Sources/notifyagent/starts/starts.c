/* The units that are started when a name is posted.
 *
 * Their files are reread whenever the manager has reread them. */
#include "starts/starts.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "say.h"
#include "starts/drop-ins.h"
#include "starts/files.h"
#include "starts/manager.h"
#include "starts/unit.h"

/* How long to wait if the folders of units cannot be read. */
#define PAUSE_US (10 * UINT64_C(1000000))

struct starts {
        agent *agent;
        manager manager;
        unit *units;            /* sorted by name */
        sd_event_source *pause; /* before the folders are read again; NULL: they could be read */
};

/* --- Reading --------------------------------------------------------------------------------- */

typedef struct reading {
        starts *starts;
        unit **at; /* units before this sort before the remaining files */
} reading;

/* Returns NULL if the unit is not known. */
static unit *find_unit(reading *reading, const char *name)
{
        while (*reading->at && strcmp((*reading->at)->name, name) < 0)
                reading->at = &(*reading->at)->next;
        return *reading->at && strcmp((*reading->at)->name, name) == 0 ? *reading->at : NULL;
}

static unit *insert_unit(reading *reading, const char *name)
{
        unit *unit = unit_new(reading->starts->agent, &reading->starts->manager, name);

        if (!unit)
                return NULL;
        unit->next = *reading->at;
        *reading->at = unit;
        return unit;
}

static void read_drop_in(const char *path, void *context)
{
        (void)section_read(context, path);
}

/* If a mask has replaced the only file of a unit, the unit keeps what is known of it. */
static void read_unit(const file *file, void *context)
{
        reading *reading = context;
        unit *unit = find_unit(reading, file->name);
        section section = { 0 };

        (void)section_read(&section, file->path);
        drop_ins_each(reading->starts->manager.folders, file->name, read_drop_in, &section);
        if (!unit && section.is_found)
                unit = insert_unit(reading, file->name);
        if (unit && (section.is_found || file->is_masked)) {
                unit->is_stale = false;
                unit_take(unit, file, section.is_found ? &section : NULL);
        }
        if (!unit || !section.is_found)
                section_deinit(&section);
}

static void free_stale(starts *starts)
{
        for (unit **at = &starts->units, *unit; (unit = *at);) {
                if (!unit->is_stale) {
                        at = &unit->next;
                        continue;
                }
                *at = unit->next;
                (void)unit_free(unit);
        }
}

/* --- The manager ----------------------------------------------------------------------------- */

static void manager_changed(void *context);

static int at_end_of_pause(sd_event_source *timer, uint64_t time_us, void *context)
{
        (void)timer, (void)time_us;
        manager_changed(context);
        return 0;
}

static void read_later(starts *starts, int error)
{
        if (!starts->pause)
                say("cannot read the units, will retry: %s", strerror(-error));
        starts->pause = sd_event_source_disable_unref(starts->pause);
        (void)sd_event_add_time_relative(starts->agent->event, &starts->pause, CLOCK_MONOTONIC,
                                         PAUSE_US, 1000, at_end_of_pause, starts);
}

/* If the folders cannot be read, the units stay as they are. */
static void manager_changed(void *context)
{
        starts *starts = context;
        reading reading = { starts, &starts->units };
        int r;

        for (unit *unit = starts->units; unit; unit = unit->next)
                unit->is_stale = true;
        r = files_each(starts->manager.folders, read_unit, &reading);
        if (r < 0) {
                read_later(starts, r);
        } else {
                starts->pause = sd_event_source_disable_unref(starts->pause);
                free_stale(starts);
        }
        for (unit *unit = starts->units; unit; unit = unit->next)
                start_go(&unit->start);
}

static void manager_lost(void *context)
{
        starts *starts = context;

        for (unit *unit = starts->units; unit; unit = unit->next)
                unit_lose_manager(unit);
}

/* --- All together ---------------------------------------------------------------------------- */

starts *starts_new(agent *agent)
{
        starts *starts = calloc(1, sizeof(*starts));

        if (!starts)
                return NULL;
        starts->agent = agent;
        starts->manager.changed = manager_changed;
        starts->manager.lost = manager_lost;
        starts->manager.context = starts;
        manager_init(&starts->manager, &agent->session_bus, agent_posts(agent));
        return starts;
}

void starts_renew(starts *starts)
{
        for (unit *unit = starts->units; unit; unit = unit->next)
                unit_compare(unit);
}

bool starts_is_settled(const starts *starts)
{
        return starts->manager.is_settled;
}

bool starts_has_manager(const starts *starts)
{
        return starts->manager.is_there;
}

void starts_each(const starts *starts, void (*each)(const unit_report *report, void *context),
                 void *context)
{
        for (unit *unit = starts->units; unit; unit = unit->next) {
                unit_report report = { unit->name, &unit->section, unit->fault, &unit->note };

                each(&report, context);
        }
}

starts *starts_free(starts *starts)
{
        if (!starts)
                return NULL;
        for (unit *unit; (unit = starts->units);) {
                starts->units = unit->next;
                (void)unit_free(unit);
        }
        starts->pause = sd_event_source_disable_unref(starts->pause);
        manager_deinit(&starts->manager);
        free(starts);
        return NULL;
}
