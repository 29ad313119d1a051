/* Reads a table through its file, as it is at the moment.
 *
 * Nothing is mapped or written: the file may belong to another user, who may truncate it at any
 * moment, and reading a hole in a mapped file would fill it. A slot may pass to another name while
 * it is being read, unless a process holds it: a reading is valid if the slot still has the tag
 * afterwards. */
#include "inspect/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table/region.h"
#include "table/slot.h"
#include "util/hash.h"
#include "util/host.h"
#include "util/text.h"

typedef struct reading {
        int fd;
        const dn_table_reader *reader;
        uint64_t own_pid;
        unsigned n_used; /* entries that were ever used */
        uint64_t region;
        uint64_t living[DN__SHM_HOLDER_WORDS]; /* one bit for each entry of a living process */
        uint64_t followers[DN__SHM_HOLDER_WORDS];
        uint64_t n_names[DN__SHM_N_PROCESSES]; /* by entry */
        uint64_t tags[DN__SHM_N_SLOTS];
        dn__shm_process processes[DN__SHM_N_PROCESSES];
        dn__shm_slot slot;
        char text[DN__SLOT_NAME_BYTES];
        int32_t pids[DN__SHM_N_PROCESSES];
        dn_table_record record;
} reading;

static bool read_at(int fd, void *memory, size_t n_bytes, size_t offset)
{
        return pread(fd, memory, n_bytes, (off_t)offset) == (ssize_t)n_bytes;
}

static bool has_bit(const uint64_t *words, unsigned index)
{
        return words[index / 64] >> index % 64 & 1;
}

/* --- The beginning -------------------------------------------------------------------------- */

/* The first page, up to what is not read here. */
typedef struct beginning {
        dn__shm_header header;
        uint64_t n_used;
        uint64_t followed;
        uint64_t followers[DN__SHM_HOLDER_WORDS];
} beginning;

static_assert(offsetof(beginning, n_used) == offsetof(dn__shm_table, n_processes_used) &&
                      offsetof(beginning, followers) == offsetof(dn__shm_table, followers),
              "the beginning of a table");

/* Checking whether a process is alive takes a system call. */
static void find_living(reading *reading)
{
        for (unsigned i = 0; i < reading->n_used; i++)
                if (dn__claim_is_taken(reading->fd, DN__SHM_ALIVE + i, 1)) {
                        reading->living[i / 64] |= UINT64_C(1) << i % 64;
                        reading->record.n_processes++;
                }
}

static bool read_beginning(reading *reading)
{
        beginning found;
        struct stat status;

        if (fstat(reading->fd, &status) < 0 || !S_ISREG(status.st_mode) ||
            status.st_size != (off_t)sizeof(dn__shm_table) ||
            !read_at(reading->fd, &found, sizeof(found), 0) ||
            !dn__file_is_sound(&found.header, found.n_used))
                return false;
        reading->region = found.header.region_id;
        reading->n_used = (unsigned)found.n_used;
        memcpy(reading->followers, found.followers, sizeof(found.followers));
        return read_at(reading->fd, reading->tags, sizeof(reading->tags),
                       offsetof(dn__shm_table, tags)) &&
               read_at(reading->fd, reading->processes, reading->n_used * sizeof(dn__shm_process),
                       offsetof(dn__shm_table, processes));
}

/* --- Slots ---------------------------------------------------------------------------------- */

static bool read_slot(reading *reading, size_t index)
{
        uint64_t tag = 0;

        return read_at(reading->fd, &reading->slot, sizeof(reading->slot),
                       offsetof(dn__shm_table, slots) + index * sizeof(dn__shm_slot)) &&
               read_at(reading->fd, &tag, sizeof(tag),
                       offsetof(dn__shm_table, tags) + index * sizeof(tag)) &&
               tag == reading->tags[index];
}

/* Returns whether the slot can be found by its name. */
static bool read_name(reading *reading, size_t index)
{
        uint64_t n_bytes = atomic_load(&reading->slot.n_name_bytes), hash;

        if (n_bytes == 0 || n_bytes >= DN__SLOT_NAME_BYTES - 1)
                return false;
        memcpy(reading->text, (const void *)reading->slot.name, n_bytes);
        reading->text[n_bytes] = '\0';
        hash = dn__hash64(reading->text, n_bytes);
        return strlen(reading->text) == n_bytes && dn__utf8_is_valid(reading->text, n_bytes) &&
               dn__hash_to_tag(hash) == reading->tags[index] &&
               dn__shm_set_of(hash) == index / DN__SHM_SLOTS_PER_SET;
}

/* An unidentified process, or one of another PID namespace, has no pid here. */
static int32_t pid_of(const reading *reading, unsigned process)
{
        uint64_t found = atomic_load(&reading->processes[process].pid);
        bool is_ours = found >> 32 == reading->own_pid >> 32 && !(found & UINT64_C(1) << 31);

        return is_ours ? (int32_t)found : 0;
}

/* A process with two centers on one bus has two entries. */
static void note_holder(reading *reading, unsigned process, size_t *n)
{
        int32_t pid = pid_of(reading, process);

        reading->n_names[process]++;
        for (size_t i = 0; pid && i < *n; i++)
                if (reading->pids[i] == pid)
                        return;
        reading->pids[(*n)++] = pid;
}

static bool is_held(const reading *reading)
{
        for (unsigned i = 0; i < DN__SHM_HOLDER_WORDS; i++)
                if (atomic_load(&reading->slot.holders[i]) & reading->living[i])
                        return true;
        return false;
}

static size_t read_holders(reading *reading)
{
        size_t n = 0;

        for (unsigned i = 0; i < DN__SHM_HOLDER_WORDS; i++) {
                uint64_t holders = atomic_load(&reading->slot.holders[i]) & reading->living[i];

                for (; holders; holders &= holders - 1)
                        note_holder(reading, i * 64 + (unsigned)__builtin_ctzll(holders), &n);
        }
        return n;
}

