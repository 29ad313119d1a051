/* Writes arbitrary bytes over what wakes processes through the table, between posts and looks.
 *
 * The parts that say which name a slot has and how often it was posted are left alone, so nobody
 * hears of more posts than were made. Once the holders are right again, everybody hears of the next
 * post. */
#include "fuzz.h"

#include <fcntl.h>
#include <unistd.h>

#include "carrier/direct/carry.h"
#include "carrier/direct/marks.h"
#include "carrier/direct/ring.h"
#include "center/fanout.h"
#include "inspect/follower.h"
#include "util/hash.h"
#include "util/wake.h"

#define N_NAMES 8
#define N_PEERS 2
#define N_DAMAGED 512 /* slots that seem to have names: more than are sorted at once */
#define KEY "fuzz"

/* A process, as far as the table knows. */
typedef struct peer {
        dn__region *region;
        dn__topic *topics[N_NAMES];
        uint64_t n_heard[N_NAMES];
} peer;

typedef struct state {
        peer peers[N_PEERS];
        dn__region *next;      /* of another table */
        dn__follower *follower; /* NULL: not opened by this input */
        uint64_t n_posted[N_NAMES];
        uint64_t n_reported[N_NAMES];
} state;

static dn__name names[N_NAMES];
static state all;

static dn__region *open_region(const char *key)
{
        dn__region *region = NULL;

        EXPECT(dn__region_open(key, &region) == 0);
        return region;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
        static char texts[N_NAMES][16];

        (void)argc;
        (void)argv;
        EXPECT(dn__fork_init() == 0);
        for (unsigned i = 0; i < N_NAMES; i++) {
                snprintf(texts[i], sizeof(texts[i]), "name.%u", i);
                EXPECT(dn__name_init(&names[i], texts[i], DN__REACH_BEYOND) == 0);
        }
        all.next = open_region(KEY ".next");
        for (size_t who = 0; who < N_PEERS; who++) {
                all.peers[who].region = open_region(KEY);
                for (size_t i = 0; i < N_NAMES; i++)
                        EXPECT((all.peers[who].topics[i] = calloc(1, sizeof(dn__topic))));
        }
        return 0;
}

/* There is one thread: no lock is needed. */
static dn__shm_slot *slot_of(const peer *peer, size_t name) DN__TSA(no_thread_safety_analysis)
{
        return peer->topics[name]->slot;
}

/* --- Posts and looks -------------------------------------------------------------------------- */

static size_t find_name(const char *text)
{
        size_t i = 0;

        while (i < N_NAMES && strcmp(names[i].text, text) != 0)
                i++;
        EXPECT(i < N_NAMES);
        return i;
}

static void post(const peer *poster, size_t name)
{
        dn__shm_slot *slot = slot_of(poster, name);

        (void)dn__slot_count_post(slot);
        all.n_posted[name]++;
        dn__ring_holders(poster->region, slot);
}

/* As by a process that does not hold the name. */
static void post_for_others(size_t name)
{
        dn__post post = { .name = names[name] };

        dn__slot_count_for_others(all.peers[0].region, &post);
        EXPECT(post.slot);
        all.n_posted[name]++;
        dn__ring_holders(all.peers[0].region, post.slot);
}

static void hear(peer *peer, size_t name) DN__TSA(no_thread_safety_analysis)
{
        dn__batch batch = { 0 };

        peer->n_heard[name] += dn__fanout_counted(peer->topics[name], UINT64_MAX, &batch);
        EXPECT(peer->n_heard[name] <= all.n_posted[name]);
}

static void look(void *context, size_t slot_index)
{
        char text[DN__SLOT_NAME_BYTES];
        peer *peer = context;
        dn__name name;

        EXPECT(slot_index < DN__SHM_N_SLOTS);
        if (dn__slot_read_name(peer->region, slot_index, text, &name))
                hear(peer, find_name(text));
}

static dn__wake_word *word_of(const peer *peer)
{
        return &peer->region->table->processes[peer->region->process].wake;
}

static void receive(peer *peer)
{
        dn__wake_begin(word_of(peer));
        (void)dn__marks_take(peer->region, look, peer);
        EXPECT(!dn__ring_is_marked(peer->region));
}

static void catch_up(peer *peer)
{
        for (size_t i = 0; i < N_NAMES; i++)
                hear(peer, i);
}

/* --- Following -------------------------------------------------------------------------------- */

static int report(const dn_post_record *record, void *context)
{
        size_t name = find_name(record->name);

        (void)context;
        all.n_reported[name] += record->n_posts;
        EXPECT(record->n_posts > 0 && all.n_reported[name] <= all.n_posted[name]);
        return 0;
}

static void follow(fuzz_input *input)
{
        dn_watcher watcher = { .post = report };
        dn_post_record record = { .name = names[fuzz_take(input, 1) % N_NAMES].text };
        bool notes = fuzz_take(input, 1) & 1;

        if (!all.follower)
                EXPECT(dn__follower_open(KEY, &all.follower) == 0);
        record.generation = fuzz_take(input, 8);
        record.region = all.peers[0].region->id;
        if (notes)
                (void)dn__follower_note(all.follower, &record);
        else
                EXPECT(dn__follower_read(all.follower, "", &watcher) == 0);
}

static void leave(const peer *peer, size_t name, bool is_behind)
{
        const dn__region *region = peer->region;
        dn__post post = { .name = names[name], .slot = slot_of(peer, name), .generation = 1 };

        (void)dn__carry(peer->region, all.next, is_behind);
        EXPECT(dn__region_was_left(region));
        (void)dn__slot_carry_post(all.next, region, &post);
}

/* --- Bytes ------------------------------------------------------------------------------------ */

