/* Closes everything of <notify.h>. */
#include "notify/close.h"

#include <notify.h>

#include "notify/pipe.h"
#include "notify/registry.h"

void dn__tokens_cancel(void)
{
        uint32_t place = 0;
        int token;

        while ((token = dn__registry_get_any(&place)))
                (void)notify_cancel(token);
}

bool dn__tokens_are_none(void)
{
        uint32_t place = 0;

        return dn__registry_get_any(&place) == 0;
}

void dn__tokens_free(void)
{
        dn__registry_free();
        dn__pipe_free_list();
}
