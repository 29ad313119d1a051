/* Reports what happens in the library, if the host or DARWIN_NOTIFY_DEBUG=1 asks for it. */
#pragma once

/* Informs the host, or writes a line, prefixed with the names of the library and the program, and
 * the pid. `reason` is a negative errno, whose description ends the message, or 0. Call it without
 * a lock. */
__attribute__((format(printf, 2, 3))) void dn__debug_say(int reason, const char *format, ...);

/* Keeps this thread's messages until the release, which may block on the host or on a full pipe.
 * Use it around work that other threads wait for. May be nested. */
void dn__debug_keep(void);
void dn__debug_release(void);

/* Makes the next use read the variable again, without the host. */
void dn__debug_forget(void);
