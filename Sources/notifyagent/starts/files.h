/* The files of units, before the manager is asked about them. */
#pragma once

#include <stdbool.h>

/* Returns whether a file has the section. */
bool files_have_section(const char *path);

/* Returns whether a unit may have drop-ins in one of the folders of units, which end with NULL. */
bool files_have_drop_ins(char *const *folders, const char *name);

/* Returns why a unit in this state of its file is not started; empty: it is. */
const char *files_find_fault(const char *name, const char *state);
