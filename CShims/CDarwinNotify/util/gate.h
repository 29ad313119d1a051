/* Lets a call of the library end before what it uses does.
 *
 * A cancelled thread would leave locks and references held, and a library that is shut down frees
 * what its functions use. So each public function that takes or uses any of these begins with
 * DN__GATE(): pthread_cancel() takes effect in the host's own code, after the call, and
 * dn_shutdown() sees that a call is in progress. Nobody ever waits here: the host ensures that no
 * thread enters while the library is being shut down. Callbacks that run inside a call are part of
 * it, and the library's own threads do not count. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/cleanup.h"

typedef struct dn__gate_pass {
        int cancel_state;          /* of the thread, before */
        _Atomic uint32_t *counter; /* that counts the call; NULL: it is inside another one */
} dn__gate_pass;

#define DN__GATE() \
        const dn__gate_pass pass_ DN__CLEANUP(dn__gate_leave) = dn__gate_enter(DN__GATE_CALL)

/* The same for work that the library has passed to an executor: dn_shutdown() waits for it. */
#define DN__GATE_FOR_WORK() \
        const dn__gate_pass pass_ DN__CLEANUP(dn__gate_leave) = dn__gate_enter(DN__GATE_WORK)

typedef enum dn__gate_kind {
        DN__GATE_CALL,
        DN__GATE_WORK,
        DN__N_GATE_KINDS,
} dn__gate_kind;

dn__gate_pass dn__gate_enter(dn__gate_kind kind);
void dn__gate_leave(const dn__gate_pass *pass);

/* Counts as a call until the host has closed what it has opened, or as work from when it is queued.
 * In one process. */
void dn__gate_keep(dn__gate_kind kind);
void dn__gate_keep_no_more(dn__gate_kind kind);

/* Returns whether the caller is inside a call, or on a thread of the library. */
bool dn__gate_is_inside(void);

/* Returns whether any call or work is in progress, apart from that of the caller. */
bool dn__gate_has_others(dn__gate_kind kind);
