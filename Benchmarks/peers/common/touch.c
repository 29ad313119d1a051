/* Looks at a message as its receiver would. */
#include <string.h>

#include "bench.h"

static volatile uint64_t sum; /* so that no compiler optimizes the reading away */

void bench_touch(const void *bytes, size_t n_bytes)
{
        const unsigned char *byte = bytes;
        uint64_t n = 0, word;
        size_t i = 0;

        for (; i + sizeof word <= n_bytes; i += sizeof word) {
                memcpy(&word, byte + i, sizeof word);
                n += word;
        }
        for (; i < n_bytes; i++)
                n += byte[i];
        sum = n;
}
