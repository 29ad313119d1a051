/* The kinds of sources, each in a file of its name. */
#pragma once

#include <stddef.h>

#include "source.h"

extern const source_kind source_network;
extern const source_kind source_dns;
extern const source_kind source_network_change;
extern const source_kind source_clock;
extern const source_kind source_time_zone;
extern const source_kind source_host_name;
extern const source_kind source_mounts;
extern const source_kind source_power;
extern const source_kind source_lid;
extern const source_kind source_low_power;
extern const source_kind source_lock;
extern const source_kind source_screen;
extern const source_kind source_theme;
extern const source_kind source_sleep;

/* All of them, as --list shows them. */
extern const source_kind *const source_kinds[];
extern const size_t n_source_kinds;

/* Reports that a part of the network configuration has changed (network-change.c). */
void network_changed(agent *agent);
