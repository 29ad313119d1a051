/* What the files of the commands share with each other. */
#ifndef BENCH_COMMANDS_H
#define BENCH_COMMANDS_H

#include "bench.h"

#define BENCH_NAME_BYTES 256

extern const bench_peer *bench_used; /* what this program posts with */

void bench_begin(void); /* says "ready", waits for a line; then the process ends with its input */
__attribute__((noreturn)) int bench_end(void);
__attribute__((noreturn)) void bench_fail(const char *what);
void bench_need(int r, const char *what);
void bench_rest(uint64_t us);

int bench_stalled(char **args);

#endif
