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

static int flush(dn__hub *hub, void *deadline_us)
{
        return dn__carriers_flush(hub, *(uint64_t *)deadline_us);
}

static int take_untaken(dn__hub *hub, void *context)
{
        (void)context;
        return dn__carriers_take_untaken(hub);
}

/* What one center has lost is not reported, nor forgotten, while another one has to wait. */
int dn_flush(uint64_t timeout_us)
{
        DN__CALL();
        uint64_t deadline_us = dn__clock_after_us(timeout_us);
        int r = dn__hubs_each(flush, &deadline_us);

        return r < 0 ? r : dn__hubs_each(take_untaken, NULL);
}

static int end_hub(dn__hub *hub, void *context)
{
        (void)context;
        dn__carriers_linger(hub);
        dn__table_end(hub); /* or it would make another table for the one removed here */
        if (hub->region)
                dn__region_remove_if_last(hub->region);
        return 0;
}

static void at_exit(void)
{
        (void)dn_flush(EXIT_TIMEOUT_US);
        (void)dn__hubs_each(end_hub, NULL);
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
