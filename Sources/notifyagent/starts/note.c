/* What the agent remembers of a unit after the agent itself has ended.
 *
 * A note is a file in $XDG_STATE_HOME/notifyagent. Its lines end in a NUL, since names may contain
 * any other byte. The first line has a word that says whether the start is open, and the time and
 * the cause of the last start; each further line has the count of a name. */
#include "starts/note.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define OPEN "open"
#define OPEN_FOR_MISSED "missed"
#define DONE "done"

/* --- The file -------------------------------------------------------------------------------- */

static int format_note_path(const char *file, char ret_path[PATH_MAX])
{
        const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
        int n;

        if (state && *state == '/')
                n = snprintf(ret_path, PATH_MAX, "%s/notifyagent/%s", state, file);
        else if (home && *home == '/')
                n = snprintf(ret_path, PATH_MAX, "%s/.local/state/notifyagent/%s", home, file);
        else
                return -ENOENT;
        return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static void make_folders(char *path)
{
        for (char *at = path + 1; (at = strchr(at, '/')); at++) {
                *at = '\0';
                (void)mkdir(path, 0700);
                *at = '/';
        }
}

static FILE *open_new(char *path)
{
        FILE *stream = fopen(path, "we");

        if (stream || errno != ENOENT)
                return stream;
        make_folders(path);
        return fopen(path, "we");
}

/* --- Reading --------------------------------------------------------------------------------- */

static bool read_note_line(FILE *stream, char **line, size_t *room)
{
        ssize_t n = getdelim(line, room, '\0', stream);

        return n > 0 && !(*line)[n - 1];
}

static bool read_head(note *note, FILE *stream, char **line, size_t *room)
{
        char word[8];
        int at = 0;

        if (!read_note_line(stream, line, room) ||
            sscanf(*line, "%7s %" SCNu64 "%n", word, &note->started_us, &at) != 2 || !at)
                return false;
        note->may_have_missed = strcmp(word, OPEN_FOR_MISSED) == 0;
        note->is_open = note->may_have_missed || strcmp(word, OPEN) == 0;
        note->cause = (*line)[at] && (*line)[at + 1] ? strdup(*line + at + 1) : NULL;
        note->is_open &= note->cause != NULL;
        return true;
}

static void read_name(note *note, const char *line)
{
        dn__table_count count;
        int at = 0;

        if (sscanf(line, "%" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64 "%n", &count.region,
                   &count.slot, &count.named, &count.generation, &at) == 4 &&
            at && line[at] && line[at + 1])
                (void)note_set(note, line + at + 1, &count);
}

void note_read(note *note, const char *unit)
{
        char path[PATH_MAX], *line = NULL;
        FILE *stream = format_note_path(unit, path) == 0 ? fopen(path, "re") : NULL;
        size_t room = 0;

        *note = (struct note){ 0 };
        if (!stream)
                return;
        note->exists = read_head(note, stream, &line, &room);
        while (note->exists && read_note_line(stream, &line, &room))
                read_name(note, line);
        free(line);
        (void)fclose(stream);
}

/* --- Writing --------------------------------------------------------------------------------- */

static void write_lines(const note *note, FILE *stream)
{
        const char *word = !note->is_open          ? DONE
                           : note->may_have_missed ? OPEN_FOR_MISSED
                                                   : OPEN;

        (void)fprintf(stream, "%s %" PRIu64 " %s%c", word, note->started_us,
                      note->cause ? note->cause : "", '\0');
        for (size_t i = 0; i < note->n_names; i++) {
                const dn__table_count *count = &note->names[i].count;

                (void)fprintf(stream, "%" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s%c",
                              count->region, count->slot, count->named, count->generation,
                              note->names[i].text, '\0');
        }
}

int note_write(note *note, const char *unit)
{
        char path[PATH_MAX], new[PATH_MAX];
        FILE *stream;
        int r = format_note_path(unit, path);

        if (r == 0)
                r = format_note_path(".new", new); /* only one agent writes */
        if (r < 0)
                return r;
        stream = open_new(new);
        if (!stream)
                return -errno;
        write_lines(note, stream);
        r = ferror(stream) ? -EIO : 0;
        if (fclose(stream) != 0 && r == 0)
                r = -errno;
        if (r == 0 && rename(new, path) < 0)
                r = -errno;
        note->exists |= r == 0;
        return r;
}

/* --- Names ----------------------------------------------------------------------------------- */

/* Returns the index of a name, or of the first name after it. */
static size_t find_place(const note *note, const char *name)
{
        size_t low = 0, high = note->n_names;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (strcmp(note->names[middle].text, name) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

const dn__table_count *note_find(const note *note, const char *name)
{
        size_t at = find_place(note, name);

        return at < note->n_names && strcmp(note->names[at].text, name) == 0
                       ? &note->names[at].count
                       : NULL;
}

int note_set(note *note, const char *name, const dn__table_count *count)
{
        size_t at = find_place(note, name);
        note_name *names;
        char *text;

        if (at < note->n_names && strcmp(note->names[at].text, name) == 0) {
                note->names[at].count = *count;
                return 0;
        }
        names = reallocarray(note->names, note->n_names + 1, sizeof(*names));
        if (names)
                note->names = names;
        text = names ? strdup(name) : NULL;
        if (!text)
                return -ENOMEM;
        (void)memmove(names + at + 1, names + at, (note->n_names++ - at) * sizeof(*names));
        names[at] = (note_name){ text, *count };
        return 0;
}

void note_each(note *note, bool (*keep)(const char *name, dn__table_count *count, void *context),
               void *context)
{
        size_t n_kept = 0;

        for (size_t i = 0; i < note->n_names; i++) {
                note_name name = note->names[i];

                if (keep(name.text, &name.count, context))
                        note->names[n_kept++] = name;
                else
                        free(name.text);
        }
        note->n_names = n_kept;
}

void note_deinit(note *note)
{
        for (size_t i = 0; i < note->n_names; i++)
                free(note->names[i].text);
        free(note->names);
        free(note->cause);
}
