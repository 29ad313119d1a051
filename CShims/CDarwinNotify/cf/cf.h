/* CFNotificationCenter-style registration: identified by a bare pointer, with a plain callback. */
#pragma once

/* Frees the table of registrations, which is empty. While no call is running. */
void dn__cf_free(void);
