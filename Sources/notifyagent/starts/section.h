/* The section [X-DarwinNotify] of a unit. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SECTION_PROBLEM_BYTES 256

/* More matches are a mistake. */
#define SECTION_MAX_MATCHES 256

/* The part of a file that is read; no line that systemd accepts is longer. */
#define SECTION_FILE_BYTES (1 << 20)

/* All zero: empty. */
typedef struct section {
        char **matches; /* in the order of the files; a text that ends in a dot is a prefix */
        size_t n_matches;
        bool is_found;
        bool is_installable; /* it has [Install], so it counts only if it is enabled */
        char problem[SECTION_PROBLEM_BYTES]; /* of the first wrong line; empty: there is none */
} section;

/* Adds the contents of a file to those of the files before it. Returns 0 or a negative errno. */
int section_read(section *section, const char *path);

/* Does the same with the text of a file. It changes the text, which must have room for one more
 * byte. Returns 0 or -ENOMEM. */
int section_parse(section *section, char *text, size_t n_bytes);

/* Returns whether both have the same matches. */
bool section_is_same(const section *a, const section *b);

/* Returns the match for a name, or NULL. The name itself takes precedence, then the first match. */
const char *section_find(const section *section, const char *name);

/* Returns whether a match stands for all names that begin with it. */
bool section_is_prefix(const char *match);

void section_deinit(section *section);
