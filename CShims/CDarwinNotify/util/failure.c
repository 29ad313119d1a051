/* Remembers which system call has failed, for messages. */
#include "util/failure.h"

#include <errno.h>
#include <stddef.h>

static _Thread_local const char *failed;

int dn__failed(const char *call)
{
        failed = call;
        return -errno;
}

const char *dn__failure_take(void)
{
        const char *call = failed;

        failed = NULL;
        return call;
}
