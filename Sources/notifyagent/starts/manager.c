/* The units of the user's manager, as far as they have the section.
 *
 * The files are read whenever the manager has read them anew. The manager is asked only
 * for units with drop-ins: it has to load each unit that it is asked for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"
#include "starts/files.h"
#include "starts/starts.h"
#include "starts/unit.h"

#define N_RULES 5
#define PROPERTIES "org.freedesktop.DBus.Properties"

struct starts {
        bus_user user; /* the first field */
        agent *agent;
        sd_bus_slot *slots[N_RULES];
        sd_bus_slot *call; /* for the folders */
        bool is_stale;     /* the files are to be read again */
        bool is_settled;
        bool has_manager;
        char **folders; /* of units; NULL-terminated */
        size_t n_open;  /* units whose files are still asked for */
        unit *units;
};

/* Its files, as they are asked for. */
typedef struct question {
        starts *starts;
        unit *unit;
        char *fragment;
} question;

static void load(starts *starts);

/* --- Units ----------------------------------------------------------------------------------- */

static unit *find_unit(const starts *starts, const char *name)
{
        for (unit *unit = starts->units; unit; unit = unit->next)
                if (strcmp(unit->name, name) == 0)
                        return unit;
        return NULL;
}

static bool is_same(const section *a, const section *b)
{
        if (a->n_matches != b->n_matches)
                return false;
        for (size_t i = 0; i < a->n_matches; i++)
                if (strcmp(a->matches[i], b->matches[i]) != 0)
                        return false;
        return true;
}

/* Takes a section that was read, and listens if the unit counts. */
static void adopt(unit *unit, section *section)
{
        bool is_listening = unit->n_observers > 0;
        bool is_kept = is_listening && !unit->fault[0] && is_same(&unit->section, section);

        /* What is right in a section counts, whatever else is wrong. */
        if (!unit->fault[0] && section->n_matches == 0)
                (void)snprintf(unit->fault, sizeof(unit->fault), "%s",
                               section->problem[0] ? section->problem : "Matching= is missing");
        if (is_kept) {
                (void)strcpy(unit->section.problem, section->problem);
                section_deinit(section);
                return;
        }
        if (is_listening)
                unit_ignore(unit);
        section_deinit(&unit->section);
        unit->section = *section;
        *section = (struct section){ 0 };
        if (!unit->note.exists)
                note_read(&unit->note, unit->name);
        if (unit->section.problem[0] && agent_posts(unit->agent))
                say("%s: %s", unit->name, unit->section.problem);
        if (!unit->fault[0] && agent_posts(unit->agent))
                unit_listen(unit);
}

/* --- What the manager says of a unit --------------------------------------------------------- */

static void settle_one(starts *starts)
{
        if (--starts->n_open > 0)
                return;
        for (unit **at = &starts->units, *unit; (unit = *at);) {
                if (!unit->is_stale) {
                        at = &unit->next;
                        continue;
                }
                *at = unit->next;
                (void)unit_free(unit);
        }
        starts->is_settled = true;
        if (starts->is_stale)
                load(starts);
}

static void end_question(question *question)
{
        settle_one(question->starts);
        free(question->fragment);
        free(question);
}

static void read_section(question *question, char **drop_ins)
{
        unit *unit = question->unit;
        section section = { 0 };

        if (*question->fragment)
                (void)section_read(&section, question->fragment);
        for (char **at = drop_ins; at && *at; at++)
                (void)section_read(&section, *at);
        unit->is_stale = !section.is_found;
        if (!unit->fault[0] && section.is_installable && !unit->is_enabled)
                (void)snprintf(unit->fault, sizeof(unit->fault), "it is disabled");
        if (unit->fault[0] && unit->n_observers > 0)
                unit_ignore(unit);
        if (section.is_found)
                adopt(unit, &section);
        section_deinit(&section);
}

static int on_drop_ins(sd_bus_message *reply, void *context, sd_bus_error *error)
{
        question *question = context;
        char **drop_ins = NULL;

        (void)error;
        if (!sd_bus_message_is_method_error(reply, NULL) &&
            sd_bus_message_enter_container(reply, 'v', "as") >= 0 &&
            sd_bus_message_read_strv(reply, &drop_ins) >= 0)
                read_section(question, drop_ins);
        for (char **at = drop_ins; at && *at; at++)
                free(*at);
        free(drop_ins);
        end_question(question);
        return 0;
}

static int get(question *question, const char *property, sd_bus_message_handler_t handler)
{
        return sd_bus_call_method_async(question->starts->agent->session_bus.connection, NULL,
                                        UNIT_MANAGER, question->unit->path, PROPERTIES, "Get",
                                        handler, question, "ss", UNIT_MANAGER ".Unit", property);
}

