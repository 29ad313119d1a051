/* A D-Bus client that writes its messages byte by byte, to be able to write invalid ones. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct test_raw test_raw;

/* What to send. NULL or 0 fields are omitted. Strings are sent unchanged. */
typedef struct test_raw_signal {
        const char *path;
        const char *interface;
        const char *member;
        const char *destination;
        const char *sender; /* forged: clients must not set it */
        const char *signature;
        const void *body;
        size_t body_bytes;
        const int *fds; /* borrowed, attached with SCM_RIGHTS */
        size_t n_fds;
        uint8_t unknown_field; /* code of an extra header field, holding a string */
} test_raw_signal;

test_raw *test_raw_open(const char *address);
test_raw *test_raw_close(test_raw *raw);

/* Returns false if the bus has disconnected. */
bool test_raw_send(test_raw *raw, const test_raw_signal *signal);
/* Returns when the bus has processed everything sent before; false if it has disconnected
 * instead. */
bool test_raw_sync(test_raw *raw);

/* Encodes a body of one string; returns its size. `ret_body` must hold at least strlen(text) + 5
 * bytes. */
size_t test_raw_string(const char *text, uint8_t *ret_body);
