/* Declares what the module of libc that Swift has leaves out. */
#pragma once

/* Locks that belong to an open file, not to a process: Linux 3.15. */
enum { LINUX_F_OFD_SETLK = 37 };

/* Two files change places: Linux 3.15, not every file system. */
enum { LINUX_RENAME_EXCHANGE = 2 };

/* glibc 2.28 */
int renameat2(int old_directory, const char *old_path, int new_directory, const char *new_path,
              unsigned int flags);