static int on_fragment(sd_bus_message *reply, void *context, sd_bus_error *error)
{
        question *question = context;
        const char *path = "";

        (void)error;
        if (sd_bus_message_is_method_error(reply, NULL))
                question->unit->is_stale = !question->unit->section.is_found; /* as before */
        else
                (void)sd_bus_message_read(reply, "v", "s", &path);
        question->fragment = *path ? strdup(path) : NULL;
        if (!question->fragment || get(question, "DropInPaths", on_drop_ins) < 0)
                end_question(question);
        return 0;
}

/* --- The list -------------------------------------------------------------------------------- */

/* The manager knows the order of drop-ins. It has no unit of a template. */
static void read_or_ask(starts *starts, unit *unit, const char *path)
{
        question *question = calloc(1, sizeof(*question));

        if (!question)
                return;
        *question = (struct question){ starts, unit, NULL };
        starts->n_open++;
        if (files_have_drop_ins(starts->folders, unit->name) && !strstr(unit->name, "@.")) {
                if (get(question, "FragmentPath", on_fragment) < 0)
                        end_question(question);
                return;
        }
        question->fragment = strdup(path);
        if (question->fragment)
                read_section(question, NULL);
        end_question(question);
}

static unit *add_unit(starts *starts, const char *name)
{
        unit *unit = unit_new(starts->agent, name);

        if (!unit)
                return NULL;
        unit->is_stale = true;
        unit->next = starts->units;
        starts->units = unit;
        return unit;
}

static void consider(const file *file, void *context)
{
        starts *starts = context;
        unit *unit = find_unit(starts, file->name);
        const char *fault = "";

        if (!unit && !files_have_section(file->path) &&
            !files_have_drop_ins(starts->folders, file->name))
                return;
        if (!unit && !(unit = add_unit(starts, file->name)))
                return;
        if (strstr(file->name, "@."))
                fault = "it is a template";
        else if (file->is_masked)
                fault = "it is masked";
        (void)snprintf(unit->fault, sizeof(unit->fault), "%s", fault);
        unit->is_enabled = file->is_enabled;
        if (file->is_masked && unit->section.is_found) {
                unit->is_stale = false; /* its files may not be those that counted */
                unit_ignore(unit);
                return;
        }
        read_or_ask(starts, unit, file->path);
}

static void read_files(starts *starts)
{
        starts->n_open++; /* until all are read */
        for (unit *unit = starts->units; unit; unit = unit->next)
                unit->is_stale = true;
        files_each(starts->folders, consider, starts);
        settle_one(starts);
}

static void free_folders(starts *starts)
{
        for (char **folder = starts->folders; folder && *folder; folder++)
                free(*folder);
        free(starts->folders);
        starts->folders = NULL;
}

static int on_folders(sd_bus_message *reply, void *context, sd_bus_error *error)
{
        starts *starts = context;

        (void)error;
        starts->call = sd_bus_slot_unref(starts->call);
        if (sd_bus_message_is_method_error(reply, NULL)) {
                starts->has_manager = false;
                starts->is_settled = true;
                return 0;
        }
        free_folders(starts);
        if (sd_bus_message_enter_container(reply, 'v', "as") >= 0)
                (void)sd_bus_message_read_strv(reply, &starts->folders);
        starts->has_manager = true;
        read_files(starts);
        return 0;
}

static void load(starts *starts)
{
        starts->is_stale = starts->call || starts->n_open > 0;
        if (starts->is_stale || !starts->agent->session_bus.connection)
                return;
        if (sd_bus_call_method_async(starts->agent->session_bus.connection, &starts->call,
                                     UNIT_MANAGER, UNIT_MANAGER_PATH, PROPERTIES, "Get",
                                     on_folders, starts, "ss", UNIT_MANAGER_INTERFACE,
                                     "UnitPath") < 0)
                starts->is_settled = true;
}

/* --- Signals --------------------------------------------------------------------------------- */

static int on_reloading(sd_bus_message *message, void *context, sd_bus_error *error)
{
        int is_beginning;

        (void)error;
        if (sd_bus_message_read(message, "b", &is_beginning) >= 0 && !is_beginning)
                load(context);
        return 0;
}

static int on_files_changed(sd_bus_message *message, void *context, sd_bus_error *error)
{
        (void)message, (void)error;
        load(context);
        return 0;
}

static int on_job_removed(sd_bus_message *message, void *context, sd_bus_error *error)
{
        starts *starts = context;
        const char *job, *name;
        unit *unit;

        (void)error;
        if (sd_bus_message_read(message, "uos", NULL, &job, &name) < 0)
                return 0;
        unit = find_unit(starts, name);
        if (unit)
                unit_job_ended(unit, job);
        return 0;
}

static int on_unit_changed(sd_bus_message *message, void *context, sd_bus_error *error)
{
        starts *starts = context;
        const char *path = sd_bus_message_get_path(message);

        (void)error;
        for (unit *unit = starts->units; unit; unit = unit->next)
                if (unit->is_due && strcmp(unit->path, path) == 0)
                        unit_go(unit);
        return 0;
}

