/* The files of the user's units. */
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

/* Calls a function for each unit that has a file in the folders, which end with NULL, in the order
 * of their names. A file hides those of its name in later folders; that of a masked unit is the one
 * that the mask hides. */
void files_each(char *const *folders, void (*each)(const file *file, void *context),
                void *context);
