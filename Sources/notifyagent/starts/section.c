/* The section [X-DarwinNotify] of a unit.
 *
 * The syntax is that of unit files, as systemd reads it: comments, continued lines, and an empty
 * value, which removes all earlier values. */
#include "starts/section.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <darwinnotify/center.h>

#define SECTION "[X-DarwinNotify]"
#define BLANKS " \t\r\n"
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* --- Matches --------------------------------------------------------------------------------- */

bool section_is_prefix(const char *match)
{
        return match[strlen(match) - 1] == '.';
}

const char *section_find(const section *section, const char *name)
{
        const char *found = NULL;

        for (size_t i = 0; i < section->n_matches; i++) {
                const char *match = section->matches[i];

                if (strcmp(match, name) == 0)
                        return match;
                if (!found && section_is_prefix(match) &&
                    strncmp(name, match, strlen(match)) == 0)
                        found = match;
        }
        return found;
}

bool section_is_same(const section *a, const section *b)
{
        if (a->n_matches != b->n_matches)
                return false;
        for (size_t i = 0; i < a->n_matches; i++)
                if (strcmp(a->matches[i], b->matches[i]) != 0)
                        return false;
        return true;
}

void section_deinit(section *section)
{
        for (size_t i = 0; i < section->n_matches; i++)
                free(section->matches[i]);
        free(section->matches);
        section->matches = NULL;
        section->n_matches = 0;
}

/* --- Mistakes -------------------------------------------------------------------------------- */

/* Returns how many bytes of a text fit without splitting a character. */
static int whole_characters(const char *text, size_t max_bytes)
{
        size_t n = strnlen(text, max_bytes + 1);

        if (n > max_bytes)
                for (n = max_bytes; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;)
                        n--;
        return (int)n;
}

/* Keeps only the first problem. Shows the beginning of `text`, which is UTF-8. */
static void note_problem(section *section, const char *before, const char *text, const char *after)
{
        if (!section->problem[0])
                (void)snprintf(section->problem, sizeof(section->problem), "%s%.*s%s", before,
                               whole_characters(text, 150), text, after);
}

/* Names of other users are never heard. It does not matter here that only root may post a name. */
static const char *find_fault(const char *match)
{
        if (strncmp(match, "self.", 5) == 0)
                return " never leaves its process";
        switch (dn_may_post(match)) {
        case -ENAMETOOLONG: return " is too long";
        case 0: return strncmp(match, "user.", 5) == 0 ? " belongs to another user" : NULL;
        case 1: return NULL;
        default: return " is not a name";
        }
}

/* --- Lines ----------------------------------------------------------------------------------- */

static int add_match(section *section, const char *match)
{
        const char *fault = find_fault(match);
        char **matches;

        if (!fault && section->n_matches == SECTION_MAX_MATCHES)
                fault = " and more: too many names";
        if (fault) {
                note_problem(section, "", match, fault);
                return 0;
        }
        matches = reallocarray(section->matches, section->n_matches + 1, sizeof(*matches));
        if (!matches)
                return -ENOMEM;
        section->matches = matches;
        matches[section->n_matches] = strdup(match);
        return matches[section->n_matches] ? (section->n_matches++, 0) : -ENOMEM;
}

static int take_value(section *section, char *value)
{
        char *rest = NULL, *match = strtok_r(value, BLANKS, &rest);
        int r = 0;

        if (!match)
                section_deinit(section);
        for (; match && r == 0; match = strtok_r(NULL, BLANKS, &rest))
                r = add_match(section, match);
        return r;
}

static char *strip(char *text)
{
        size_t n_bytes;

        text += strspn(text, BLANKS);
        for (n_bytes = strlen(text); n_bytes && strchr(BLANKS, text[n_bytes - 1]);)
                text[--n_bytes] = '\0';
        return text;
}

/* dn_may_post() checks a name in this order: its bytes, its length, the rights. */
static bool is_utf8(const char *text)
{
        return dn_may_post(text) != -EINVAL;
}

