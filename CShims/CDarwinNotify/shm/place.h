/* Watches over the file of a table: tells when it is removed or replaced. */
#pragma once

#include "shm/region.h"

typedef struct dn__place dn__place;

/* Returns NULL if the system has no watches left, or out of memory. */
dn__place *dn__place_new(const dn__region *region);

/* Returns the descriptor to poll for input. */
int dn__place_get_fd(const dn__place *place);

/* Returns whether the descriptor still is the place's: the host may close all descriptors. */
bool dn__place_is_intact(const dn__place *place);

/* Returns whether the file may have changed since the last call. */
bool dn__place_read(dn__place *place);

/* NULL is allowed. Returns NULL. */
dn__place *dn__place_free(dn__place *place);
