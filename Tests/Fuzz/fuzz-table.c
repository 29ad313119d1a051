/* Writes arbitrary bytes into the shared table between calls of everything that reads it. */
#include "fuzz.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "darwinnotify/inspect.h"
#include "table/slot.h"
#include "util/fork.h"
#include "util/hash.h"

/* Few names, so that an input uses one again; all in one set, so that it fills up. */
#define N_NAMES 24
#define KEY "none" /* of a process without a bus */

typedef struct state {
        dn__region *regions[2]; /* two processes, as far as the table knows */
        dn__shm_slot *held[2][N_NAMES];
} state;

static char names[N_NAMES][32];

static uint64_t hash_of(size_t name)
{
        return dn__hash64(names[name], strlen(names[name]));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
        size_t n = 0;

        (void)argc;
        (void)argv;
        EXPECT(dn__fork_init() == 0);
        for (unsigned i = 0; n < N_NAMES; i++) {
                snprintf(names[n], sizeof(names[n]), "name.%u", i);
                n += dn__shm_set_of(hash_of(n)) == dn__shm_set_of(hash_of(0)) || n % 8 == 7;
        }
        return 0;
}

/* Where a write does harm: words of one set, its slots, the entries of processes, the header. */
static _Atomic uint64_t *pick_word(dn__shm_table *table, fuzz_input *input)
{
        size_t name = fuzz_take(input, 1) % N_NAMES;
        size_t set = dn__shm_set_of(hash_of(name));
        size_t slot = set * DN__SHM_SLOTS_PER_SET + fuzz_take(input, 1) % DN__SHM_SLOTS_PER_SET;
        size_t word = fuzz_take(input, 1);
        size_t process = fuzz_take(input, 1) % 4;
        _Atomic uint64_t *words;

        switch (fuzz_take(input, 1) % 6) {
        case 0:
                return &table->tags[slot];
        case 1:
                words = (_Atomic uint64_t *)&table->slots[slot];
                return &words[word % (sizeof(table->slots[0]) / 8)];
        case 2:
                words = (_Atomic uint64_t *)&table->processes[process];
                return &words[word % (sizeof(table->processes[0]) / 8)];
        case 3:
                return &table->marks[process][slot / 64];
        case 4:
                words = (_Atomic uint64_t *)table;
                return &words[word % (DN__SHM_PAGE_BYTES / 8)];
        default:
                return &table->owners[set];
        }
}

/* The library waits for a set that seems to belong to a living process; here that would only
 * take time. */
static bool would_be_waited_for(const dn__shm_table *table, _Atomic uint64_t *word,
                                uint64_t number)
{
        return word >= table->owners && word < table->owners + DN__SHM_N_SETS && number &&
               dn__shm_owner_process(number) < 2;
}

static void poke(dn__shm_table *table, fuzz_input *input)
{
        _Atomic uint64_t *word = pick_word(table, input);
        uint64_t number = fuzz_take(input, 8);

        if (!would_be_waited_for(table, word, number))
                *word = number;
}

static void hold(state *state, size_t who, size_t name)
{
        dn__shm_slot **slot = &state->held[who][name];
        dn__name held;

        EXPECT(dn__name_init(&held, names[name], DN__REACH_BEYOND) == 0);
        if (!*slot)
                *slot = dn__slot_hold(state->regions[who], &held,
                                      dn__clock_after_us(DN__SLOT_TIMEOUT_US));
}

static void release(state *state, size_t who, size_t name)
{
        dn__slot_release(state->regions[who], state->held[who][name]);
        state->held[who][name] = NULL;
}

static void count(const state *state, size_t who, size_t name)
{
        dn__shm_slot *slot;
        dn__name posted;

        if (state->held[who][name]) {
                (void)dn__slot_count_post(state->held[who][name]);
                return;
        }
        EXPECT(dn__name_init(&posted, names[name], DN__REACH_BEYOND) == 0);
        slot = dn__slot_find(state->regions[who], &posted);
        if (slot)
                (void)dn__slot_count_for_others(state->regions[who], slot, &posted);
}

static int look_at_one(const dn_name_record *record, void *context)
{
        size_t n_bytes = strlen(record->name);

        (void)context;
        EXPECT(n_bytes > 0 && n_bytes <= 511);
        EXPECT(record->n_holders > 0);
        return 0;
}

static void leave(state *state, size_t who)
{
        for (size_t name = 0; name < N_NAMES; name++)
                release(state, who, name);
        state->regions[who] = dn__region_close(state->regions[who]);
}

static void enter(state *state, size_t who)
{
        EXPECT(dn__region_find(KEY, NULL, true, &state->regions[who]) == 0);
        EXPECT(dn__region_enter(state->regions[who]) == 0);
}

static void step(state *state, fuzz_input *input)
{
        size_t who = fuzz_take(input, 1) % 2, name = fuzz_take(input, 1) % N_NAMES;
        const dn__region *region = state->regions[who];

        switch (fuzz_take(input, 1) % 16) {
        case 1:
                leave(state, who);
                enter(state, who);
                break;
        case 2:
        case 3:
                release(state, who, name);
                break;
        case 4:
                dn__region_clear_stale((dn__region *)region, dn__region_get_stale_count(region));
                (void)dn__region_process_is_alive(region, (unsigned)name);
                break;
        case 5:
        case 6:
                count(state, who, name);
                break;
        case 7:
        case 8:
        case 9:
                hold(state, who, name);
                break;
        default:
                poke(region->table, input);
        }
}

/* Empties the table. The next input uses the same one, since a new one would cost more. */
static void empty(const dn__region *region)
{
        size_t first = offsetof(dn__shm_table, owners);

        EXPECT(madvise((unsigned char *)region->table + first, sizeof(dn__shm_table) - first,
                       MADV_REMOVE) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
        static state state;
        fuzz_input input = { bytes, n_bytes };

        for (size_t who = 0; who < 2; who++)
                if (!state.regions[who])
                        enter(&state, who);
        while (input.n_bytes)
                step(&state, &input);
        EXPECT(dn_list_names(KEY, look_at_one, NULL) == 0);
        for (size_t who = 0; who < 2; who++)
                for (size_t name = 0; name < N_NAMES; name++)
                        release(&state, who, name);
        empty(state.regions[0]);
        return 0;
}
