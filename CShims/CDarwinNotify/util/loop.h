/* Runs sources on one thread of the library.
 *
 * Each turn asks every source what it waits for, sleeps until an event or a wake-up, dispatches the
 * sources that are ready, and runs the work queued so far. Input and queued work thus alternate. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "darwinnotify/executor.h"
#include "util/wake.h"

typedef struct dn__loop dn__loop;

/* The events that a source waits for. */
typedef struct dn__wait {
        int fd;            /* or -1; valid only in a loop that polls */
        short events;      /* as for poll() */
        uint64_t until_us; /* or DN__NEVER */
} dn__wait;

typedef struct dn__source dn__source;

/* Both run on the loop's thread with no lock held. */
typedef struct dn__source_ops {
        /* Fills in `wait`, which initially waits for nothing, with no deadline. Returns false when
         * there is work to do immediately. */
        bool (*prepare)(dn__source *source, dn__wait *wait);
        /* Does a bounded share of the available work without blocking. Called when the descriptor
         * is ready, the deadline has passed, or prepare() has returned false; may be spurious. */
        void (*dispatch)(dn__source *source);
} dn__source_ops;

/* Embedded in users of the loop. */
struct dn__source {
        const dn__source_ops *ops;
};

typedef struct dn__loop_options {
        const char *thread_name; /* at most 15 bytes */
        bool polls;              /* sources may have descriptors; else sleeps on a word */
        /* The final call, when the loop can no longer be used: on its thread or, if that never
         * started, on the thread that closes it. May be NULL. */
        void (*closed)(void *context);
        void *context;
} dn__loop_options;

#define DN__LOOP_MAX_SOURCES 4

/* Creates a loop; its thread starts when first needed. Returns 0 or a negative errno. */
int dn__loop_new(const dn__loop_options *options, dn__loop **ret_loop);

/* Adds a source, which stays until the loop is closed. Call before the thread starts, or on it. */
void dn__loop_add(dn__loop *loop, dn__source *source);

/* Makes a loop that does not poll the sleeper that others ring without knowing the loop. Any
 * thread, one at a time. The sources are then asked again; later rings of the previous target are
 * ignored, but its memory must stay. */
void dn__loop_set_target(dn__loop *loop, const dn__wake_target *target);

/* Attaches a source to a loop that does not poll, together with the source's target, which is then
 * also rung for the loop's own work. Any thread. Returns false if a source is already attached. */
bool dn__loop_attach(dn__loop *loop, dn__source *source, const dn__wake_target *target);

/* Makes a loop its own target again, so that another loop may sleep on the attached source's word.
 * This loop may have consumed rings of that word: so the attached source is asked once more before
 * the loop sleeps, and rings its target for the next sleeper. Any thread. */
void dn__loop_take_target(dn__loop *loop);

/* Detaches the attached source, whose `dispatch` calls this. */
void dn__loop_detach(dn__loop *loop);

/* Starts the thread if needed. Any thread. Returns 0, -ENOMEM or -EAGAIN. */
int dn__loop_start(dn__loop *loop);

/* Runs work on the loop's thread in call order, starting the thread if needed. Any thread. This is
 * the `enqueue` of an executor whose context is the loop. The caller must keep the loop from being
 * closed, even by the work itself, until this returns. Returns 0, -ENOMEM or -EAGAIN. */
int dn__loop_enqueue(void *loop, dn_work_fn work, void *argument);

/* Asks the sources again what they wait for. Any thread; does nothing on the loop's own, which asks
 * them anyway. */
void dn__loop_wake(dn__loop *loop);

/* Returns whether the caller is on the loop's thread. */
bool dn__loop_is_current(const dn__loop *loop);

/* Runs the currently queued work, for a source whose work must directly follow what it dispatched.
 * Only on the loop's thread. */
void dn__loop_run_queued(dn__loop *loop);

/* Ends the loop once it has run all its work, calls `closed`, and frees it. Does not wait for that
 * unless the thread never started. Any thread, including the loop's own. NULL is allowed. Returns
 * NULL. */
dn__loop *dn__loop_close(dn__loop *loop);
