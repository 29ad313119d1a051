/* Compiles the code of the ring with atomic operations that are steps, and a simulated futex(). */
#pragma once

/* Before each of them the scheduler decides. Of the values that they read, only those are recorded
 * that the thread still knows after its next step. */
static void step(const volatile void *address, int operation);
static void note(uint64_t value);
static void note_if_kept(const volatile void *address, uint64_t value);
static void note_unless_a_ring(const volatile void *address, uint64_t value);

#define STEP(address, operation, note)                                                             \
        __extension__({                                                                            \
                step(address, __COUNTER__);                                                        \
                __auto_type value_ = (operation);                                                  \
                note(address, (uint64_t)value_);                                                   \
                value_;                                                                            \
        })
#define NOTE(address, value) note(value)
#define NOTE_IF_KEPT(address, value) note_if_kept(address, value)
#define NOTE_UNLESS_A_RING(address, value) note_unless_a_ring(address, value)
#define NOTE_IF_NUMBERED(address, value) (sizeof(*(address)) == 4 ? note(value) : (void)0)
#define FORGET(address, value) ((void)(value))
#define IN_ORDER memory_order_seq_cst

#undef atomic_load
#undef atomic_store
#undef atomic_exchange
#undef atomic_fetch_add
#undef atomic_fetch_or
#undef atomic_fetch_and
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_weak
#define atomic_load(at) STEP(at, atomic_load_explicit(at, IN_ORDER), NOTE_IF_KEPT)
#define atomic_store(at, value)                                                                    \
        (step(at, __COUNTER__), atomic_store_explicit(at, value, IN_ORDER))
#define atomic_exchange(at, value) STEP(at, atomic_exchange_explicit(at, value, IN_ORDER), NOTE)
#define atomic_fetch_add(at, value)                                                                \
        STEP(at, atomic_fetch_add_explicit(at, value, IN_ORDER), NOTE_UNLESS_A_RING)
#define atomic_fetch_or(at, value)                                                                 \
        STEP(at, atomic_fetch_or_explicit(at, value, IN_ORDER), NOTE_IF_NUMBERED)
#define atomic_fetch_and(at, value)                                                                \
        STEP(at, atomic_fetch_and_explicit(at, value, IN_ORDER), FORGET)
#define atomic_compare_exchange_strong(at, expected, value)                                        \
        STEP(at, atomic_compare_exchange_strong_explicit(at, expected, value, IN_ORDER, IN_ORDER), \
             NOTE)
#define atomic_compare_exchange_weak atomic_compare_exchange_strong

static long pretend(long number, const volatile void *word, int operation, uint32_t value,
                    uint32_t bits);

#define syscall(number, word, operation, value, until, other, bits)                                \
        ((void)(until), pretend(number, word, operation, value, bits))
#define dn__wake_rouse_block model_wake_rouse_block
#define dn__wake_rouse model_wake_rouse
#define dn__wake_stay_asleep model_wake_stay_asleep
#define dn__ring_holders model_ring_holders
#define dn__ring_all model_ring_all
#define dn__ring_follow model_ring_follow
#define dn__ring_unfollow model_ring_unfollow
#define dn__ring_is_marked model_ring_is_marked
#define dn__ring_take model_ring_take
#define dn__region_close model_region_close
#define dn__region_find model_region_find
#define dn__region_enter model_region_enter
#define dn__region_reserve model_region_reserve
#define dn__region_set_stale model_region_set_stale
#define dn__region_own_pid model_region_own_pid
#define dn__region_clear_stale model_region_clear_stale
#define dn__region_leave model_region_leave
#define dn__region_process_is_alive model_region_process_is_alive
#include "direct/ring.c"
#include "table/region.c"
#include "table/slot.h"
#include "util/wake.c"

#include <linux/futex.h>