static _Atomic uint64_t *pick_word(const peer *peer, fuzz_input *input)
{
        dn__shm_table *table = peer->region->table;
        dn__shm_process *process = &table->processes[fuzz_take(input, 1) % 4];
        size_t index = fuzz_take(input, 2), name = fuzz_take(input, 1) % N_NAMES;
        dn__shm_slot *slot = slot_of(peer, name);

        switch (fuzz_take(input, 1) % 12) {
        case 0:
                return &table->n_processes_used;
        case 1:
                return &table->watched;
        case 2:
                return &table->watchers[index % DN__SHM_HOLDER_WORDS];
        case 3:
                return &table->moved;
        case 4:
                return &table->carried;
        case 5:
                return &process->held[index % DN__SHM_SUMMARY_WORDS];
        case 6:
                return &slot->posted_ns;
        case 7:
                return &slot->holders[index % DN__SHM_HOLDER_WORDS];
        case 8:
                return &table->marks[process - table->processes][index % DN__SHM_MARK_WORDS];
        case 9:
                return &table->marks[process - table->processes][(slot - table->slots) / 64];
        default:
                return &process->marked[index % DN__SHM_SUMMARY_WORDS];
        }
}

static void poke(const peer *peer, fuzz_input *input)
{
        _Atomic uint64_t *word = pick_word(peer, input);

        atomic_store(word, fuzz_take(input, 8));
}

static void step(fuzz_input *input)
{
        peer *peer = &all.peers[fuzz_take(input, 1) % N_PEERS];
        size_t name = fuzz_take(input, 1) % N_NAMES;

        switch (fuzz_take(input, 1) % 16) {
        case 0:
                leave(peer, name, fuzz_take(input, 1) & 1);
                break;
        case 1:
                dn__ring_all(peer->region);
                break;
        case 2:
                dn__ring_watch(peer->region);
                break;
        case 3:
                dn__ring_unwatch(peer->region);
                break;
        case 4:
                catch_up(peer);
                break;
        case 5:
                (void)dn__wake_fall_asleep(word_of(peer));
                break;
        case 6:
                atomic_store(word_of(peer), (uint32_t)fuzz_take(input, 4));
                break;
        case 7:
                follow(input);
                break;
        case 8:
                post_for_others(name);
                break;
        case 9:
                post(peer, name);
                break;
        case 10:
        case 11:
                receive(peer);
                break;
        default:
                poke(peer, input);
        }
}

/* --- Each input ------------------------------------------------------------------------------- */

/* Empties a table. Each input uses the same one, since a new one would cost more. */
static void empty(const dn__region *region)
{
        size_t first = offsetof(dn__shm_table, owners);

        EXPECT(fallocate(region->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)first,
                         (off_t)(sizeof(dn__shm_table) - first)) == 0);
        atomic_store(&region->table->n_processes_used, N_PEERS + 1);
        atomic_store(&region->table->watched, 0);
        for (size_t i = 0; i < DN__SHM_HOLDER_WORDS; i++)
                atomic_store(&region->table->watchers[i], 0);
        atomic_store(&region->table->moved, 0);
        atomic_store(&region->table->carried, 0);
}

static void hold_all(peer *peer) DN__TSA(no_thread_safety_analysis)
{
        for (size_t i = 0; i < N_NAMES; i++) {
                dn__topic *topic = peer->topics[i];

                topic->slot = dn__slot_hold(peer->region, names[i].hash, names[i].text,
                                            names[i].n_bytes);
                EXPECT(topic->slot);
                dn__list_init(&topic->inboxes);
                topic->generation = dn__slot_get_generation(topic->slot);
                peer->n_heard[i] = 0;
        }
}

static void damage_tags(dn__shm_table *table)
{
        for (size_t i = 0; i < N_DAMAGED; i++)
                if (atomic_load(&table->tags[i]) == 0)
                        atomic_store(&table->tags[i], 1);
}

static void begin(void)
{
        empty(all.next);
        empty(all.peers[0].region);
        for (size_t who = 0; who < N_PEERS; who++)
                hold_all(&all.peers[who]);
        damage_tags(all.peers[0].region->table);
        for (size_t i = 0; i < N_NAMES; i++)
                all.n_posted[i] = all.n_reported[i] = 0;
}

static void restore_holders(void)
{
        dn__shm_table *table = all.peers[0].region->table;

        atomic_store(&table->n_processes_used, N_PEERS + 1);
        for (size_t who = 0; who < N_PEERS; who++)
                for (size_t i = 0; i < N_NAMES; i++)
                        atomic_fetch_or(&slot_of(&all.peers[who], i)->holders[0],
                                        UINT64_C(1) << all.peers[who].region->process);
}

/* Earlier posts that were not heard of are delivered, too. */
static void check_that_posts_are_heard(peer *poster, peer *receiver)
{
        dn__wake_word *word = word_of(receiver);
        uint32_t asleep;

        receive(receiver);
        asleep = dn__wake_fall_asleep(word);
        for (size_t i = 0; i < N_NAMES; i++)
                post(poster, i);
        EXPECT(asleep && atomic_load(word) != asleep);
        EXPECT(dn__ring_is_marked(receiver->region));
        receive(receiver);
        for (size_t i = 0; i < N_NAMES; i++)
                EXPECT(receiver->n_heard[i] == all.n_posted[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
        fuzz_input input = { bytes, n_bytes };

        begin();
        while (input.n_bytes)
                step(&input);
        restore_holders();
        check_that_posts_are_heard(&all.peers[0], &all.peers[1]);
        check_that_posts_are_heard(&all.peers[1], &all.peers[0]);
        all.follower = dn__follower_close(all.follower);
        return 0;
}
