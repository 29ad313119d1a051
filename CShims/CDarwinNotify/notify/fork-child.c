/* _notify_fork_child(). */
#include <notify_private.h>

#include "util/fork.h"

void _notify_fork_child(void)
{
        dn__fork_leave_parent();
}
