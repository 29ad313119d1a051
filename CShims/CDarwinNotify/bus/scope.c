/* The rendezvous key of a bus: equal for processes on the same bus. */
#include "bus/scope.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/text.h"

/* More than any transport has. */
#define MAX_PAIRS 16

/* --- Values -------------------------------------------------------------------------------- */

static int digit_of(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes escapes in place. Invalid escapes are left unchanged. */
static void unescape(char *text)
{
        char *to = text;

        for (; *text; text++) {
                int high = text[0] == '%' ? digit_of(text[1]) : -1;
                int low = high < 0 ? -1 : digit_of(text[2]);

                if (low >= 0 && (high | low)) {
                        *to++ = (char)(high << 4 | low);
                        text += 2;
                } else {
                        *to++ = *text;
                }
        }
        *to = '\0';
}

/* Bytes that a D-Bus address may contain unescaped. */
static bool is_plain(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               (c && strchr("-_/.\\*", c));
}

void dn__scope_escape(FILE *stream, const char *value)
{
        for (; *value; value++)
                if (is_plain(*value))
                        (void)fputc(*value, stream);
                else
                        (void)fprintf(stream, "%%%02x", (unsigned char)*value);
}

/* --- Paths --------------------------------------------------------------------------------- */

/* Cuts the last component and the slashes before it off a path and returns the component, or NULL
 * if the path has only one. */
static const char *cut_last(char *path)
{
        char *slash = strrchr(path, '/'), *end = slash;

        if (!slash)
                return NULL;
        while (end > path && end[-1] == '/')
                end--;
        *end = '\0';
        return slash + 1;
}

static char *join(const char *parent, const char *last)
{
        char *joined;

        return asprintf(&joined, "%s/%s", parent, last) < 0 ? NULL : joined;
}

/* Resolves the existing part of a path and normalizes the rest. */
static char *resolve_path(const char *path)
{
        char *resolved = realpath(path, NULL), *cut, *parent, *whole = NULL;
        const char *last;

        if (resolved || strlen(path) >= PATH_MAX)
                return resolved ? resolved : strdup(path);
        cut = strdup(path);
        last = cut ? cut_last(cut) : NULL;
        if (!last)
                return cut;
        parent = *cut ? resolve_path(cut) : strdup("");
        if (parent && strcmp(last, "..") == 0)
                (void)cut_last(parent);
        else if (parent && *last && strcmp(last, ".") != 0)
                whole = join(parent, last);
        free(cut);
        if (!whole)
                return parent;
        free(parent);
        return whole;
}

/* --- Entries ------------------------------------------------------------------------------- */

/* Writes one "key=value". Returns whether the address may have a bus behind it. */
static bool write_pair(FILE *stream, bool is_unix, char *pair)
{
        char *equals = strchr(pair, '='), *path;
        bool is_there = true;

        if (!equals) {
                (void)fputs(pair, stream);
                return true;
        }
        (void)fprintf(stream, "%.*s", (int)(equals + 1 - pair), pair);
        unescape(equals + 1);
        path = is_unix && dn__text_begins_with(pair, "path=") ? resolve_path(equals + 1) : NULL;
        if (path)
                is_there = access(path, F_OK) == 0;
        dn__scope_escape(stream, path ? path : equals + 1);
        free(path);
        return is_there;
}

static int compare(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Writes "transport:key=value,...", destroying its input. Returns as write_pair() does. */
static bool write_entry(FILE *stream, char *entry)
{
        char *pairs[MAX_PAIRS], *rest = strchr(entry, ':'), *pair;
        bool is_unix = dn__text_begins_with(entry, "unix:"), is_there = true;
        size_t n = 0;

        if (!rest) {
                (void)fputs(entry, stream);
                return false;
        }
        *rest++ = '\0';
        (void)fprintf(stream, "%s:", entry);
        while (n < MAX_PAIRS && (pair = strsep(&rest, ",")))
                if (*pair && !dn__text_begins_with(pair, "guid="))
                        pairs[n++] = pair;
        qsort(pairs, n, sizeof(pairs[0]), compare);
        for (size_t i = 0; i < n; i++) {
                if (i > 0)
                        (void)fputc(',', stream);
                is_there = write_pair(stream, is_unix, pairs[i]) && is_there;
        }
        return is_there;
}

/* Returns the canonical form of an entry, destroying its input. */
static char *spell(char *entry, bool *ret_is_there)
{
        char *text = NULL;
        size_t n_bytes;
        FILE *stream = open_memstream(&text, &n_bytes);
        bool is_complete;

        if (!stream)
                return NULL;
        *ret_is_there = write_entry(stream, entry);
        is_complete = !ferror(stream);
        if (fclose(stream) == 0 && is_complete)
                return text;
        free(text);
        return NULL;
}

char *dn__scope_of_address(const char *address)
{
        char *copy = strdup(address), *rest = copy, *entry, *first = NULL;

        while (rest && (entry = strsep(&rest, ";"))) {
                bool is_there = false;
                char *scope = *entry ? spell(entry, &is_there) : NULL;

                if (scope && (is_there || !first)) {
                        free(first);
                        first = scope;
                } else {
                        free(scope);
                }
                if (is_there)
                        break;
        }
        free(copy);
        return first ? first : strdup(address);
}
