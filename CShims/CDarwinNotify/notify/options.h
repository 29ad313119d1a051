/* The library's options in this process. */
#pragma once

#include <stdint.h>

#include "post/name.h"

/* Returns NOTIFY_STATUS_OPT_DISABLE if names with this reach are currently disabled, otherwise
 * NOTIFY_STATUS_OK. */
uint32_t dn__options_check(dn__reach reach);