static int subscribe(starts *starts)
{
        sd_bus *connection = starts->agent->session_bus.connection;

        return sd_bus_call_method_async(connection, NULL, UNIT_MANAGER, UNIT_MANAGER_PATH,
                                        UNIT_MANAGER_INTERFACE, "Subscribe", NULL, NULL, NULL);
}

/* A manager that has just begun knows of no subscription. */
static int on_owner(sd_bus_message *message, void *context, sd_bus_error *error)
{
        starts *starts = context;
        const char *owner = "";

        (void)error;
        (void)sd_bus_message_read(message, "sss", NULL, NULL, &owner);
        for (unit *unit = starts->units; unit; unit = unit->next)
                unit_lose_manager(unit);
        starts->has_manager = *owner;
        if (!*owner)
                return 0;
        (void)subscribe(starts);
        load(starts);
        for (unit *unit = starts->units; unit; unit = unit->next)
                unit_go(unit);
        return 0;
}

static int ignore_reply(sd_bus_message *reply, void *context, sd_bus_error *error)
{
        (void)reply, (void)context, (void)error;
        return 0;
}

/* --- The bus --------------------------------------------------------------------------------- */

#define FROM_MANAGER                                                                               \
        "type='signal',sender='" UNIT_MANAGER "',path='" UNIT_MANAGER_PATH                         \
        "',interface='" UNIT_MANAGER_INTERFACE "',member="

static const struct rule {
        const char *text;
        sd_bus_message_handler_t handler;
} rules[N_RULES] = {
        { "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
          "member='NameOwnerChanged',arg0='" UNIT_MANAGER "'",
          on_owner },
        { FROM_MANAGER "'Reloading'", on_reloading },
        { FROM_MANAGER "'UnitFilesChanged'", on_files_changed },
        { FROM_MANAGER "'JobRemoved'", on_job_removed },
        { "type='signal',sender='" UNIT_MANAGER "',path_namespace='" UNIT_MANAGER_PATH
          "/unit',interface='" PROPERTIES "',member='PropertiesChanged',arg0='" UNIT_MANAGER
          ".Unit'",
          on_unit_changed },
};

static void drop_rules(starts *starts)
{
        for (size_t i = 0; i < N_RULES; i++)
                starts->slots[i] = sd_bus_slot_unref(starts->slots[i]);
        starts->call = sd_bus_slot_unref(starts->call);
}

static void bus_found(bus_user *user)
{
        starts *starts = (struct starts *)user;
        int r = 0;

        drop_rules(starts);
        for (size_t i = 0; r >= 0 && i < N_RULES; i++)
                r = sd_bus_add_match_async(starts->agent->session_bus.connection,
                                           &starts->slots[i], rules[i].text, rules[i].handler,
                                           ignore_reply, starts);
        if (r >= 0 && agent_posts(starts->agent))
                r = subscribe(starts);
        if (r >= 0)
                load(starts);
        for (unit *unit = starts->units; unit; unit = unit->next)
                unit_go(unit);
}

static void bus_lost(bus_user *user)
{
        starts *starts = (struct starts *)user;

        drop_rules(starts);
        for (unit *unit = starts->units; unit; unit = unit->next)
                unit_lose_manager(unit);
        starts->has_manager = false;
        starts->is_settled = true;
        starts->n_open = 0;
}

/* --- All together ---------------------------------------------------------------------------- */

starts *starts_new(agent *agent)
{
        starts *starts = calloc(1, sizeof(*starts));

        if (!starts)
                return NULL;
        starts->agent = agent;
        starts->user = (bus_user){ .found = bus_found, .lost = bus_lost };
        bus_add_user(&agent->session_bus, &starts->user);
        return starts;
}

void starts_renew(starts *starts)
{
        for (unit *unit = starts->units; unit; unit = unit->next)
                if (unit->n_observers > 0)
                        unit_compare(unit);
}

bool starts_is_settled(const starts *starts)
{
        return starts->is_settled;
}

bool starts_has_manager(const starts *starts)
{
        return starts->has_manager;
}

void starts_each(const starts *starts, void (*each)(const unit_report *report, void *context),
                 void *context)
{
        for (unit *unit = starts->units; unit; unit = unit->next) {
                unit_report report = {
                        .name = unit->name,
                        .section = &unit->section,
                        .fault = unit->fault[0] ? unit->fault : NULL,
                        .note = &unit->note,
                };

                each(&report, context);
        }
}

starts *starts_free(starts *starts)
{
        if (!starts)
                return NULL;
        drop_rules(starts);
        for (unit *unit; (unit = starts->units);) {
                starts->units = unit->next;
                (void)unit_free(unit);
        }
        free_folders(starts);
        free(starts);
        return NULL;
}
