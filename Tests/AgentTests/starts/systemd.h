/* A systemd that manages the units of a test, with its bus. */
#pragma once

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <systemd/sd-bus.h>

#include "stage.h"

#define NAME "com.example.photos.changed"
#define SYSTEMD "org.freedesktop.systemd1"
#define SYSTEMD_PATH "/org/freedesktop/systemd1"
#define SYSTEMD_INTERFACE SYSTEMD ".Manager"

typedef struct systemd {
        stage stage;
        test_child *manager;
        char runtime[PATH_MAX];
        char home[PATH_MAX];
        char units[PATH_MAX]; /* the folder of its units */
        char notes[PATH_MAX]; /* the folder of the agent's notes */
        char log[PATH_MAX];   /* a line for each start of a unit */
} systemd;

static inline void write_text(const char *path, const char *text)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

        CHECK(fd >= 0);
        CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
        close(fd);
}

/* --- Units ----------------------------------------------------------------------------------- */

static inline void write_unit(const systemd *systemd, const char *name, const char *text)
{
        write_text(FORMAT("%s/%s", systemd->units, name), text);
}

/* A unit that is in no way special but by its section. */
static inline void write_section(const systemd *systemd, const char *name, const char *section)
{
        write_unit(systemd, name, FORMAT("[Service]\nExecStart=true\n[X-DarwinNotify]\n%s\n",
                                         section));
}

/* A unit that writes a line into the log, then does something more. */
static inline void write_logging(const systemd *systemd, const char *name, const char *type,
                                 const char *matching, const char *more)
{
        char text[8192];

        snprintf(text, sizeof text,
                 "[Service]\nType=%s\nEnvironmentFile=-%%t/darwin-notify/%%n.env\n"
                 "ExecStart=sh %s/log.sh '%s'\n[X-DarwinNotify]\nMatching=%s\n",
                 type, systemd->home, more, matching);
        write_unit(systemd, name, text);
}

/* More of such a unit: it runs until the test lets it end. */
#define UNTIL_LET "until rm go; do sleep 0.01; done"

static inline void let_end(const systemd *systemd)
{
        write_text(FORMAT("%s/go", systemd->home), "");
}

/* Counts the lines of the log that begin with a text. */
static inline int n_starts(const systemd *systemd, const char *begin)
{
        FILE *stream = fopen(systemd->log, "re");
        char line[1024];
        int n = 0;

        while (stream && fgets(line, sizeof line, stream))
                n += strncmp(line, begin, strlen(begin)) == 0;
        if (stream)
                fclose(stream);
        return n;
}

/* Whether the note of a unit begins with a word: "done", or else an agent that is killed starts the
 * unit again. */
static inline bool note_says(const systemd *systemd, const char *unit, const char *word)
{
        FILE *stream = fopen(FORMAT("%s/%s", systemd->notes, unit), "re");
        char begin[8] = "";
        bool is_read = stream && fscanf(stream, "%7s", begin) == 1;

        if (stream)
                fclose(stream);
        return is_read && strcmp(begin, word) == 0;
}

/* --- The manager ----------------------------------------------------------------------------- */

