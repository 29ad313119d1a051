/* What the workers of a soak share. */
#include "soak.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MAX_PAUSE_NS 4000000
#define LOOK_EVERY_NS 1000000
/* Of a flood whose history is written, which would fill the disk. */
#define FLOOD_PAUSE_NS 100000

/* When the table is taken away, an observer is notified once more, and of a post that its poster
 * was just counting perhaps twice. */
#define MAX_MORE_IN_A_MOVE (1 + SOAK_N_POSTERS)

/* The driver reads these by their position (board.py). */
typedef struct soak_count {
        _Atomic uint64_t begun;         /* posts, by this worker */
        _Atomic uint64_t returned;      /* posts that have returned 0 */
        _Atomic uint64_t heard;         /* posts that calls stood for */
        _Atomic uint64_t n_calls;
        _Atomic uint64_t all_returned; /* by everybody, before it registered */
        _Atomic uint64_t all_begun;    /* by everybody, after it had registered */
} soak_count;

typedef struct soak_worker {
        _Atomic uint64_t is_ready;
        _Atomic uint64_t rests;     /* nothing is posted until `rest` ends */
        _Atomic uint64_t floods;    /* ordered to post without a pause */
        _Atomic uint64_t order;     /* at rest: what to act on */
        _Atomic uint64_t n_ordered; /* how often */
        _Atomic uint64_t n_obeyed;
        _Atomic uint64_t n_violations;
        _Atomic uint64_t n_open;    /* calls, or requests that it holds */
        _Atomic uint64_t n_ended;
        _Atomic uint64_t last[SOAK_N_KEPT]; /* message that it has passed or handled */
        soak_count counts[SOAK_N_NAMES + 2];
} soak_worker;

typedef struct soak_board {
        _Atomic uint64_t rest;
        _Atomic uint64_t n_disk_changes;
        _Atomic uint64_t n_moves; /* how often the table was taken away of late */
        _Atomic uint64_t is_split; /* there are two tables */
        soak_worker workers[SOAK_N_WORKERS];
} soak_board;

static soak_board *board;
static soak_worker *me;

static const char *const names[SOAK_N_NAMES + 2] = {
        "org.example.soak.one", "org.example.soak.two",   "org.example.soak.three",
        "soak_four",            "org.example.soak.fence", "org.example.soak.state"};

/* --- The history ----------------------------------------------------------------------------- */

static int history = -1;

static void begin_history(void)
{
        const char *path = getenv("SOAK_HISTORY");

        if (path && *path)
                history = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
}

bool soak_has_history(void)
{
        return history >= 0;
}

/* One write, so that lines of several processes do not mix. */
void soak_note(const char *what, const char *fields)
{
        char line[512];
        struct timespec now;
        int n_bytes;

        if (history < 0)
                return;
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        n_bytes = snprintf(line, sizeof line, "{\"ns\":%lld%09ld,\"pid\":%d,\"what\":\"%s\"%s%s}\n",
                           (long long)now.tv_sec, now.tv_nsec, (int)getpid(), what,
                           fields ? "," : "", fields ? fields : "");
        if (write(history, line, (size_t)n_bytes) != n_bytes)
                soak_violation("the history cannot be written");
}

void soak_note_format(const char *what, const char *format, ...)
{
        char fields[256];
        va_list arguments;

        if (history < 0)
                return;
        va_start(arguments, format);
        (void)vsnprintf(fields, sizeof fields, format, arguments);
        va_end(arguments);
        soak_note(what, fields);
}

/* --- Beginning ------------------------------------------------------------------------------ */

void soak_begin(const char *path, unsigned worker)
{
        int fd = open(path, O_RDWR | O_CLOEXEC);

        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (fd >= 0)
                board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (fd < 0 || board == MAP_FAILED || worker >= SOAK_N_WORKERS) {
                perror(path);
                exit(1);
        }
        close(fd);
        me = &board->workers[worker];
        begin_history();
}

void soak_ready(void)
{
        soak_note("ready", NULL);
        atomic_store(&me->is_ready, 1);
}

const char *soak_name(unsigned name)
{
        return names[name];
}

