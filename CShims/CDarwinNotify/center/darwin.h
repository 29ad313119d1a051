/* The Darwin center: delivers names without a payload to every process on the same bus. */
#pragma once

#include "center/kind.h"

extern const dn__center_ops dn__darwin_ops;
