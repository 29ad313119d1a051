/* Cleanup before the process exits: sends its posts, releases its table entry. */
#pragma once

/* Schedules the cleanup for exit(). Idempotent. */
void dn__flush_at_exit(void);
