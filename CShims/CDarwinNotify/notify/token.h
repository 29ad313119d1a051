/* Tokens: registrations of names. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "darwinnotify/executor.h"
#include "darwinnotify/observer.h"
#include "darwinnotify/token.h"
#include "delivery/topic.h"
#include "notify/file-watch.h"

/* A pipe that receives the tokens of one or more registrations (descriptor.c). */
typedef struct dn__pipe dn__pipe;

/* Where the posts of a token go: to a function of the host or, without one, into a pipe. */
typedef struct dn__token_target {
        dn_token_handler handler; /* owned */
        dn__pipe *pipe;           /* guarded by descriptor.c; NULL once the token is cancelled */
        int token;                /* set before the first delivery */
} dn__token_target;

/* What a token owns. */
typedef struct dn__registration {
        dn__topic *topic;         /* held */
        dn_observer *observer;    /* owned; NULL: the token is only checked */
        dn__token_target *target; /* borrowed from the observer; NULL: the token is only checked */
        dn__file_watch *watch;    /* owned; NULL: no file is monitored */
} dn__registration;

/* Maps an error number to a status. */
uint32_t dn__status_of(int error);

/* Maps an error of the center to a status: -EINVAL means the address of the bus, not the name. */
uint32_t dn__status_of_center(int error);

/* Returns NOTIFY_STATUS_OPT_DISABLE if names with this reach are currently disabled, otherwise
 * NOTIFY_STATUS_OK. */
uint32_t dn__token_check_options(dn__reach reach);

/* Registers a name. `target` is consumed, also on failure; NULL: the token is only checked.
 * `executor` is borrowed; NULL is the center's. Returns a status of notify.h; the first
 * delivery comes after the token was written. */
uint32_t dn__token_register(const char *name, dn__token_target *target, const dn_executor *executor,
                            int *out_token);

/* Cancels all tokens. */
void dn__tokens_cancel(void);

/* Returns whether there are none. */
bool dn__tokens_are_none(void);

/* --- The tokens of this process, by number (registry.c) --------------------------------------- */

/* Adds a token, which takes ownership of the registration's contents. Returns 0 or -ENOMEM. */
int dn__registry_add(dn__registration registration, dn__counter *counter, int *ret_number);

/* Removes a token and passes ownership of its contents to the caller. Returns false if there is no
 * such token. */
bool dn__registry_remove(int number, dn__registration *ret_registration);

/* Counts posts to this token only, then calls a function for its observer, if it has one. Returns
 * a status. */
uint32_t dn__registry_call_observer(int number, uint32_t n_alone,
                                    void (*call)(dn_observer *observer));

/* Attaches a file watch to a token of a name that leaves the process. NULL: only asks whether it
 * may have one. Returns the status of notify_monitor_file(). Unless it is NOTIFY_STATUS_OK, the
 * caller keeps the watch. */
uint32_t dn__registry_set_watch(int number, dn__file_watch *watch);

/* Returns the number of a token, or 0 at the end. `index` is 0 for the first call, which advances
 * it. */
int dn__registry_get_any(uint32_t *index);

/* Frees the registry, which is empty. Call while nobody reads a token. */
void dn__registry_free(void);

/* --- What tokens own (monitor.c, descriptor.c) ------------------------------------------------ */

/* Monitors the file of a name `com.apple.system.notify.service.path:[FLAGS:]PATH` for its token;
 * does nothing for other names. FLAGS are as in notify_monitor_file(). Returns a status. */
uint32_t dn__monitor_named_file(int number, const char *name);

/* Writes a token for each of up to 1024 posts, as long as there is room in the pipe. */
void dn__pipe_write(const dn__token_target *target, uint64_t n_posts);

/* Takes the target out of its pipe, once; closes the pipe with its last target. */
void dn__pipe_leave(dn__token_target *target);

/* Frees the list of pipes, which is empty. */
void dn__pipes_free(void);
