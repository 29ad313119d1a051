/* Tells on standard error what happens to the library, if DARWIN_NOTIFY_DEBUG=1 asks for it. */
#pragma once

#include <stdbool.h>

/* Returns whether it is to be told. The variable is read once, and ignored in a set-user-id
 * program. */
bool dn__debug_is_on(void);

/* Writes one line, after the names of the library and the program and the pid, in one system call.
 * A reason is a negative errno, which ends the line in words, or 0. Call it without a lock. */
__attribute__((format(printf, 2, 3))) void dn__debug_say(int reason, const char *format, ...);

/* Has the variable read again. */
void dn__debug_forget(void);
