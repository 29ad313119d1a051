/* The library as a whole. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "center/center.h"
#include "cf/cf.h"
#include "darwinnotify/library.h"
#include "notify/file-watch.h"
#include "notify/token.h"
#include "util/clock.h"
#include "util/debug.h"
#include "util/fork.h"
#include "util/gate.h"
#include "util/host.h"
#include "util/thread.h"

/* How long to wait for callbacks, and then for the bus. */
#define IDLE_TIMEOUT_US (1 * DN__US_PER_SECOND)
#define SEND_TIMEOUT_US (1 * DN__US_PER_SECOND)

/* How often to look whether the callbacks have returned. */
#define POLL_US (1 * DN__US_PER_MS)

static bool is_idle(void)
{
        return dn__tokens_are_none() && dn__centers_are_idle() &&
               !dn__gate_has_others(DN__GATE_WORK);
}

/* Cancels everything, and waits until no callback is left. Returns 0 or -EBUSY. */
static int cancel_everything(uint64_t deadline_us)
{
        while (!dn__gate_has_others(DN__GATE_CALL)) {
                dn__tokens_cancel();
                dn__centers_cancel_observers();
                /* Twice: a callback that was still running may have registered or queued something
                 * where it was idle before. */
                if (is_idle() && is_idle())
                        return 0;
                if (dn__clock_now_us() >= deadline_us)
                        return -EBUSY;
                dn__clock_sleep_until(dn__clock_after_us(POLL_US));
        }
        return -EBUSY;
}

/* From the top layer down: no remaining layer uses a closed or freed one. */
static void close_everything(void)
{
        dn__link hubs;

        dn__files_close();
        dn__centers_close(dn__clock_after_us(SEND_TIMEOUT_US), &hubs);
        dn__thread_join_all();
        dn__cf_free();
        dn__registry_free();
        dn__pipes_free();
        dn__centers_free(&hubs);
        dn__host_free();
        dn__fork_guards_free();
        dn__debug_forget();
}

static int shut_down(void)
{
        DN__GATE();
        int r = cancel_everything(dn__clock_after_us(IDLE_TIMEOUT_US));

        if (r == 0)
                close_everything();
        return r;
}

/* One at a time. */
int dn_shutdown(void)
{
        static _Atomic uint64_t running_in; /* the process, not its parent */
        uint64_t found;
        int r = -EBUSY;

        if (dn__gate_is_inside())
                return -EDEADLK;
        if (dn__fork_init() < 0)
                return 0; /* nothing was ever started */
        found = atomic_load(&running_in);
        if (found != dn__fork_id() &&
            atomic_compare_exchange_strong(&running_in, &found, dn__fork_id())) {
                r = shut_down();
                atomic_store(&running_in, 0);
        }
        return r;
}

const char *dn_version(void)
{
        return DN_VERSION_STRING;
}
