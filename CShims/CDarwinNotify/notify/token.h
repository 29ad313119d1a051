/* Tokens: registrations of names. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "darwinnotify/executor.h"
#include "notify/registry.h"

/* Maps an error number to a status. */
uint32_t dn__status_of(int error);

/* Returns NOTIFY_STATUS_OPT_DISABLE if names with this reach are currently disabled, otherwise
 * NOTIFY_STATUS_OK. */
uint32_t dn__token_check_options(dn__reach reach);

/* Registers a name. `delivery` is consumed, also on failure; NULL: the token is only checked.
 * `executor` is borrowed; NULL is the center's. Returns a status of notify.h; the first
 * delivery comes after the token was written. */
uint32_t dn__token_register(const char *name, dn__delivery *delivery, const dn_executor *executor,
                            int *out_token);

/* Cancels all tokens. */
void dn__tokens_cancel(void);

/* Returns whether there are none. */
bool dn__tokens_are_none(void);

/* Monitors the file of a name `com.apple.system.notify.service.path:[FLAGS:]PATH` for its token;
 * does nothing for other names. FLAGS are as in notify_monitor_file(). Returns a status. */
uint32_t dn__monitor_named_file(int number, const char *name);

/* Writes a token for each of up to 1024 posts, as long as there is room in the pipe. */
void dn__pipe_write(const dn__delivery *delivery, uint64_t n_posts);

/* Closes the pipe if this delivery is its last one, unless it has left it before. */
void dn__pipe_leave(dn__delivery *delivery);

/* Frees the list of pipes, which is empty. */
void dn__pipes_free(void);
