/* The names of notifications. */
#include "post/name.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "darwinnotify/base.h"
#include "util/hash.h"
#include "util/text.h"

#define PROCESS_PREFIX "self."
#define USER_PREFIX "user.uid."
#define SYSTEM_PREFIX "com.apple.system."

const dn__name dn__name_any = { .text = "", .reach = DN__REACH_PROCESS };

/* The first byte of a private name, which is not valid UTF-8. */
#define PRIVATE "\xff"

const dn__name dn__name_bus = {
        .text = PRIVATE "bus",
        .n_bytes = 4,
        .reach = DN__REACH_PROCESS,
        .is_private = true,
};

bool dn__name_is_bus(const dn__name *name)
{
        return name->n_bytes == dn__name_bus.n_bytes && strcmp(name->text, dn__name_bus.text) == 0;
}

dn__name dn__name_of_owner(const char *name, char *bytes)
{
        static const char prefix[DN__NAME_OWNER_BYTES] = PRIVATE "owner ";
        size_t n_bytes = sizeof(prefix) - 1 + strlen(name);

        memcpy(bytes, prefix, sizeof(prefix) - 1);
        memcpy(bytes + sizeof(prefix) - 1, name, strlen(name) + 1);
        return (dn__name){
                .text = bytes,
                .n_bytes = n_bytes,
                .hash = dn__hash64(bytes, n_bytes),
                .reach = DN__REACH_PROCESS,
                .is_private = true,
        };
}

int dn__name_init(dn__name *ret_name, const char *text, dn__reach widest)
{
        dn__name name = { .text = text, .n_bytes = text ? strlen(text) : 0, .reach = widest };

        if (!name.n_bytes || !dn__utf8_is_valid(text, name.n_bytes))
                return -EINVAL;
        if (dn__text_begins_with(text, PROCESS_PREFIX))
                name.reach = DN__REACH_PROCESS;
        name.hash = dn__hash64(text, name.n_bytes);
        if (name.reach == DN__REACH_BEYOND) {
                if (name.n_bytes > DN_NAME_MAX_BYTES)
                        return -ENAMETOOLONG;
                name.is_reserved = dn__text_begins_with(text, USER_PREFIX) ||
                                   dn__text_begins_with(text, SYSTEM_PREFIX);
        }
        *ret_name = name;
        return 0;
}

int dn__name_init_prefix(dn__name *ret_name, const char *text, dn__reach widest)
{
        dn__name name = { .text = "", .reach = widest, .hash = dn__hash64("", 0) };
        int r = text && *text ? dn__name_init(&name, text, widest) : 0;

        if (r < 0)
                return r;
        name.is_prefix = true;
        /* Differs from the public name with the same text. */
        name.hash = ~name.hash;
        *ret_name = name;
        return 0;
}

dn__name dn__name_copy(const dn__name *name, char *bytes)
{
        dn__name copy = *name;

        copy.text = memcpy(bytes, name->text, name->n_bytes);
        bytes[name->n_bytes] = '\0';
        return copy;
}

/* The number must end the name or be followed by a dot: user 50 is not user 501. */
static bool is_of_user(const char *text, uid_t uid)
{
        char own[sizeof(USER_PREFIX) + 20]; /* digits */
        int n_bytes = snprintf(own, sizeof(own), "%s%lu", USER_PREFIX, (unsigned long)uid);

        return dn__text_begins_with(text, own) && (!text[n_bytes] || text[n_bytes] == '.');
}

bool dn__name_may_observe(const dn__name *name, uid_t uid)
{
        return !name->is_reserved || uid == 0 || !dn__text_begins_with(name->text, USER_PREFIX) ||
               is_of_user(name->text, uid);
}

bool dn__name_may_post(const dn__name *name, uid_t uid)
{
        return !name->is_reserved || uid == 0 ||
               (dn__name_may_observe(name, uid) &&
                !dn__text_begins_with(name->text, SYSTEM_PREFIX));
}
