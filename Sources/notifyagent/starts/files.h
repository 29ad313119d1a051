/* The files of units, before the manager is asked about them. */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* The file of a unit. */
typedef struct file {
        const char *name;
        char path[PATH_MAX];
        bool is_masked;
        bool is_enabled; /* a link in a unit's .wants or the like, or an alias, points to it */
} file;

typedef void files_function(const file *file, void *context);

/* Calls a function for each unit that has a file in the folders, which end with NULL. A file hides
 * those of its name in later folders; that of a masked unit is the one that the mask hides. */
void files_each(char *const *folders, files_function *each, void *context);

/* Returns whether a file has the section. */
bool files_have_section(const char *path);

/* Returns whether a unit may have drop-ins in one of the folders of units, which end with NULL. */
bool files_have_drop_ins(char *const *folders, const char *name);
