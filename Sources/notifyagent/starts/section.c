/* The section [X-DarwinNotify] of a unit.
 *
 * The syntax is that of unit files: comments, lines that are continued, and an empty value, which
 * takes back what was said before. */
#include "starts/section.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <darwinnotify/base.h>

#define SECTION "[X-DarwinNotify]"
#define BLANKS " \t\r\n"

bool section_is_prefix(const char *match)
{
        return match[strlen(match) - 1] == '.';
}

bool section_fits(const char *match, const char *name)
{
        return section_is_prefix(match) ? strncmp(name, match, strlen(match)) == 0
                                        : strcmp(name, match) == 0;
}

__attribute__((format(printf, 2, 3))) static void note_problem(section *section,
                                                               const char *format, ...)
{
        va_list arguments;

        if (section->problem[0])
                return;
        va_start(arguments, format);
        (void)vsnprintf(section->problem, sizeof(section->problem), format, arguments);
        va_end(arguments);
}

static void clear(section *section)
{
        for (size_t i = 0; i < section->n_matches; i++)
                free(section->matches[i]);
        free(section->matches);
        section->matches = NULL;
        section->n_matches = 0;
}

/* Names of another user are never heard. */
static const char *find_fault(const char *match)
{
        static const char users[] = "user.uid.";
        char *end;

        if (strlen(match) > DN_NAME_MAX_BYTES)
                return "is too long";
        if (strncmp(match, "self.", 5) == 0)
                return "never leaves its process";
        if (strncmp(match, users, sizeof(users) - 1) != 0 || geteuid() == 0)
                return NULL;
        errno = 0;
        if (strtoul(match + sizeof(users) - 1, &end, 10) == geteuid() && errno == 0 &&
            (*end == '.' || !*end))
                return NULL;
        return "belongs to another user";
}

static int add_match(section *section, const char *match)
{
        const char *fault = find_fault(match);
        char **matches;

        if (fault) {
                note_problem(section, "%s %s", match, fault);
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
                clear(section);
        for (; match && r == 0; match = strtok_r(NULL, BLANKS, &rest))
                r = add_match(section, match);
        return r;
}

/* A line inside the section. */
static int take_line(section *section, char *line)
{
        char *equals = strchr(line, '=');
        size_t n_bytes;

        if (!equals) {
                note_problem(section, "'%s' is no assignment", line);
                return 0;
        }
        *equals = '\0';
        for (n_bytes = strlen(line); n_bytes && isspace((unsigned char)line[n_bytes - 1]);)
                line[--n_bytes] = '\0';
        if (strcmp(line, "Matching") == 0)
                return take_value(section, equals + 1);
        note_problem(section, "unknown key '%s'", line);
        return 0;
}

/* Reads a line with those that continue it. Returns false at the end. */
static bool read_logical(FILE *stream, char **text, size_t *size)
{
        char *line = NULL, *start;
        size_t n_room = 0, n = 0;
        ssize_t n_read;
        bool goes_on = false, is_any = false;

        while ((n_read = getline(&line, &n_room, stream)) >= 0) {
                while (n_read > 0 && strchr(BLANKS, line[n_read - 1]))
                        line[--n_read] = '\0';
                start = line + strspn(line, BLANKS);
                if (goes_on && (*start == '#' || *start == ';'))
                        continue;
                is_any = true;
                goes_on = n_read > 0 && line[n_read - 1] == '\\' && *start != '#' && *start != ';';
                if (goes_on)
                        line[n_read - 1] = ' ';
                if (n + strlen(start) + 1 > *size) {
                        char *grown = realloc(*text, *size = 2 * (n + strlen(start) + 1));

                        if (!grown)
                                break;
                        *text = grown;
                }
                (void)strcpy(*text + n, start);
                n += strlen(start);
                if (!goes_on)
                        break;
        }
        free(line);
        return is_any;
}

int section_read(section *section, const char *path)
{
        FILE *stream = fopen(path, "re");
        bool is_inside = false;
        char *text = NULL;
        size_t size = 0;
        int r = 0;

        if (!stream)
                return -errno;
        while (r == 0 && read_logical(stream, &text, &size)) {
                if (!*text || *text == '#' || *text == ';')
                        continue;
                if (*text == '[') {
                        is_inside = strcmp(text, SECTION) == 0;
                        section->is_found |= is_inside;
                        section->is_installable |= strcmp(text, "[Install]") == 0;
                } else if (is_inside) {
                        r = take_line(section, text);
                }
        }
        free(text);
        (void)fclose(stream);
        return r;
}

void section_deinit(section *section)
{
        clear(section);
}
