/* Remembers which system call has failed, for messages. */
#pragma once

/* Remembers the call for this thread. Returns the negative errno. */
int dn__failed(const char *call);

/* Returns the call that this thread remembers, or NULL, and forgets it. */
const char *dn__failure_take(void);
