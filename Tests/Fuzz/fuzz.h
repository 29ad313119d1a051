/* Splits the input of a fuzzer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Called by libFuzzer. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

/* A condition that must hold whatever the bytes are. */
#define EXPECT(condition)                                                                        \
        do {                                                                                     \
                if (!(condition)) {                                                              \
                        fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);  \
                        abort();                                                                 \
                }                                                                                \
        } while (0)

/* The remaining bytes. Once there are none, every number is 0 and every text empty. */
typedef struct fuzz_input {
        const uint8_t *bytes;
        size_t n_bytes;
} fuzz_input;

static inline uint64_t fuzz_take(fuzz_input *input, size_t n_bytes)
{
        uint64_t number = 0;

        if (n_bytes > input->n_bytes)
                n_bytes = input->n_bytes;
        memcpy(&number, input->bytes, n_bytes);
        input->bytes += n_bytes;
        input->n_bytes -= n_bytes;
        return number;
}

/* Copies a text of the length in its first byte, or shorter; returns its length. */
static inline size_t fuzz_take_text(fuzz_input *input, char ret_text[256])
{
        size_t n_bytes = fuzz_take(input, 1);

        if (n_bytes > input->n_bytes)
                n_bytes = input->n_bytes;
        memcpy(ret_text, input->bytes, n_bytes);
        ret_text[n_bytes] = '\0';
        input->bytes += n_bytes;
        input->n_bytes -= n_bytes;
        return n_bytes;
}
