/* The drop-ins of a unit. */
#pragma once

/* Calls a function for each drop-in of a unit, in the order in which systemd reads them. `folders`
 * ends with NULL. */
void drop_ins_each(char *const *folders, const char *unit,
                   void (*each)(const char *path, void *context), void *context);
