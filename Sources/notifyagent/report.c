/* What --list and --check print. */
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

/* Prints a text of ours, which has no character that JSON escapes except quotes. */
static void print_quoted(const char *text)
{
        (void)putchar('"');
        for (; *text; text++) {
                if (*text == '"' || *text == '\\')
                        (void)putchar('\\');
                (void)putchar((unsigned char)*text < ' ' ? ' ' : *text);
        }
        (void)putchar('"');
}

/* --- The agent that runs --------------------------------------------------------------------- */

static pid_t find_agent(void)
{
        char path[PATH_MAX];

        return lock_find(path) == 0 ? lock_get_holder(path) : 0;
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

static void print_start(const note *note)
{
        time_t seconds = (time_t)(note->started_us / 1000000);
        char text[32];
        struct tm local;

        if (!note->cause || !localtime_r(&seconds, &local) ||
            !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local))
                return;
        (void)printf("    last started %s by %s%s\n", text, note->cause,
                     note->is_open ? ", not yet confirmed" : "");
}

static void print_unit(const unit_report *report, void *context)
{
        (void)context;
        (void)printf("unit %s\n", report->name);
        if (report->fault)
                (void)printf("    not started: %s\n", report->fault);
        else if (report->section->problem[0])
                (void)printf("    mistake: %s\n", report->section->problem);
        for (size_t i = 0; i < report->section->n_matches; i++)
                (void)printf("    %s\n", report->section->matches[i]);
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

void report_list(const agent *agent, bool is_json)
{
        if (is_json)
                (void)printf("{");
        print_agent(is_json);
        if (is_json)
                (void)printf(", \"sources\": [\n");
        for (size_t i = 0; i < agent->n_sources; i++) {
                if (is_json && i > 0)
                        (void)printf(",\n");
                if (is_json)
                        print_source_as_json(agent->sources[i]);
                else
                        print_source(agent->sources[i]);
        }
        if (is_json) {
                unsigned n = 0;

                (void)printf("\n], \"units\": [");
                starts_each(agent->starts, print_unit_as_json, &n);
                (void)printf("]}\n");
        } else {
                starts_each(agent->starts, print_unit, NULL);
        }
}

/* --- Problems -------------------------------------------------------------------------------- */

/* Collects the lines of --check. */
typedef struct findings {
        bool is_json;
        unsigned n;
        bool has_mistakes;
} findings;

static void add(findings *findings, const char *subject, bool is_fatal, const char *what,
                const char *text)
{
        findings->has_mistakes |= is_fatal;
        if (!findings->is_json) {
                (void)printf("%s: %s%s%s\n", subject, is_fatal ? "" : what,
                             is_fatal ? "" : ": ", text);
                return;
        }
        (void)printf("%s\n  {\"subject\": \"%s\", \"fatal\": %s, \"%s\": ",
                     findings->n++ ? "," : "", subject, is_fatal ? "true" : "false",
                     is_fatal ? "error" : what);
        print_quoted(text);
        (void)putchar('}');
}

/* The agent makes the table if there is none, so only a lock that cannot be taken matters. */
static bool check_lock(findings *findings)
{
        lock lock = { .fd = -1 };
        int r = lock_take(&lock);

        lock_release(&lock);
        if (r >= 0 || r == -EBUSY || r == -ENOENT)
                return false;
        add(findings, "lock", true, "", strerror(-r));
        return true;
}

/* A unit that is disabled or masked on purpose is no mistake. */
static void check_unit(const unit_report *report, void *context)
{
        findings *findings = context;

        if (report->section->problem[0])
                add(findings, report->name, true, "", report->section->problem);
        else if (report->fault && report->section->n_matches == 0)
                add(findings, report->name, true, "", report->fault);
        else if (report->fault)
                add(findings, report->name, false, "not started", report->fault);
}

bool report_check(const agent *agent, bool is_json)
{
        findings findings = { .is_json = is_json };
        char missing[SOURCE_TEXT_BYTES];
        bool is_fatal;

        if (is_json)
                (void)printf("{\"findings\": [");
        is_fatal = check_lock(&findings);
        for (size_t i = 0; i < agent->n_sources; i++)
                if (!source_is_there(agent->sources[i], missing))
                        add(&findings, agent->sources[i]->kind->name, false, "missing",
                            missing);
        starts_each(agent->starts, check_unit, &findings);
        if (is_json)
                (void)printf("], ");
        print_agent(is_json);
        if (is_json)
                (void)printf("}\n");
        return is_fatal || findings.has_mistakes;
}
