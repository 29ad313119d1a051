/* Wakes a thread that sleeps until a memory word says that it was rung, in this process or another.
 *
 * The sleeper declares itself awake, looks for work, and sleeps only if nobody has rung since:
 *
 *     for (;;) {
 *             dn__wake_begin(word);
 *             ... do all the work there is ...
 *             if ((asleep = dn__wake_fall_asleep(word)))
 *                     (void)dn__wake_stay_asleep(target, asleep, DN__NEVER);
 *     }
 *
 * Others add work, then ring. No ring is lost, and while the sleeper is awake ringing needs no
 * system call. A word has one sleeper.
 *
 * A ringer may be stopped or die before the system call that wakes the sleeper. So until that call
 * has returned, the word says that the sleeper is being woken, and every other ringer also wakes
 * it. A sleep number distinguishes this sleep from the next.
 *
 * Up to 32 sleepers of several processes form a block, of which one system call wakes any: they
 * sleep on the number of its rings, each with a bit of its own. A sleeper reads that number, then
 * its word, and sleeps while the number is the same. A ringer sets the word, counts the ring, and
 * wakes: it finds the sleeper asleep, or has changed the number before the kernel compares it. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* May be in memory that other processes share and could damage: an invalid value counts as a
 * sleeper to be woken. So does 0, until the sleeper starts. */
typedef _Atomic uint32_t dn__wake_word;

/* The lowest bits of the word. Ringing sets the second bit, whatever the first is. */
typedef enum dn__wake_state {
        DN__WAKE_AWAKE = 0,
        DN__WAKE_ASLEEP = 1,
        DN__WAKE_RUNG = 2,      /* combined with awake, or being woken */
        DN__WAKE_BEING_WOKEN = 3,
        DN__WAKE_DAMAGED = 4,
} dn__wake_state;

#define DN__WAKE_STATE UINT32_C(0x00000003)
#define DN__WAKE_NUMBER UINT32_C(0x000ffffc) /* the sleep number */
#define DN__WAKE_OURS UINT32_C(0xd2a00000)

static inline dn__wake_state dn__wake_state_of(uint32_t value)
{
        uint32_t rest = value & ~(DN__WAKE_NUMBER | DN__WAKE_STATE);

        return rest == DN__WAKE_OURS ? (dn__wake_state)(value & DN__WAKE_STATE) : DN__WAKE_DAMAGED;
}

#define DN__WAKE_BLOCK 32

/* How to reach a sleeper. */
typedef struct dn__wake_target {
        dn__wake_word *word;
        _Atomic uint32_t *n_rings; /* of its block; NULL: it sleeps on its word, in this process */
        uint32_t bit;              /* in its block */
} dn__wake_target;

/* Clears earlier rings: anyone looking for work from here on sees the work they announced. */
static inline void dn__wake_begin(dn__wake_word *word)
{
        uint32_t before = atomic_fetch_and(word, ~DN__WAKE_STATE);

        if (dn__wake_state_of(before) == DN__WAKE_DAMAGED)
                (void)atomic_exchange(word, DN__WAKE_OURS | DN__WAKE_AWAKE);
}

/* The first half of sleeping. Returns the word's value while nobody rings, or 0 if somebody already
 * has. */
static inline uint32_t dn__wake_fall_asleep(dn__wake_word *word)
{
        uint32_t value = atomic_load(word), asleep;

        if (dn__wake_state_of(value) != DN__WAKE_AWAKE)
                return 0;
        asleep = DN__WAKE_OURS | ((value + DN__WAKE_STATE + 1) & DN__WAKE_NUMBER) | DN__WAKE_ASLEEP;
        return atomic_compare_exchange_strong(word, &value, asleep) ? asleep : 0;
}

/* The first half of ringing. Returns 0, or the word's nonzero value if the sleeper must be woken;
 * pass it to dn__wake_settle() afterwards. Writes nothing if the word is already rung: in a flood
 * the cache line stays shared. */
static inline uint32_t dn__wake_set_rung(dn__wake_word *word)
{
        dn__wake_state state = dn__wake_state_of(atomic_load(word));
        uint32_t before;

        if (state == DN__WAKE_RUNG)
                return 0;
        before = atomic_fetch_or(word, DN__WAKE_RUNG);
        state = dn__wake_state_of(before);
        return state == DN__WAKE_AWAKE || state == DN__WAKE_RUNG ? 0 : before | DN__WAKE_RUNG;
}

/* The last step of ringing: nobody else needs to wake the sleeper from this sleep. */
static inline void dn__wake_settle(dn__wake_word *word, uint32_t rung)
{
        uint32_t settled = (rung & ~DN__WAKE_STATE) | DN__WAKE_RUNG;

        if (dn__wake_state_of(rung) == DN__WAKE_BEING_WOKEN)
                (void)atomic_compare_exchange_strong(word, &rung, settled);
}

/* The second half of ringing: wakes those of a block whose bits are set. */
void dn__wake_rouse_block(_Atomic uint32_t *n_rings, uint32_t bits);

/* The same for one sleeper. */
void dn__wake_rouse(const dn__wake_target *target);

static inline void dn__wake_ring(const dn__wake_target *target)
{
        uint32_t rung = dn__wake_set_rung(target->word);

        if (!rung)
                return;
        dn__wake_rouse(target);
        dn__wake_settle(target->word, rung);
}

/* The second half of sleeping; `asleep` is the result of dn__wake_fall_asleep(). Sleeps until
 * somebody rings or until the deadline. May return earlier. Returns false at the deadline. */
bool dn__wake_stay_asleep(const dn__wake_target *target, uint32_t asleep, uint64_t until_us);
