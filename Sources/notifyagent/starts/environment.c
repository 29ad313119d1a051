/* The environment file of a unit, which says why the unit is started. */
#include "starts/environment.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Quotes a text for systemd: inside quotes, four characters need a backslash. */
static void write_quoted(FILE *stream, const char *text)
{
        (void)fputc('"', stream);
        for (; *text; text++) {
                if (strchr("\"\\`$", *text))
                        (void)fputc('\\', stream);
                (void)fputc(*text, stream);
        }
        (void)fputc('"', stream);
}

static int write_new(const char *path, const environment *environment)
{
        FILE *stream = fopen(path, "we");
        int r;

        if (!stream)
                return -errno;
        (void)fprintf(stream, "NOTIFY_NAME=");
        write_quoted(stream, environment->name);
        (void)fprintf(stream, "\nNOTIFY_GENERATION=%" PRIu64 "\nNOTIFY_STATE=%" PRIu64 "\n",
                      environment->generation, environment->state);
        if (environment->may_have_missed)
                (void)fprintf(stream, "NOTIFY_MAY_HAVE_MISSED=1\n");
        r = ferror(stream) ? -EIO : 0;
        if (fclose(stream) != 0 && r == 0)
                r = -errno;
        return r;
}

int environment_write(const char *unit, const environment *environment)
{
        const char *runtime = getenv("XDG_RUNTIME_DIR");
        char folder[PATH_MAX], path[PATH_MAX + NAME_MAX], new[PATH_MAX + 8];
        int r;

        if (!runtime || *runtime != '/' ||
            snprintf(folder, sizeof(folder), "%s/darwin-notify", runtime) >= PATH_MAX)
                return -ENOENT;
        if (mkdir(folder, 0700) < 0 && errno != EEXIST)
                return -errno;
        (void)snprintf(path, sizeof(path), "%s/%s.env", folder, unit);
        (void)snprintf(new, sizeof(new), "%s/.env", folder); /* only one agent writes */
        r = write_new(new, environment);
        return r == 0 && rename(new, path) < 0 ? -errno : r;
}
