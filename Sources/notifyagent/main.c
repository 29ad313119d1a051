/* The command notifyagent: posts names and starts programs as Apple's systems do. */
#include <darwinnotify/library.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "agent.h"
#include "lock.h"
#include "options.h"
#include "path.h"
#include "report.h"
#include "say.h"
#include "source.h"
#include "starts/starts.h"

enum { STATUS_OK, STATUS_SETTINGS, STATUS_FAILED };

/* How long to wait for the services before the result counts as complete. */
#define SETTLE_MS 3000

/* An agent that holds the lock. */
typedef struct holder {
        agent agent;
        lock lock;
        path_watch *table;
} holder;

/* The names that the system posts are for the sessions of users. */
static bool check_bus(void)
{
        const char *bus = getenv("DARWIN_NOTIFY_BUS");

        if (!bus || strcmp(bus, "system") != 0)
                return true;
        say("DARWIN_NOTIFY_BUS=system: there is no agent for the whole machine, only for sessions");
        return false;
}

/* --- Running --------------------------------------------------------------------------------- */

/* Returns a status if the agent has to end, or -1. */
static int take_lock(holder *holder)
{
        char path[PATH_MAX];
        int r = lock_take(&holder->lock);

        switch (r) {
        case 0: return -1;
        case -EBUSY:
                say("another agent runs for this table");
                (void)sd_notify(true, "READY=1"); /* else its end would be a failure */
                return STATUS_OK;
        case -ENOENT: say("there is no table for the programs of this user"); return STATUS_FAILED;
        default:
                say("cannot take the lock %s: %s", lock_find(path) < 0 ? "of the table" : path,
                    strerror(-r));
                return STATUS_FAILED;
        }
}

/* The lock may have gone with the directory of the table. A table that is missing just now is
 * looked for by the library, which reports it here. */
static void table_changed(void *context)
{
        holder *holder = context;
        char path[PATH_MAX];
        int status;

        if (lock_find(path) < 0)
                return;
        status = take_lock(holder);
        if (status >= 0) {
                (void)sd_event_exit(holder->agent.event, status);
                return;
        }
        for (size_t i = 0; i < holder->agent.n_sources; i++)
                source_renew(holder->agent.sources[i]);
        starts_renew(holder->agent.starts);
}

static int end_at_signals(sd_event *event)
{
        static const int signals[] = { SIGTERM, SIGINT };
        sigset_t set;
        int r = 0;

        (void)sigemptyset(&set);
        for (size_t i = 0; i < 2; i++)
                (void)sigaddset(&set, signals[i]);
        (void)sigprocmask(SIG_BLOCK, &set, NULL);
        for (size_t i = 0; i < 2 && r >= 0; i++)
                r = sd_event_add_signal(event, NULL, signals[i], NULL, NULL);
        return r;
}

/* The lock comes before the states: the previous agent no longer sets any. */
static int run_as(holder *holder)
{
        int status, r = end_at_signals(holder->agent.event);

        holder->table = path_watch_new(&holder->agent, NULL, table_changed, holder);
        if (r < 0 || !holder->table)
                return STATUS_FAILED;
        status = take_lock(holder);
        if (status >= 0)
                return status;
        r = agent_start(&holder->agent);
        if (r >= 0) {
                agent_settle(&holder->agent, SETTLE_MS);
                (void)sd_notify(true, "READY=1");
                r = sd_event_loop(holder->agent.event);
        }
        if (r < 0)
                say("cannot run: %s", strerror(-r));
        return r < 0 ? STATUS_FAILED : r;
}

static int run(void)
{
        holder holder = { .lock.fd = -1 };
        int status = STATUS_FAILED, r = agent_init(&holder.agent, true);

        if (r < 0)
                say("cannot begin: %s", strerror(-r));
        else
                status = run_as(&holder);
        holder.table = path_watch_free(holder.table);
        agent_deinit(&holder.agent);
        lock_release(&holder.lock);
        return status;
}

/* --- Reporting ------------------------------------------------------------------------------- */

static int report(const options *options)
{
        agent agent;
        int status = STATUS_OK, r = agent_init(&agent, false);

        if (r >= 0)
                r = agent_start(&agent);
        if (r < 0) {
                say("cannot look: %s", strerror(-r));
                status = STATUS_FAILED;
        } else {
                agent_settle(&agent, SETTLE_MS);
                if (options->action == ACTION_LIST)
                        report_list(&agent, options->is_json);
                else if (options->action == ACTION_METRICS)
                        report_metrics(&agent);
                else if (report_check(&agent, options->is_json))
                        status = STATUS_SETTINGS;
        }
        agent_deinit(&agent);
        return status;
}

int main(int argc, char **argv)
{
        options options;

        if (options_parse(argc, argv, &options) < 0)
                return STATUS_SETTINGS;
        switch (options.action) {
        case ACTION_HELP: (void)fputs(options_usage, stdout); return STATUS_OK;
        case ACTION_VERSION: (void)printf("notifyagent %s\n", dn_version()); return STATUS_OK;
        default: break;
        }
        if (!check_bus())
                return STATUS_SETTINGS;
        return options.action == ACTION_RUN ? run() : report(&options);
}
