/* Internal functions of a center for the folders above. */
#pragma once

#include "center/kind.h"
#include "post/post.h"

/* Posts a validated name. Returns as dn_center_post(). */
int dn__center_post(dn_center *center, dn__post *post);
