/* Registration of tokens for names. */
#pragma once

#include <stdint.h>

#include "darwinnotify/executor.h"
#include "notify/delivery.h"

/* Maps an error number to a status. */
uint32_t dn__status_of(int error);

/* Registers a name. Nothing is delivered before dn__token_start().
 *
 * `delivery` is consumed, also on failure; NULL: the token is only checked. `executor` is borrowed;
 * NULL is the delivery thread. Returns a status of notify.h. */
uint32_t dn__token_register(const char *name, dn__delivery *delivery, const dn_executor *executor,
                            int *ret_number);

/* Starts delivery, including anything posted since registration. */
void dn__token_start(int number);
