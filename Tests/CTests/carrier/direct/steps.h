/* Atomic operations that are steps of a model: before each of them, a scheduler decides.
 *
 * Include it before the code that is compiled into the model. Of the values that operations read,
 * only those are recorded that the thread still knows after its next step. */
#ifndef DN_STEPS_H
#define DN_STEPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static void step(const volatile void *address, int place);
static void note(uint64_t value);
static void note_if_kept(const volatile void *address, uint64_t value);

#define STEP(address, operation, note)                                                             \
        __extension__({                                                                            \
                step(address, __COUNTER__);                                                        \
                __auto_type value_ = (operation);                                                  \
                note(address, (uint64_t)value_);                                                   \
                value_;                                                                            \
        })
#define NOTE(address, value) note(value)
#define NOTE_IF_KEPT(address, value) note_if_kept(address, value)
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
#define atomic_fetch_add(at, value) STEP(at, atomic_fetch_add_explicit(at, value, IN_ORDER), NOTE)
#define atomic_fetch_or(at, value)                                                                 \
        STEP(at, atomic_fetch_or_explicit(at, value, IN_ORDER), NOTE_IF_NUMBERED)
#define atomic_fetch_and(at, value)                                                                \
        STEP(at, atomic_fetch_and_explicit(at, value, IN_ORDER), FORGET)
#define atomic_compare_exchange_strong(at, expected, value)                                        \
        STEP(at, atomic_compare_exchange_strong_explicit(at, expected, value, IN_ORDER, IN_ORDER), \
             NOTE)
#define atomic_compare_exchange_weak atomic_compare_exchange_strong

#endif
