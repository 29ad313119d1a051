/* The list of the kinds of sources. */
#include "sources/sources.h"

const source_kind *const source_kinds[] = {
        &source_network, &source_dns,       &source_network_change, &source_clock,
        &source_time_zone, &source_host_name, &source_mounts,       &source_power,
        &source_lid,     &source_low_power, &source_lock,           &source_screen,
        &source_theme,   &source_sleep,
};

const size_t n_source_kinds = sizeof(source_kinds) / sizeof(source_kinds[0]);
