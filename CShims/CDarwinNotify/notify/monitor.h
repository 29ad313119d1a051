/* Tokens that report changes of a file. */
#pragma once

#include <stdint.h>

/* Monitors the file of a name `com.apple.system.notify.service.path:[FLAGS:]PATH` for its token;
 * does nothing for other names. FLAGS are as in notify_monitor_file(). Returns a status. */
uint32_t dn__monitor_named_file(int number, const char *name);
