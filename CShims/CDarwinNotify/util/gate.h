/* A gate for calls of the library, which neither the end of their thread nor that of the library
 * may interrupt.
 *
 * A cancelled thread would leave locks and references held, and a library that is shut down frees
 * what calls use. So each public function that takes or uses any begins with DN__GATE():
 * pthread_cancel() takes effect in the host's own code, after the call, and the library is shut
 * down when no call is running. Callbacks that run inside the call are part of it. */
#pragma once

#include <stdbool.h>

#include "util/cleanup.h"

typedef struct dn__gate_pass {
        int cancel_state; /* of the thread, before */
        bool is_counted;
} dn__gate_pass;

#define DN__GATE() const dn__gate_pass pass_ DN__CLEANUP(dn__gate_leave) = dn__gate_enter()

/* Waits while the gate is closed, except inside another call and on the library's own threads. */
dn__gate_pass dn__gate_enter(void);
void dn__gate_leave(const dn__gate_pass *pass);

/* Keeps the gate open between two calls, until the host has closed what it has opened. In the
 * process that opened it. */
void dn__gate_keep(void);
void dn__gate_keep_no_more(void);

/* Returns whether the caller is inside a call, or on a thread of the library. */
bool dn__gate_is_inside(void);

/* Closes the gate if the caller's is the only call, or becomes it within a few milliseconds. Calls
 * of other threads then wait. Returns whether the gate is closed. */
bool dn__gate_close(void);
void dn__gate_open(void);
