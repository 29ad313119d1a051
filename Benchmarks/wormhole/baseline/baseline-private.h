/* What the files of the baseline share. */
#ifndef WORMHOLE_BASELINE_PRIVATE_H
#define WORMHOLE_BASELINE_PRIVATE_H

/* Prints, then ends the process. `error` is an errno, 0 where there is none. */
__attribute__((noreturn)) void baseline_fail(const char *what, int error);

#endif
