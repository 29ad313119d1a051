/* What the agent remembers of a unit, across its own end.
 *
 * A file of lines in $XDG_STATE_HOME/notifyagent: "open" or "done", the time and the cause of the
 * last start, then for each name its count. */
#include "starts/note.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- The file -------------------------------------------------------------------------------- */

static int format_path(const char *unit, const char *suffix, char ret_path[PATH_MAX])
{
        const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
        char folder[PATH_MAX - NAME_MAX - 8];
        int n;

        if (state && *state == '/')
                n = snprintf(folder, sizeof(folder), "%s", state);
        else if (home && *home == '/')
                n = snprintf(folder, sizeof(folder), "%s/.local/state", home);
        else
                return -ENOENT;
        if (n >= (int)sizeof(folder) - 16)
                return -ENAMETOOLONG;
        for (char *at = folder + 1; *at; at++) /* the directories on the way */
                if (*at == '/') {
                        *at = '\0';
                        (void)mkdir(folder, 0700);
                        *at = '/';
                }
        (void)mkdir(folder, 0700);
        (void)strcat(folder, "/notifyagent");
        (void)mkdir(folder, 0700);
        n = snprintf(ret_path, PATH_MAX, "%s/%s%s", folder, unit, suffix);
        return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* --- Reading and writing --------------------------------------------------------------------- */

static bool read_head(note *note, FILE *stream, char **line, size_t *room)
{
        char word[8];
        int at = 0;

        if (getline(line, room, stream) < 0)
                return false;
        (*line)[strcspn(*line, "\n")] = '\0';
        if (sscanf(*line, "%7s %" SCNu64 " %n", word, &note->started_us, &at) != 2 || !at)
                return false;
        note->is_open = strcmp(word, "open") == 0;
        note->cause = (*line)[at] ? strdup(*line + at) : NULL;
        return true;
}

void note_read(note *note, const char *unit)
{
        char path[PATH_MAX], *line = NULL;
        FILE *stream = format_path(unit, "", path) == 0 ? fopen(path, "re") : NULL;
        size_t room = 0;
        count count;

        *note = (struct note){ 0 };
        if (!stream)
                return;
        note->exists = read_head(note, stream, &line, &room);
        while (note->exists && getline(&line, &room, stream) >= 0) {
                int at = 0;

                line[strcspn(line, "\n")] = '\0';
                if (sscanf(line, "%" SCNx64 " %" SCNu64 " %" SCNu64 " %n", &count.region,
                           &count.named, &count.generation, &at) == 3 && at && line[at])
                        (void)note_set(note, line + at, &count);
        }
        free(line);
        (void)fclose(stream);
}

int note_write(const note *note, const char *unit)
{
        char path[PATH_MAX], new[PATH_MAX];
        FILE *stream;
        int r = format_path(unit, "", path);

        if (r == 0)
                r = format_path(unit, ".new", new);
        if (r < 0)
                return r;
        stream = fopen(new, "we");
        if (!stream)
                return -errno;
        (void)fprintf(stream, "%s %" PRIu64 " %s\n", note->is_open ? "open" : "done",
                      note->started_us, note->cause ? note->cause : "");
        for (size_t i = 0; i < note->n_names; i++) {
                const count *count = &note->names[i].count;

                (void)fprintf(stream, "%" PRIx64 " %" PRIu64 " %" PRIu64 " %s\n", count->region,
                              count->named, count->generation, note->names[i].name);
        }
        r = ferror(stream) ? -EIO : 0;
        if (fclose(stream) != 0 && r == 0)
                r = -errno;
        if (r == 0 && rename(new, path) < 0)
                r = -errno;
        return r;
}

/* --- Names ----------------------------------------------------------------------------------- */

count *note_find(note *note, const char *name)
{
        for (size_t i = 0; i < note->n_names; i++)
                if (strcmp(note->names[i].name, name) == 0)
                        return &note->names[i].count;
        return NULL;
}

int note_set(note *note, const char *name, const count *count)
{
        struct count *known = note_find(note, name);
        note_name *names;

        if (known) {
                *known = *count;
                return 0;
        }
        names = reallocarray(note->names, note->n_names + 1, sizeof(*names));
        if (!names)
                return -ENOMEM;
        note->names = names;
        names[note->n_names] = (note_name){ strdup(name), *count };
        return names[note->n_names].name ? (note->n_names++, 0) : -ENOMEM;
}

void note_deinit(note *note)
{
        for (size_t i = 0; i < note->n_names; i++)
                free(note->names[i].name);
        free(note->names);
        free(note->cause);
}