/* --- The table ------------------------------------------------------------------------------ */

/* Returns whether the name of interest has a slot, or would get one. */
static bool has_room(reading *reading, const char *name)
{
        size_t n_bytes = strlen(name);
        uint64_t hash = dn__hash64(name, n_bytes);
        size_t first = dn__shm_set_of(hash) * DN__SHM_SLOTS_PER_SET;

        for (size_t i = first; i < first + DN__SHM_SLOTS_PER_SET; i++)
                if (reading->tags[i] == 0 || reading->tags[i] == dn__hash_to_tag(hash) ||
                    !read_slot(reading, i) || !is_held(reading))
                        return true;
        return false;
}

static void sum_up(reading *reading)
{
        dn_table_record *record = &reading->record;
        const char *name = reading->reader->name_of_interest;

        for (size_t i = 0; i < DN__SHM_N_SLOTS; i++)
                record->n_named += reading->tags[i] != 0;
        record->region = reading->region;
        record->n_slots = DN__SHM_N_SLOTS;
        record->n_entries = DN__SHM_N_PROCESSES;
        record->has_room = !name || has_room(reading, name);
}

/* --- Reports -------------------------------------------------------------------------------- */

typedef struct report_call {
        const dn_table_reader *reader;
        const dn_table_record *table;
        const dn_name_record *name;
        const dn_process_record *process;
        int r;
} report_call;

static void run_report(void *context)
{
        report_call *call = context;
        const dn_table_reader *reader = call->reader;

        if (call->table)
                call->r = reader->table(call->table, reader->context);
        else if (call->name)
                call->r = reader->name(call->name, reader->context);
        else
                call->r = reader->process(call->process, reader->context);
}

static int report_table(reading *reading)
{
        report_call call = { .reader = reading->reader, .table = &reading->record };

        if (!reading->reader->table)
                return 0;
        sum_up(reading);
        dn__host_call(run_report, &call);
        return call.r;
}

/* A name that a forger put into two slots of its set counts once. */
static bool was_reported(const reading *reading, size_t index, const uint64_t *reported)
{
        for (size_t i = index - index % DN__SHM_SLOTS_PER_SET; i < index; i++)
                if (reported[i % DN__SHM_SLOTS_PER_SET] == reading->tags[index])
                        return true;
        return false;
}

static int report_name(reading *reading, size_t n_holders)
{
        const dn__shm_slot *slot = &reading->slot;
        uint64_t generation = atomic_load(&slot->generation);
        dn_name_record record = {
                .name = reading->text,
                .generation = generation,
                .state = atomic_load(&slot->state),
                .n_holders = n_holders,
                .pids = reading->pids,
                .n_posts = generation - atomic_load(&slot->named),
        };
        report_call call = { .reader = reading->reader, .name = &record };

        if (reading->reader->name)
                dn__host_call(run_report, &call);
        return call.r;
}

/* Skips slots that this library would not write. */
static int report_names(reading *reading)
{
        uint64_t reported[DN__SHM_SLOTS_PER_SET];
        int r = 0;

        for (size_t i = 0; r == 0 && i < DN__SHM_N_SLOTS; i++) {
                size_t n_holders = 0;

                reported[i % DN__SHM_SLOTS_PER_SET] = 0;
                if (reading->tags[i] && read_slot(reading, i) && read_name(reading, i) &&
                    !was_reported(reading, i, reported))
                        n_holders = read_holders(reading);
                if (!n_holders)
                        continue;
                reported[i % DN__SHM_SLOTS_PER_SET] = reading->tags[i];
                r = report_name(reading, n_holders);
        }
        return r;
}

/* Counts the marks that a process has not cleared. */
static uint64_t count_unread(const reading *reading, unsigned process)
{
        uint64_t marks[DN__SHM_MARK_WORDS], n = 0;
        bool is_marked = false;

        for (size_t i = 0; i < DN__SHM_SUMMARY_WORDS; i++)
                is_marked = is_marked || atomic_load(&reading->processes[process].marked[i]);
        if (!is_marked || !read_at(reading->fd, marks, sizeof(marks),
                                   offsetof(dn__shm_table, marks) + process * sizeof(marks)))
                return 0;
        for (size_t i = 0; i < DN__SHM_MARK_WORDS; i++)
                n += (uint64_t)__builtin_popcountll(marks[i]);
        return n;
}

static int report_processes(reading *reading)
{
        report_call call = { .reader = reading->reader };

        for (unsigned i = 0; reading->reader->process && call.r == 0 && i < reading->n_used; i++) {
                dn_process_record record = {
                        .pid = pid_of(reading, i),
                        .n_names = reading->n_names[i],
                        .n_unread = count_unread(reading, i),
                        .follows = has_bit(reading->followers, i),
                };

                call.process = &record;
                if (has_bit(reading->living, i))
                        dn__host_call(run_report, &call);
        }
        return call.r;
}

int dn__table_read(int fd, const dn_table_reader *reader)
{
        reading *reading = aligned_alloc(_Alignof(struct reading), sizeof(*reading));
        int r = -ENODATA;

        if (!reading)
                return -ENOMEM;
        memset(reading, 0, sizeof(*reading));
        reading->fd = fd;
        reading->reader = reader;
        reading->own_pid = dn__region_own_pid();
        if (read_beginning(reading)) {
                find_living(reading);
                r = report_table(reading);
                r = r ? r : report_names(reading);
                r = r ? r : report_processes(reading);
                r = r < 0 ? -EINVAL : r;
        }
        free(reading);
        return r;
}