static inline systemd systemd_prepare(void)
{
        systemd systemd = {.stage = {.fd = -1}};
        const char *probe = FORMAT("mount -t cgroup2 none /sys/fs/cgroup && "
                                   "mkdir /sys/fs/cgroup/probe.%d && rmdir /sys/fs/cgroup/probe.%d",
                                   (int)getpid(), (int)getpid());
        const char *const look[] = {"unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh",
                                    "-c", probe, NULL};

        SKIP_IF(access("/lib/systemd/systemd", X_OK) < 0, "systemd is not installed");
        SKIP_IF(geteuid() != 0 || test_run_program(look, NULL, 0) != 0,
                "this user may not run a systemd in control groups of its own");
        snprintf(systemd.runtime, sizeof systemd.runtime, "%s/run", test_directory());
        snprintf(systemd.home, sizeof systemd.home, "%s/home", test_directory());
        snprintf(systemd.units, sizeof systemd.units, "%s/home/.config/systemd/user",
                 test_directory());
        snprintf(systemd.notes, sizeof systemd.notes, "%s/home/.local/state/notifyagent",
                 test_directory());
        snprintf(systemd.log, sizeof systemd.log, "%s/log", test_directory());
        CHECK_EQ(mkdir(systemd.runtime, 0700), 0);
        CHECK_EQ(test_run_program((const char *[]){"mkdir", "-p", systemd.units, NULL}, NULL, 0),
                 0);
        write_text(FORMAT("%s/log.sh", systemd.home),
                   FORMAT("echo \"$NOTIFY_NAME $NOTIFY_GENERATION $NOTIFY_STATE "
                          "$NOTIFY_MAY_HAVE_MISSED\" >>%s\neval \"$1\"\n", systemd.log));
        return systemd;
}

static inline sd_bus *systemd_connect(void)
{
        sd_bus *bus = NULL;

        CHECK(sd_bus_open_user(&bus) >= 0);
        return bus;
}

static inline bool systemd_answers(void)
{
        sd_bus *bus = NULL;
        bool is_there = sd_bus_open_user(&bus) >= 0 &&
                        sd_bus_set_method_call_timeout(bus, 1000000) >= 0 &&
                        sd_bus_call_method(bus, SYSTEMD, SYSTEMD_PATH, "org.freedesktop.DBus.Peer",
                                           "Ping", NULL, NULL, NULL) >= 0;

        sd_bus_flush_close_unref(bus);
        return is_there;
}

/* Calls a method without arguments of the manager. */
static inline void systemd_call(const char *member)
{
        sd_bus *bus = systemd_connect();

        CHECK(sd_bus_call_method(bus, SYSTEMD, SYSTEMD_PATH, SYSTEMD_INTERFACE, member, NULL, NULL,
                                 NULL) >= 0);
        sd_bus_flush_close_unref(bus);
}

static inline void systemd_reload(void)
{
        systemd_call("Reload");
}

/* Begins, perhaps once more. */
static inline void systemd_spawn(systemd *systemd)
{
        systemd->manager = test_spawn_program(
                (const char *[]){"unshare", "--mount", "--pid", "--fork", "--mount-proc",
                                 "--kill-child", TEST_MANAGER, systemd->runtime, systemd->home,
                                 NULL});
        WAIT_UNTIL(systemd_answers());
}

static inline void systemd_begin(systemd *systemd)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};

        setenv("XDG_RUNTIME_DIR", systemd->runtime, 1);
        setenv("HOME", systemd->home, 1);
        setenv("DBUS_SESSION_BUS_ADDRESS", FORMAT("unix:path=%s/bus", systemd->runtime), 1);
        setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent", 1);
        unsetenv("XDG_STATE_HOME");
        systemd_spawn(systemd);
        snprintf(address.sun_path, sizeof address.sun_path, "%s/ready", test_directory());
        systemd->stage.readiness = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        CHECK_EQ(bind(systemd->stage.readiness, (struct sockaddr *)&address, sizeof address), 0);
        setenv("NOTIFY_SOCKET", address.sun_path, 1);
}

/* --- The agent ------------------------------------------------------------------------------- */

/* After a time limit it is ready before it listens for units. Their notes begin then. */
static inline void await_note(const systemd *systemd)
{
        WAIT_UNTIL(access(FORMAT("%s/one.service", systemd->notes), F_OK) == 0);
}

/* These listen for one.service. */
static inline test_child *agent_listen(const systemd *systemd)
{
        test_child *agent = agent_start(&systemd->stage);

        await_note(systemd);
        return agent;
}

static inline test_child *agent_listen_hasty(const systemd *systemd)
{
        test_child *agent = agent_spawn_hasty(&systemd->stage);

        await_note(systemd);
        return agent;
}
