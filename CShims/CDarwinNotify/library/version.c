/* dn_version(). */
#include "darwinnotify/library.h"

const char *dn_version(void)
{
        return DN_VERSION_STRING;
}
