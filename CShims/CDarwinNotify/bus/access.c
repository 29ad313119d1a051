/* Who may observe and post which names. */
#include "bus/access.h"

#include <stdio.h>
#include <string.h>

#define USER_PREFIX "user.uid."
#define SYSTEM_PREFIX "com.apple.system."

/* The prefix and the digits of 64 bits. */
#define USER_BYTES (sizeof(USER_PREFIX) + 20)

static bool begins_with(const char *name, const char *prefix)
{
        return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* What follows the number is the end or a dot: user 50 is not user 501. */
static bool is_of_user(const char *name, uid_t uid)
{
        char own[USER_BYTES];
        int n_bytes = snprintf(own, sizeof(own), "%s%lu", USER_PREFIX, (unsigned long)uid);

        return begins_with(name, own) && (!name[n_bytes] || name[n_bytes] == '.');
}

bool dn__access_is_reserved(const char *name)
{
        return begins_with(name, USER_PREFIX) || begins_with(name, SYSTEM_PREFIX);
}

bool dn__access_may_observe(const char *name, uid_t uid)
{
        return uid == 0 || !begins_with(name, USER_PREFIX) || is_of_user(name, uid);
}

bool dn__access_may_post(const char *name, uid_t uid)
{
        return uid == 0 ||
               (dn__access_may_observe(name, uid) && !begins_with(name, SYSTEM_PREFIX));
}