static void sleep_ns(long ns)
{
        nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* --- Acting -------------------------------------------------------------------------------- */

static void obey(void (*act)(unsigned order))
{
        while (atomic_load(&me->n_obeyed) < atomic_load(&me->n_ordered)) {
                act((unsigned)atomic_load(&me->order));
                atomic_fetch_add(&me->n_obeyed, 1);
        }
}

void soak_act(void (*act)(unsigned what))
{
        unsigned seed = (unsigned)getpid();

        soak_ready();
        for (;;) {
                while (atomic_load(&board->rest)) {
                        atomic_store(&me->rests, 1);
                        obey(act);
                        sleep_ns(LOOK_EVERY_NS);
                }
                atomic_store(&me->rests, 0);
                if (atomic_load(&board->rest))
                        continue; /* the driver may have seen that it rests */
                act((unsigned)rand_r(&seed));
                if (!atomic_load(&me->floods))
                        sleep_ns(rand_r(&seed) % MAX_PAUSE_NS);
                else if (soak_has_history())
                        sleep_ns(FLOOD_PAUSE_NS);
        }
}

void soak_post_one(unsigned name, int (*post)(unsigned name))
{
        atomic_fetch_add(&me->counts[name].begun, 1);
        soak_note_format("post", "\"name\":\"%s\"", names[name]);
        if (post(name) != 0)
                return;
        soak_note_format("posted", "\"name\":\"%s\"", names[name]);
        atomic_fetch_add(&me->counts[name].returned, 1);
}

static int (*post)(unsigned name);

static void post_one(unsigned name)
{
        soak_post_one(name, post);
}

static void post_some(unsigned what)
{
        if (what == SOAK_ONLY_FENCE)
                post_one(SOAK_FENCE);
        else if (what != SOAK_EVERYTHING)
                post_one(what % SOAK_N_NAMES);
        else
                for (unsigned name = 0; name < SOAK_N_NAMES; name++)
                        post_one(name);
}

void soak_post(int (*post_name)(unsigned name))
{
        post = post_name;
        soak_act(post_some);
}

/* --- Hearing ------------------------------------------------------------------------------- */

static uint64_t sum_begun(unsigned name)
{
        uint64_t sum = 0;

        for (unsigned i = 0; i < SOAK_N_WORKERS; i++)
                sum += atomic_load(&board->workers[i].counts[name].begun);
        return sum;
}

static uint64_t sum_returned(unsigned name)
{
        uint64_t sum = 0;

        for (unsigned i = 0; i < SOAK_N_WORKERS; i++)
                sum += atomic_load(&board->workers[i].counts[name].returned);
        return sum;
}

/* With two tables, signals may be older: then what the driver has set stays. */
void soak_will_observe(unsigned name)
{
        soak_note_format("registers", "\"name\":\"%s\"", names[name]);
        if (!atomic_load(&board->is_split))
                atomic_store(&me->counts[name].all_returned, sum_returned(name));
}

void soak_did_observe(unsigned name)
{
        atomic_store(&me->counts[name].all_begun, sum_begun(name));
        soak_note_format("observes", "\"name\":\"%s\"", names[name]);
}

static void count_call(unsigned name)
{
        atomic_fetch_add(&me->counts[name].n_calls, 1);
}

void soak_heard(unsigned name, uint64_t n_posts)
{
        soak_count *count = &me->counts[name];
        uint64_t heard = atomic_fetch_add(&count->heard, n_posts) + n_posts;
        uint64_t posted = sum_begun(name) - atomic_load(&count->all_returned) +
                          MAX_MORE_IN_A_MOVE * atomic_load(&board->n_moves);

        soak_note_format("hears", "\"name\":\"%s\",\"posts\":%llu", names[name],
                         (unsigned long long)n_posts);
        count_call(name);
        if (heard > posted)
                soak_violation("%s: heard %llu of %llu posts, now %llu at once, %llu moves",
                               names[name], (unsigned long long)heard, (unsigned long long)posted,
                               (unsigned long long)n_posts,
                               (unsigned long long)atomic_load(&board->n_moves));
}

void soak_noticed(unsigned name)
{
        soak_note_format("notices", "\"name\":\"%s\"", names[name]);
        count_call(name);
}

/* --- Messages ------------------------------------------------------------------------------ */

uint64_t soak_get_last(unsigned kept)
{
        return atomic_load(&me->last[kept]);
}

void soak_set_last(unsigned kept, uint64_t number)
{
        atomic_store(&me->last[kept], number);
}

void soak_call_begins(void)
{
        atomic_fetch_add(&me->n_open, 1);
}

void soak_call_has_ended(void)
{
        atomic_fetch_add(&me->n_ended, 1);
        atomic_fetch_sub(&me->n_open, 1);
}

uint64_t soak_count_disk_changes(void)
{
        return atomic_load(&board->n_disk_changes);
}

/* --- Violations ---------------------------------------------------------------------------- */

void soak_report(const char *violation)
{
        (void)dprintf(STDERR_FILENO, "VIOLATION %s\n", violation);
        atomic_fetch_add(&me->n_violations, 1);
}

void soak_violation(const char *format, ...)
{
        char text[512];
        va_list arguments;

        va_start(arguments, format);
        (void)vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        soak_report(text);
}
