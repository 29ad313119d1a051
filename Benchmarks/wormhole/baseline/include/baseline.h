/* What a wormhole is measured against: the same by hand, over plain sd-bus, files and SQLite.
 *
 * Whatever goes wrong prints, then ends the process. */
#ifndef WORMHOLE_BASELINE_H
#define WORMHOLE_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CLOCK_MONOTONIC, the same in all processes. */
uint64_t baseline_now_ns(void);

/* Looks at every byte. Returns their sum, so that no compiler can leave that out. */
uint64_t baseline_touch(const void *bytes, size_t n_bytes);

/* ---- the receiver's end of the pipes --------------------------------------------------------- */

/* Tells the process that started this one: a line with a number. */
void baseline_report(uint64_t number);
/* Waits for a line of that process. At the end of its input the process ends. */
void baseline_await_line(void);

/* ---- signals --------------------------------------------------------------------------------- */

typedef struct baseline_bus baseline_bus;

/* Connects to the session bus, whose address the environment has. */
baseline_bus *baseline_bus_open(void);
/* Emits a signal with the name as its argument, and returns when it is written. */
void baseline_bus_ring(baseline_bus *bus, const char *name);

/* How a receiver reads what a signal calls it to. */
typedef struct baseline_reader {
        const char *name;
        const char *path; /* NULL: there is nothing to read */
        size_t capacity;  /* of the memory it reads to, in bytes; more than the file has */
        bool holds;       /* keeps the memory until it gets a line */
} baseline_reader;

/* Reports 0 when the bus has the match rule, then the time at which it has seen each file. */
__attribute__((noreturn)) void baseline_receive(baseline_bus *bus, const baseline_reader *reader);

/* ---- files ----------------------------------------------------------------------------------- */

/* Puts a file in the place of the one before, at once for all who read. */
void baseline_file_replace(const char *path, const void *bytes, size_t n_bytes);

/* ---- logs ------------------------------------------------------------------------------------ */

typedef struct baseline_log baseline_log;

/* Makes a database with a write-ahead log and a table like the one of LogTransit, with
 * synchronous = NORMAL. */
baseline_log *baseline_log_open(const char *path);
/* Sets synchronous = FULL: from now on each row waits for the disk. */
void baseline_log_make_durable(baseline_log *log);
/* A prepared INSERT that is a transaction by itself. */
void baseline_log_insert(baseline_log *log, const void *bytes, size_t n_bytes);
baseline_log *baseline_log_close(baseline_log *log);

#endif
