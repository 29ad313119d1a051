/* The public functions of a center. */
#pragma once

#include "delivery/hub.h"

/* Opens a center of a kind on a bus. Returns as dn_center_open(). */
int dn__center_open(const dn__center_ops *ops, const char *bus, dn_center **ret_center);

/* Returns 0, or -EINVAL or -E2BIG for an object that the center cannot pass on. */
int dn__center_check_object(const dn_center *center, const void *object);

/* Posts a validated name. Returns as dn_center_post(). */
int dn__center_post(dn_center *center, dn__post *post);
