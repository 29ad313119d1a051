/* The memory in which receivers record what they have heard. */
#ifndef BENCH_BOARD_H
#define BENCH_BOARD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct board_slot {
        _Atomic uint64_t n_posts;
        _Atomic uint64_t last_ns;
        _Atomic uint64_t n_calls;
        uint64_t reserved[5];
} board_slot;

uint64_t bench_now_ns(void);
uint64_t bench_cpu_ns(void); /* of the calling thread */

/* Maps the file, which lasts until the process ends; ends the process if that fails. */
board_slot *board_map(const char *path, size_t n_slots);

/* A process that records what its observers, `n_observers` of each name, have heard. */
typedef struct board_writer {
        board_slot *slot;
        uint64_t n_observers;
        _Atomic uint64_t n_begun;
} board_writer;

void board_note(board_writer *writer, uint64_t n_posts);

/* Waits until each slot has heard `n_each` posts more than in `before`; its last time, 0: too
 * late. Sleeps in between, so that it takes no processor from those it waits for. */
uint64_t board_wait(board_slot *slots, size_t n_slots, const uint64_t *before, uint64_t n_each);

#endif