/* A line inside the section. systemd skips those that are not UTF-8. */
static int take_line(section *section, char *line)
{
        char *equals = strchr(line, '='), *key;

        if (!is_utf8(line)) {
                note_problem(section, "a line is not valid UTF-8", "", "");
                return 0;
        }
        if (!equals) {
                note_problem(section, "'", line, "' is no assignment");
                return 0;
        }
        *equals = '\0';
        key = strip(line);
        if (strcmp(key, "Matching") == 0)
                return take_value(section, equals + 1);
        note_problem(section, "unknown key '", key, "'");
        return 0;
}

/* --- The text -------------------------------------------------------------------------------- */

typedef struct reader {
        char *at, *end;
} reader;

static bool is_end(char byte)
{
        return byte == '\n' || byte == '\r' || byte == '\0';
}

/* Returns the next line, ended by a NUL, or NULL. */
static char *read_line(reader *reader)
{
        char *line = reader->at, *end = line;

        if (line == reader->end)
                return NULL;
        while (end < reader->end && !is_end(*end))
                end++;
        reader->at = end;
        if (end < reader->end)
                reader->at++;
        if (reader->at < reader->end && is_end(*reader->at) && *reader->at != *end)
                reader->at++; /* "\r\n" is one end */
        *end = '\0';
        return line;
}

static bool is_comment(const char *line)
{
        line += strspn(line, BLANKS);
        return *line == '#' || *line == ';';
}

/* Whether the last character is a backslash that is not itself escaped. */
static bool goes_on(const char *line)
{
        bool is_escaped = false;

        for (; *line; line++)
                is_escaped = !is_escaped && *line == '\\';
        return is_escaped;
}

/* Returns the next line, joined in place with the lines that continue it, or NULL. */
static char *read_joined(reader *reader)
{
        char *text = NULL, *line;
        size_t n = 0;

        while ((line = read_line(reader))) {
                size_t n_bytes = strlen(line);
                bool is_last = !goes_on(line);

                if (is_comment(line))
                        continue;
                if (!text)
                        text = line;
                (void)memmove(text + n, line, n_bytes + 1);
                n += n_bytes;
                if (is_last)
                        break;
                text[n - 1] = ' ';
        }
        return text ? strip(text) : NULL;
}

int section_parse(section *section, char *text, size_t n_bytes)
{
        reader reader = { text, text + n_bytes };
        bool is_inside = false;
        char *line;
        int r = 0;

        if (n_bytes >= 3 && memcmp(text, BYTE_ORDER_MARK, 3) == 0)
                reader.at += 3;
        while (r == 0 && (line = read_joined(&reader))) {
                if (*line == '[') {
                        is_inside = strcmp(line, SECTION) == 0;
                        section->is_found |= is_inside;
                        section->is_installable |= strcmp(line, "[Install]") == 0;
                } else if (*line && is_inside) {
                        r = take_line(section, line);
                }
        }
        return r;
}

/* --- The file -------------------------------------------------------------------------------- */

/* Returns how many bytes were read, or a negative errno. Reading anything but a regular file might
 * never end. */
static ssize_t read_file(const char *path, char *bytes, size_t max_bytes)
{
        int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        struct stat about;
        ssize_t n = 0, n_read = -1;

        if (fd < 0)
                return -errno;
        if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode))
                while ((n_read = read(fd, bytes + n, max_bytes - (size_t)n)) > 0)
                        n += n_read;
        (void)close(fd);
        return n_read < 0 ? -EIO : n;
}

int section_read(section *section, const char *path)
{
        char *bytes = malloc(SECTION_FILE_BYTES + 1);
        ssize_t n = bytes ? read_file(path, bytes, SECTION_FILE_BYTES) : -ENOMEM;
        int r = n < 0 ? (int)n : section_parse(section, bytes, (size_t)n);

        if (n == SECTION_FILE_BYTES && section->is_found)
                note_problem(section, "only the first MiB of the file is read", "", "");
        free(bytes);
        return r;
}
