/* FNV-1a, the hash used outside the process: 64 bits, folded, in shared memory and the table's file
 * name; 128 bits in the D-Bus interface of long names. Changing it changes these formats. */
#pragma once

#include <stddef.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 dn__u128;

static inline uint64_t dn__hash64(const void *bytes, size_t n_bytes)
{
        const unsigned char *p = bytes;
        uint64_t hash = UINT64_C(0xcbf29ce484222325);

        for (size_t i = 0; i < n_bytes; i++)
                hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
        /* The low bits, which pick the bucket, are weak in FNV: fold the high half in. */
        return hash ^ (hash >> 32);
}

/* Returns the hash as a tag, which is never 0, so that 0 can mean that there is none. */
static inline uint64_t dn__hash_to_tag(uint64_t hash)
{
        return hash ? hash : 1;
}

static inline dn__u128 dn__hash128(const void *bytes, size_t n_bytes)
{
        const unsigned char *p = bytes;
        const dn__u128 prime = ((dn__u128)1 << 88) + 0x13b;
        dn__u128 hash = ((dn__u128)UINT64_C(0x6c62272e07bb0142) << 64) |
                        UINT64_C(0x62b821756295c58d);

        for (size_t i = 0; i < n_bytes; i++)
                hash = (hash ^ p[i]) * prime;
        return hash;
}
