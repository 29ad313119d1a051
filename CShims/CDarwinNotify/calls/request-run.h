/* Runs the handler of a service for a request, on the executor. */
#pragma once

#include "calls/state.h"

/* Jobs of a request. Each releases a reference, unless the handler takes it over. */
void dn__request_run(void *request);
void dn__request_run_cancel(void *request);
