/* A private message bus as a child of the test process, with which it ends at the latest.
 *
 * Any failure in here is a fault of the harness: it prints a message, then aborts. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

typedef struct test_bus test_bus;

#define TEST_BUS_NOTHING (~0UL) /* a limit of zero */

/* 0 means a generous default. */
typedef struct test_bus_limits {
        unsigned long max_match_rules;    /* daemon: per connection; broker: per user */
        unsigned long max_outgoing_bytes; /* daemon: per connection; broker: per user */
} test_bus_limits;

/* `kind`: "daemon", "broker" or "none"; NULL: the environment variable DN_TEST_BROKER, else
 * "daemon". "none" is only a directory, for processes that share the absence of a bus. `limits` may
 * be NULL. */
test_bus *test_bus_start(const char *kind, const test_bus_limits *limits);
/* Starts the default kind, then test_bus_use(). */
test_bus *test_bus_begin(void);
test_bus *test_bus_begin_with(const test_bus_limits *limits);
/* Reserves an address where nobody listens until test_bus_start_again(). */
test_bus *test_bus_prepare(const char *kind);

const char *test_bus_address(const test_bus *bus);   /* unix:path=… below its directory, or none */
const char *test_bus_path(const test_bus *bus);      /* of the socket */
const char *test_bus_directory(const test_bus *bus); /* private, 0700 */
pid_t test_bus_pid(const test_bus *bus);             /* the benchmarks pause it */
bool test_bus_is_broker(const test_bus *bus); /* NULL: the default kind */
bool test_bus_is_none(const test_bus *bus);

/* Counts this process's connections to it. `ret_fd`, which may be NULL, receives one. */
unsigned test_bus_n_connections(const test_bus *bus, int *ret_fd);

/* Makes it this process's session bus, with its directory as XDG_RUNTIME_DIR. */
void test_bus_use(const test_bus *bus);
/* Makes this process do without a bus, in a directory that the processes of the case share. */
void test_bus_use_none(void);
/* Lets this process know nothing of a session, and finds none of its user: what is used without the
 * variables is covered by empty directories. */
void test_bus_use_nothing(void);

void test_bus_kill(test_bus *bus);        /* SIGKILL, reaped; the stale socket stays */
void test_bus_start_again(test_bus *bus); /* at the same address */
void test_bus_pause(test_bus *bus);       /* SIGSTOP; returns when it has stopped */
void test_bus_resume(test_bus *bus);

/* Kills it, removes its directory, and frees it. NULL is allowed. Returns NULL. */
test_bus *test_bus_stop(test_bus *bus);
