/* Static probes for tracers such as bpftrace, perf and gdb (docs/tracing.md).
 *
 * A probe is one nop and a note in the file. Without <sys/sdt.h> (package systemtap-sdt-dev), it is
 * empty. The names are part of the interface; those that Apple's library also has are the same. */
#pragma once

#if __has_include(<sys/sdt.h>)
#define SDT_USE_VARIADIC
#include <sys/sdt.h>
#define DN__PROBE(name, ...) STAP_PROBEV(notify, name, __VA_ARGS__)
#else
#define DN__PROBE(name, ...) ((void)0)
#endif
