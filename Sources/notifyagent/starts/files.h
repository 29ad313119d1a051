/* The files of the user's units. */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* The file of a unit. */
typedef struct file {
        const char *name;
        char path[PATH_MAX];
        bool is_masked;
        bool is_enabled; /* an alias, or a link in a folder such as .wants, points to it */
} file;

/* Calls a function for each unit that has a file in the folders, in the order of their names.
 * `folders` ends with NULL. A file hides files of the same name in later folders. The path of a
 * masked unit is that of the file that the mask hides. Returns 0; or a negative errno, without a
 * call, if the folders cannot be read now. */
int files_each(char *const *folders, void (*each)(const file *file, void *context), void *context);
