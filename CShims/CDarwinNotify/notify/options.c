/* The library's options in this process. */
#include "notify/options.h"

#include <notify_private.h>
#include <stdatomic.h>
#include <stdbool.h>

static _Atomic bool is_disabled;

void notify_set_options(uint32_t opts)
{
        if (opts & NOTIFY_OPT_DISABLE)
                atomic_store(&is_disabled, true);
        else if (opts & NOTIFY_OPT_ENABLE)
                atomic_store(&is_disabled, false);
}

uint32_t dn__options_check(dn__reach reach)
{
        return reach != DN__REACH_PROCESS &&
                               atomic_load_explicit(&is_disabled, memory_order_relaxed)
                       ? NOTIFY_STATUS_OPT_DISABLE
                       : NOTIFY_STATUS_OK;
}
