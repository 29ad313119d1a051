/* Static probes, at which tracers such as bpftrace, perf and gdb can stop (docs/tracing.md).
 *
 * A probe is one nop and a note in the file. Without <sys/sdt.h>, of the package systemtap-sdt-dev,
 * it is nothing. The names are part of the interface; those of Apple's library are the same. */
#pragma once

#if __has_include(<sys/sdt.h>)
#define SDT_USE_VARIADIC
#include <sys/sdt.h>
#define DN__PROBE(name, ...) STAP_PROBEV(notify, name, __VA_ARGS__)
#else
#define DN__PROBE(name, ...) ((void)0)
#endif
