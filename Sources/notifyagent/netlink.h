/* The network configuration of the kernel. */
#pragma once

#include <stdint.h>

/* Opens a socket that receives a message whenever links, addresses or routes change. Returns a
 * descriptor or a negative errno. */
int netlink_listen(void);

/* Reads the links, addresses and routes, and makes a number of what matters in them. It stays the
 * same until something of that changes. Returns 0 or a negative errno, -E2BIG if there are too many
 * to be read each time. */
int netlink_read_sum(uint64_t *ret_sum);
