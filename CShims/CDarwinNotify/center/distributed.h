/* The distributed center: delivers objects and user infos to every process on the same bus. */
#pragma once

#include "center/kind.h"

extern const dn__center_ops dn__distributed_ops;
