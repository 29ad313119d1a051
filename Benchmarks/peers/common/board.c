/* The memory in which receivers record what they have heard. */
#include "board.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LOOK_EVERY_NS 50000
#define GIVE_UP_NS 60000000000

_Static_assert(sizeof(board_slot) == 64, "a slot is one cache line");

uint64_t bench_now_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t bench_cpu_ns(void)
{
        struct timespec used;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
        return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

board_slot *board_map(const char *path, size_t n_slots)
{
        int fd = open(path, O_RDWR | O_CLOEXEC);
        board_slot *slots = MAP_FAILED;

        if (fd >= 0)
                slots = mmap(NULL, n_slots * sizeof *slots, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                             0);
        if (slots == MAP_FAILED) {
                perror(path);
                exit(1);
        }
        close(fd);
        return slots;
}

void board_note(board_writer *writer, uint64_t n_posts)
{
        uint64_t before = atomic_fetch_add(&writer->n_begun, n_posts), n = writer->n_observers;

        /* Asking for the time may cost more than reaching an observer. */
        if (n == 1 || before / n != (before + n_posts) / n)
                atomic_store(&writer->slot->last_ns, bench_now_ns());
        atomic_fetch_add(&writer->slot->n_calls, 1);
        /* Last, since it publishes the time. */
        atomic_fetch_add(&writer->slot->n_posts, n_posts);
}

uint64_t board_wait(board_slot *slots, size_t n_slots, const uint64_t *before, uint64_t n_each)
{
        uint64_t deadline_ns = bench_now_ns() + GIVE_UP_NS, last_ns = 0;

        for (size_t i = 0; i < n_slots; i++) {
                while (atomic_load(&slots[i].n_posts) - before[i] < n_each) {
                        if (bench_now_ns() > deadline_ns)
                                return 0;
                        nanosleep(&(struct timespec){.tv_nsec = LOOK_EVERY_NS}, NULL);
                }
                uint64_t ns = atomic_load(&slots[i].last_ns);
                if (ns > last_ns)
                        last_ns = ns;
        }
        return last_ns;
}
