/* The names of notifications. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How far a post goes. */
typedef enum dn__reach {
        DN__REACH_PROCESS, /* only to observers in this process */
        DN__REACH_BEYOND,  /* also to observers in other processes */
} dn__reach;

/* Created once, on entry to a public function or after reading a message, then passed by
 * pointer. */
typedef struct dn__name {
        const char *text; /* UTF-8, NUL-terminated; borrowed */
        size_t n_bytes;   /* without the NUL */
        uint64_t hash;    /* dn__hash64() of the text, unless it is private or stands for others */
        dn__reach reach;
        bool is_reserved; /* restricted to certain users */
        bool is_prefix;   /* stands for all names that begin with the text, which may be empty */
        bool is_private;  /* not the name of notifications: cannot be posted, and is not UTF-8 */
} dn__name;

/* Stands for every name, for observers of all names. */
extern const dn__name dn__name_any;

/* Stands for the state of the bus, for its observers. Private. */
extern const dn__name dn__name_bus;
bool dn__name_is_bus(const dn__name *name);

/* Creates the name that stands for the owner of a name on the bus, for its observers. Private. The
 * text is written to `bytes`, which has room for DN__NAME_OWNER_BYTES more than that name. */
#define DN__NAME_OWNER_BYTES 8
dn__name dn__name_of_owner(const char *name, char *bytes);

/* Makes a name. `widest` is the reach of its center; a name that begins with `self.` always stays
 * in the process. Returns 0; -EINVAL if the text is NULL, empty, or not valid UTF-8 for D-Bus;
 * -ENAMETOOLONG if it leaves the process and has more than DN_NAME_MAX_BYTES bytes. */
int dn__name_init(dn__name *ret_name, const char *text, dn__reach widest);

/* Makes a name that stands for all names that begin with a text, or for every name if NULL. Returns
 * 0, -EINVAL or -ENAMETOOLONG, as above. */
int dn__name_init_prefix(dn__name *ret_name, const char *text, dn__reach widest);

/* Returns the same name with its text copied to `bytes`, which has room for it and a NUL. */
dn__name dn__name_copy(const dn__name *name, char *bytes);

/* Names below user.uid.N are open to that user and root only. */
bool dn__name_may_observe(const dn__name *name, uid_t uid);

/* As dn__name_may_observe(); in addition, only root may post names below com.apple.system or set
 * their state. */
bool dn__name_may_post(const dn__name *name, uid_t uid);
