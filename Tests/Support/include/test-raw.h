/* A D-Bus client that writes its messages byte by byte, so that it can write wrong ones. */
#ifndef DN_TEST_RAW_H
#define DN_TEST_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct test_raw test_raw;

/* What to send. What is NULL or 0 is left out. Strings are sent as they are. */
typedef struct test_raw_signal {
        const char *path;
        const char *interface;
        const char *member;
        const char *destination;
        const char *sender; /* forged: a client is not to set it */
        const char *signature;
        const void *body;
        size_t body_bytes;
        const int *fds; /* borrowed, attached with SCM_RIGHTS */
        size_t n_fds;
        uint8_t unknown_field; /* code of one more header field, with a string */
} test_raw_signal;

test_raw *test_raw_open(const char *address);
test_raw *test_raw_close(test_raw *raw);

/* Returns false if the bus has hung up. */
bool test_raw_send(test_raw *raw, const test_raw_signal *signal);
/* Returns when the bus has dealt with everything sent before; false if it has hung up instead. */
bool test_raw_sync(test_raw *raw);

/* A body of one string; returns its size. `ret_body` holds strlen(text) + 5 bytes or more. */
size_t test_raw_string(const char *text, uint8_t *ret_body);

#endif
