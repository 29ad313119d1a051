/* A table that rows are added to, like the one in which Wormhole keeps a log. */
#ifndef BENCH_LOG_H
#define BENCH_LOG_H

#include <stdbool.h>
#include <stddef.h>

typedef struct log_table log_table;

/* Makes a database with a write-ahead log, and fills that log with rows of these bytes: while its
 * file grows, waiting for the disk takes longer. With `is_durable` each later row waits for the
 * disk (synchronous = FULL, otherwise NORMAL). Returns 0, or a negative errno after printing
 * why. */
int log_open(const char *path, const void *bytes, size_t n_bytes, bool is_durable,
             log_table **ret_log);

/* Adds a row in a transaction of its own. Returns 0, or a negative errno after printing why. */
int log_insert(log_table *log, const void *bytes, size_t n_bytes);

#endif
