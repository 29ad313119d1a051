/* The command line that every contender of the comparison has.
 *
 *     receive BOARD SLOT N_NAMES N_OBSERVERS PREFIX  observes PREFIX.n0 … , N_OBSERVERS times each
 *     echo PREFIX                                    posts PREFIX.pong for each PREFIX.ping
 *     latency BOARD N_SLOTS N_EACH N_WARM_UP REST_US N_POSTS PREFIX
 *                                                    times posts of PREFIX.n0, one after the other
 *     roundtrip N_POSTS PREFIX                       times PREFIX.ping until PREFIX.pong
 *     flood MS N_NAMES PAUSE_US EACH PREFIX          posts all names in turn, fast or with pauses
 *     stalled MS PREFIX                              posts PREFIX.n0 to a bus that does not read
 *     first PREFIX                                   posts PREFIX.n0 once, then ends
 *
 * Each says "ready" on its standard output when it can begin; all posters but `first` then
 * wait for a line on standard input, print figures, then "done". All end when standard input does.
 *
 * `latency` prints a line for each post but the first N_WARM_UP: ns from before the post until it
 * was heard, by all N_SLOTS receivers with their N_EACH observers; ns until the post returned; ns
 * of processor time of the posting thread. `roundtrip` prints one number a line: ns.
 *
 * `flood` prints: posts, ns when it began and when all was handed over (CLOCK_MONOTONIC); with
 * EACH 1, a peer that merges posts of one name while the bus is busy waits, so that each is sent by
 * itself. `stalled` prints: posts, ns, resident bytes before and after, and how it ended: "taken",
 * "memory" (1 GiB is used), "blocked" (the last post has not returned), "refused".
 *
 * BOARD is a file that all map: slots of 64 bytes, each three little-endian 64-bit numbers (posts
 * heard, ns of the last one by CLOCK_MONOTONIC, calls) and zeros. A call that stands for several
 * posts counts them all. With N_OBSERVERS above 1 the time is taken when the last has heard. */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

/* The number of posts that may wait for the bus at once when each is to be sent by itself. */
#define BENCH_GATHERED 32

/* The peer calls it for each notification, on any thread. */
typedef void (*bench_heard)(void *context, uint64_t n_posts);

/* A way to post. Results: 0 or more is success. */
typedef struct bench_peer {
        int (*open)(void);
        int (*connect)(void); /* what is not needed for one post; may be NULL */
        /* The name is borrowed. */
        int (*observe)(const char *name, bench_heard heard, void *context);
        /* After all are observed: returns when no later post can be missed; NULL: they are not. */
        int (*settle)(void);
        int (*prepare)(const char *name); /* of a name, before its posts are timed; may be NULL */
        int (*post)(const char *name);
        int (*process)(int timeout_ms); /* waits for messages; NULL: threads of the peer do */
        int (*pace)(void);  /* after each post of a flood: waits if much is queued; may be NULL */
        int (*pace_each)(void); /* instead of pace when each post is to be sent by itself: after
                                   every BENCH_GATHERED posts; may be NULL */
        int (*flush)(void); /* waits until all is handed over; may be NULL */
} bench_peer;

int bench_main(int argc, char **argv, const bench_peer *peer);

/* For peers whose library has one callback for everything: who observes which name.
 * bench_table_add() returns 1 if the name is new. The string stays with the table. */
int bench_table_add(const char *name, bench_heard heard, void *context);
void bench_table_call(const char *name);

/* For peers whose posts carry a message: looks at every byte of it. */
void bench_touch(const void *bytes, size_t n_bytes);

/* For peers whose names have two parts: splits at the last dot. Returns the second part. */
const char *bench_split(const char *name, char ret_first[256]);

#endif
