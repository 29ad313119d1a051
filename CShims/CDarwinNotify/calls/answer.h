/* Answers requests, with a reply or an error. */
#pragma once

#include "calls/state.h"

/* Ends a request with an error, unless nobody waits for the reply any more: call it only with a
 * caller. If there is no memory for the reply, the caller times out. */
void dn__request_refuse(dn__calls *calls, dn_request *request, const char *name, const char *text)
        DN__REQUIRES(&calls->dbus->lock);

/* Never under the lock, unless another reference remains. NULL is allowed. */
void dn__request_unref(dn_request *request);
