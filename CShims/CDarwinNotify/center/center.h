/* Internal functions of a center for the folders above. */
#pragma once

#include "center/kind.h"
#include "darwinnotify/executor.h"
#include "post/post.h"

/* Posts a validated name. Returns as dn_center_post(). */
int dn__center_post(dn_center *center, dn__post *post);

/* Returns the executor of the center's CF-shaped observers as a value for another observer,
 * retained for the caller. Returns 0 or -ENOMEM. */
int dn__center_get_executor(dn_center *center, dn_executor *ret_executor);
