/* What the workers of a soak share: orders of the driver, and counts of what they post and hear.
 *
 * All of it is in a file that every worker maps. A count of posts that have been begun is written
 * before the post, one of posts that have returned after it, so a worker that is killed anywhere
 * leaves a lower and an upper bound of what it has posted. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SOAK_N_WORKERS 40
#define SOAK_N_NAMES 4
/* One more name, posted only at rest: an observer that has heard of it has heard of everything that
 * its poster posted before. */
#define SOAK_FENCE SOAK_N_NAMES
/* And one whose state its poster sets before each post, where a history is written. */
#define SOAK_STATE (SOAK_N_NAMES + 1)
#define SOAK_N_POSTERS 4
#define SOAK_N_KEPT 2

/* Maps the board and enters the process as one of its workers. The process ends with the one that
 * started it. */
void soak_begin(const char *path, unsigned worker);
/* Says that the worker does what it is for. */
void soak_ready(void);

/* Returns a name that is posted: one below SOAK_N_NAMES, SOAK_FENCE or SOAK_STATE. */
const char *soak_name(unsigned name);

/* Acts as the driver orders, until killed: on a random choice; at rest, on everything or on the
 * fence. */
#define SOAK_EVERYTHING (~0U)
#define SOAK_ONLY_FENCE (~1U)
__attribute__((noreturn)) void soak_act(void (*act)(unsigned what));

/* Posts names the same way. `post` returns 0 if the post was made. */
__attribute__((noreturn)) void soak_post(int (*post)(unsigned name));

/* Posts one name, and counts it. */
void soak_post_one(unsigned name, int (*post)(unsigned name));

/* An observer that learns how many posts a call stands for: around its registration, then in each
 * call. A total above what was posted since is a violation, unless the table was taken away. */
void soak_will_observe(unsigned name);
void soak_did_observe(unsigned name);
void soak_heard(unsigned name, uint64_t n_posts);

/* An observer that learns only that a name was posted, after soak_did_observe(). */
void soak_noticed(unsigned name);

/* The number of the last message that this worker, or the one before it, has passed or handled. */
uint64_t soak_get_last(unsigned kept);
void soak_set_last(unsigned kept, uint64_t number);

/* A call of this worker, or a request that it holds, begins or has ended. */
void soak_call_begins(void);
void soak_call_has_ended(void);

/* How often the disk was filled or freed: it is full while this is odd. Then messages may not be
 * stored, nor read. */
uint64_t soak_count_disk_changes(void);

/* Whether a history is written, to the file that SOAK_HISTORY names. */
bool soak_has_history(void);

/* Adds a line to the history: what happens here now, with the members `fields` of JSON or NULL.
 * Before what is done, after what has returned: so the lines of all workers are in an order in
 * which it may have happened. */
void soak_note(const char *what, const char *fields);
__attribute__((format(printf, 2, 3))) void soak_note_format(const char *what, const char *format,
                                                            ...);

/* Reports what must not happen. */
__attribute__((format(printf, 1, 2))) void soak_violation(const char *format, ...);
void soak_report(const char *violation);
