/* Cleanup before the process exits: sends its posts, releases its table entry. */
#include "center/flush.h"

#include <pthread.h>
#include <stdlib.h>

#include "center/carriers.h"
#include "center/hub.h"
#include "center/table.h"
#include "util/call.h"
#include "util/clock.h"

/* Maximum time for the cleanup at exit. */
#define EXIT_TIMEOUT_US (1 * DN__US_PER_SECOND)

static int flush_all(uint64_t deadline_us)
{
        dn__hub *hub;
        uint64_t id = 0;
        int r, result = 0;

        while ((hub = dn__hub_next(id))) {
                id = hub->id;
                r = dn__carriers_flush(hub, deadline_us);
                if (r < 0)
                        result = r;
                dn__center_release(hub->center);
        }
        return result;
}

static int take_untaken(void)
{
        dn__hub *hub;
        uint64_t id = 0;
        int r, result = 0;

        while ((hub = dn__hub_next(id))) {
                id = hub->id;
                r = dn__carriers_take_untaken(hub);
                if (r < 0)
                        result = r;
                dn__center_release(hub->center);
        }
        return result;
}

/* What one center has lost is not reported, nor forgotten, while another one has to wait. */
int dn_flush(uint64_t timeout_us)
{
        DN__CALL();
        int r = flush_all(dn__clock_after_us(timeout_us));

        return r < 0 ? r : take_untaken();
}

static void at_exit(void)
{
        dn__hub *hub;
        uint64_t id = 0;

        (void)dn_flush(EXIT_TIMEOUT_US);
        while ((hub = dn__hub_next(id))) {
                id = hub->id;
                dn__carriers_linger(hub);
                dn__table_end(hub); /* or it would make another table for the one removed here */
                if (hub->region)
                        dn__region_remove_if_last(hub->region);
                dn__center_release(hub->center);
        }
}

static void register_at_exit(void)
{
        /* If this fails, there is no memory for the host's own handlers either. */
        (void)atexit(at_exit);
}

void dn__flush_at_exit(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        (void)pthread_once(&once, register_at_exit);
}
