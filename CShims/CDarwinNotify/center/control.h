/* Suspends, resumes and cancels observers. */
#pragma once

#include "center/observer.h"

/* Holds deliveries back until dn__observer_resume() has been called as many times; the last call
 * delivers everything posted meanwhile as one. */
void dn__observer_suspend(dn_observer *observer);
void dn__observer_resume(dn_observer *observer);

/* Makes one delivery to this observer only. */
void dn__observer_tell(dn_observer *observer);
