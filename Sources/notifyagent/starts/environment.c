/* The file that tells a unit why it is started. */
#include "starts/environment.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* As systemd reads it: inside quotes, four characters need a backslash. */
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

static int write_new(const char *path, const char *name, uint64_t generation, uint64_t state,
                     bool may_have_missed)
{
        FILE *stream = fopen(path, "we");
        int r;

        if (!stream)
                return -errno;
        (void)fprintf(stream, "NOTIFY_NAME=");
        write_quoted(stream, name);
        (void)fprintf(stream, "\nNOTIFY_GENERATION=%" PRIu64 "\nNOTIFY_STATE=%" PRIu64 "\n",
                      generation, state);
        if (may_have_missed)
                (void)fprintf(stream, "NOTIFY_MAY_HAVE_MISSED=1\n");
        r = ferror(stream) ? -EIO : 0;
        if (fclose(stream) != 0 && r == 0)
                r = -errno;
        return r;
}

int environment_write(const char *unit, const char *name, uint64_t generation, uint64_t state,
                      bool may_have_missed)
{
        const char *runtime = getenv("XDG_RUNTIME_DIR");
        char folder[PATH_MAX], path[PATH_MAX + 300], new[PATH_MAX + 310];
        int r;

        if (!runtime || *runtime != '/' ||
            snprintf(folder, sizeof(folder), "%s/darwin-notify", runtime) >= (int)sizeof(folder))
                return -ENOENT;
        if (mkdir(folder, 0700) < 0 && errno != EEXIST)
                return -errno;
        (void)snprintf(path, sizeof(path), "%s/%s.env", folder, unit);
        (void)snprintf(new, sizeof(new), "%s.new", path);
        r = write_new(new, name, generation, state, may_have_missed);
        return r == 0 && rename(new, path) < 0 ? -errno : r;
}
