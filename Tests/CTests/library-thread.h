/* Tells the threads of the library from those of a test. */
#pragma once

#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>

/* Returns whether this is a thread of the library: their names begin so. */
static bool is_thread_of_library(void)
{
        static _Thread_local bool is;
        char name[16] = "";

        if (!is && prctl(PR_GET_NAME, name) == 0)
                is = strncmp(name, "dn-", 3) == 0;
        return is;
}
