/* The options of the library in this process. */
#pragma once

#include <stdint.h>

/* Returns NOTIFY_STATUS_OPT_DISABLE if a name, which may be NULL, cannot be used at present; else
 * NOTIFY_STATUS_OK. */
uint32_t dn__options_check(const char *name);

/* The same for a name that leaves the process. */
uint32_t dn__options_check_shared(void);
