/* What --list, --metrics and --check print. */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lock.h"
#include "source.h"
#include "starts/starts.h"

static const char *center_of(const source_name *name)
{
        return name->is_distributed ? "distributed" : "darwin";
}

/* Prints UTF-8 as JSON. */
static void print_quoted(const char *text)
{
        (void)putchar('"');
        for (; *text; text++) {
                if (*text == '"' || *text == '\\')
                        (void)putchar('\\');
                if ((unsigned char)*text < ' ')
                        (void)printf("\\u%04x", (unsigned)*text);
                else
                        (void)putchar(*text);
        }
        (void)putchar('"');
}

/* Prints a text without terminal control characters. */
static void print_plain(const char *text)
{
        for (; *text; text++)
                (void)putchar((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
}

/* --- The running agent ----------------------------------------------------------------------- */

static pid_t find_agent(void)
{
        pid_t pid = 0;

        (void)lock_probe(&pid);
        return pid;
}

static void print_agent(bool is_json)
{
        pid_t pid = find_agent();

        if (is_json)
                (void)printf("\"agent\": %d", (int)pid);
        else if (pid)
                (void)printf("agent: process %d\n", (int)pid);
        else
                (void)printf("agent: none runs, so nothing is posted\n");
}

/* --- Sources --------------------------------------------------------------------------------- */

static void print_source(const source *source)
{
        char missing[SOURCE_TEXT_BYTES];
        bool is_there = source_is_there(source, missing);

        (void)printf("%s: %s\n", source->kind->name, source->kind->origin);
        if (!is_there)
                (void)printf("    missing: %s\n", missing);
        for (const source_name *name = source->kind->names; name->text; name++) {
                (void)printf("    %-52s %s", name->text, center_of(name));
                if (name->has_state && source->is_known)
                        (void)printf(", state %" PRIu64, source_get_state(source, name));
                (void)putchar('\n');
        }
}

static void print_names_as_json(const source *source)
{
        for (const source_name *name = source->kind->names; name->text; name++) {
                (void)printf("%s\n      {\"name\": \"%s\", \"center\": \"%s\"",
                             name == source->kind->names ? "" : ",", name->text, center_of(name));
                if (name->has_state && source->is_known)
                        (void)printf(", \"state\": %" PRIu64, source_get_state(source, name));
                (void)putchar('}');
        }
}

static void print_source_as_json(const source *source)
{
        char missing[SOURCE_TEXT_BYTES];
        bool is_there = source_is_there(source, missing);

        (void)printf("    {\"source\": \"%s\", \"from\": ", source->kind->name);
        print_quoted(source->kind->origin);
        (void)printf(", \"present\": %s", is_there ? "true" : "false");
        if (!is_there) {
                (void)printf(", \"missing\": ");
                print_quoted(missing);
        }
        (void)printf(", \"names\": [");
        print_names_as_json(source);
        (void)printf("]}");
}

/* --- Units ----------------------------------------------------------------------------------- */

static const char missing_manager[] = "org.freedesktop.systemd1 on the session bus";

static void print_start(const note *note)
{
        time_t seconds = (time_t)(note->started_us / 1000000);
        char text[32];
        struct tm local;

        if (!note->cause || !localtime_r(&seconds, &local) ||
            !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local))
                return;
        (void)printf("    last started %s by ", text);
        print_plain(note->cause);
        (void)puts(note->is_open ? ", not yet confirmed" : "");
}

static void print_unit(const unit_report *report, void *context)
{
        (void)context;
        (void)printf("unit %s\n", report->name);
        if (report->fault)
                (void)printf("    not started: %s\n", report->fault);
        else if (report->section->problem[0])
                (void)printf("    mistake: %s\n", report->section->problem);
        for (size_t i = 0; i < report->section->n_matches; i++) {
                (void)printf("    ");
                print_plain(report->section->matches[i]);
                (void)putchar('\n');
        }
        print_start(report->note);
}

static void print_unit_as_json(const unit_report *report, void *context)
{
        unsigned *n = context;

        (void)printf("%s\n    {\"unit\": ", (*n)++ ? "," : "");
        print_quoted(report->name);
        if (report->fault) {
                (void)printf(", \"not-started\": ");
                print_quoted(report->fault);
        }
        if (report->section->problem[0]) {
                (void)printf(", \"mistake\": ");
                print_quoted(report->section->problem);
        }
        (void)printf(", \"matching\": [");
        for (size_t i = 0; i < report->section->n_matches; i++) {
                (void)printf("%s", i ? ", " : "");
                print_quoted(report->section->matches[i]);
        }
        (void)putchar(']');
        if (report->note->cause) {
                (void)printf(", \"started\": %.6f, \"by\": ",
                             (double)report->note->started_us / 1e6);
                print_quoted(report->note->cause);
        }
        (void)putchar('}');
}

static void print_units(const agent *agent)
{
        if (!starts_has_manager(agent->starts))
                (void)printf("units that posts start\n    missing: %s\n", missing_manager);
        starts_each(agent->starts, print_unit, NULL);
}

static void print_units_as_json(const agent *agent)
{
        unsigned n = 0;

        (void)printf("\"manager\": %s, \"units\": [",
                     starts_has_manager(agent->starts) ? "true" : "false");
        starts_each(agent->starts, print_unit_as_json, &n);
        (void)putchar(']');
}

/* --- The list -------------------------------------------------------------------------------- */

static void print_all_as_json(const agent *agent)
{
        (void)printf("{");
        print_agent(true);
        (void)printf(", \"sources\": [\n");
        for (size_t i = 0; i < agent->n_sources; i++) {
                (void)printf("%s", i ? ",\n" : "");
                print_source_as_json(agent->sources[i]);
        }
        (void)printf("\n], ");
        print_units_as_json(agent);
        (void)printf("}\n");
}

void report_list(const agent *agent, bool is_json)
{
        if (is_json) {
                print_all_as_json(agent);
                return;
        }
        print_agent(false);
        for (size_t i = 0; i < agent->n_sources; i++)
                print_source(agent->sources[i]);
        print_units(agent);
}

/* --- Metrics --------------------------------------------------------------------------------- */

/* No text in a label has a character that the format would escape. */
static void begin_gauge(const char *name, const char *help)
{
        (void)printf("# TYPE darwin_notify_agent_%s gauge\n", name);
        (void)printf("# HELP darwin_notify_agent_%s %s\n", name, help);
}

static void print_states(const source *source)
{
        for (const source_name *name = source->kind->names; name->text; name++)
                if (name->has_state && source->is_known)
                        (void)printf("darwin_notify_agent_state{source=\"%s\",name=\"%s\"} "
                                     "%" PRIu64 "\n",
                                     source->kind->name, name->text,
                                     source_get_state(source, name));
}

void report_metrics(const agent *agent)
{
        char missing[SOURCE_TEXT_BYTES];

        begin_gauge("running", "Whether an agent runs for this table.");
        (void)printf("darwin_notify_agent_running %d\n", find_agent() ? 1 : 0);
        begin_gauge("source_present", "Whether the source is there, so that its names are posted.");
        for (size_t i = 0; i < agent->n_sources; i++)
                (void)printf("darwin_notify_agent_source_present{source=\"%s\"} %d\n",
                             agent->sources[i]->kind->name,
                             source_is_there(agent->sources[i], missing) ? 1 : 0);
        begin_gauge("state", "The state that the name should have.");
        for (size_t i = 0; i < agent->n_sources; i++)
                print_states(agent->sources[i]);
        (void)printf("# EOF\n");
}

/* --- Problems -------------------------------------------------------------------------------- */

/* Collects the lines of --check. */
typedef struct findings {
        bool is_json;
        unsigned n;
        bool is_fatal;
} findings;

/* `what` is the kind of a finding that is not fatal; NULL: the finding is fatal. */
static void add(findings *findings, const char *subject, const char *what, const char *text)
{
        findings->is_fatal |= !what;
        if (!findings->is_json) {
                (void)printf("%s: %s%s", subject, what ? what : "", what ? ": " : "");
                print_plain(text);
                (void)putchar('\n');
                return;
        }
        (void)printf("%s\n  {\"subject\": ", findings->n++ ? "," : "");
        print_quoted(subject);
        (void)printf(", \"fatal\": %s, \"%s\": ", what ? "false" : "true", what ? what : "error");
        print_quoted(text);
        (void)putchar('}');
}

/* The agent makes the table and the lock if there are none. The lock is not taken, since that could
 * keep an agent from running. */
static void check_lock(findings *findings)
{
        pid_t pid;
        int r = lock_probe(&pid);

        if (r < 0 && r != -ENOENT)
                add(findings, "lock", NULL, strerror(-r));
}

/* A unit that is disabled or masked on purpose is not a mistake. */
static void check_unit(const unit_report *report, void *context)
{
        findings *findings = context;

        if (report->section->problem[0])
                add(findings, report->name, NULL, report->section->problem);
        if (report->fault && report->fault != report->section->problem)
                add(findings, report->name, report->section->n_matches ? "not started" : NULL,
                    report->fault);
}

bool report_check(const agent *agent, bool is_json)
{
        findings findings = { .is_json = is_json };
        char missing[SOURCE_TEXT_BYTES];

        if (is_json)
                (void)printf("{\"findings\": [");
        check_lock(&findings);
        for (size_t i = 0; i < agent->n_sources; i++)
                if (!source_is_there(agent->sources[i], missing))
                        add(&findings, agent->sources[i]->kind->name, "missing", missing);
        if (!starts_has_manager(agent->starts))
                add(&findings, "units", "missing", missing_manager);
        starts_each(agent->starts, check_unit, &findings);
        if (is_json)
                (void)printf("], ");
        print_agent(is_json);
        if (is_json)
                (void)printf("}\n");
        return findings.is_fatal;
}
