/* The program that a process runs. */
#pragma once

#include <stdint.h>

/* Returns the executable's file name; if it is not visible or the process is gone, the process's
 * own name; or NULL. Owned by the caller. */
char *dn__program_find(int64_t pid);
