/* Who may observe and post which names. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Tells whether a name is not for everybody. */
bool dn__access_is_reserved(const char *name);

/* Names below user.uid.N are for that user, and root. */
bool dn__access_may_observe(const char *name, uid_t uid);

/* The same, and names below com.apple.system are posted, and given a state, by root. */
bool dn__access_may_post(const char *name, uid_t uid);
