/* Registering a name for a token. */
#pragma once

#include <stdint.h>

#include "darwinnotify/executor.h"
#include "notify/delivery.h"

/* Returns the status of an error number. */
uint32_t dn__status_of(int error);

/* Registers a name. Nothing is delivered before dn__token_start().
 *
 * `delivery` is consumed, also on failure; NULL: the token is only checked. `executor` is consumed,
 * also on failure; NULL is the delivery thread. Returns a status of notify.h. */
uint32_t dn__token_register(const char *name, dn__delivery *delivery, const dn_executor *executor,
                            int *ret_number);

/* Has what was posted since delivered, and what is posted from now on. */
void dn__token_start(int number);
