/* What --list, --metrics and --check print. */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lock.h"
#include "source.h"

static const char *center_of(const source_name *name)
{
        return name->is_distributed ? "distributed" : "darwin";
}

/* Prints one of our texts, which contain no character that JSON escapes except quotes. */
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

/* --- The running agent ----------------------------------------------------------------------- */

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
        if (is_json)
                (void)printf("\n]}\n");
}

/* --- Metrics --------------------------------------------------------------------------------- */

/* None of the texts in labels has a character that the format escapes. */
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
} findings;

static void add(findings *findings, const char *subject, bool is_fatal, const char *text)
{
        if (!findings->is_json) {
                (void)printf("%s: %s%s\n", subject, is_fatal ? "" : "missing: ", text);
                return;
        }
        (void)printf("%s\n  {\"subject\": \"%s\", \"fatal\": %s, \"%s\": ",
                     findings->n++ ? "," : "", subject, is_fatal ? "true" : "false",
                     is_fatal ? "error" : "missing");
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
        add(findings, "lock", true, strerror(-r));
        return true;
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
                        add(&findings, agent->sources[i]->kind->name, false, missing);
        if (is_json)
                (void)printf("], ");
        print_agent(is_json);
        if (is_json)
                (void)printf("}\n");
        return is_fatal;
}
