/* A post, as passed from the public function that makes it to the observers that receive it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "darwinnotify/dict.h"
#include "post/name.h"

/* The poster. All zero: another process, known only from the shared table. */
typedef struct dn__origin {
        bool is_own;        /* this process */
        const char *sender; /* the connection's bus name; NULL: did not arrive over a bus */
        const char *center; /* the kind of center, constant; set only for posts that were read */
} dn__origin;

/* The contents of a post besides its name. All zero: empty. */
typedef struct dn__body {
        const void *object; /* as observers select it; text if it leaves the process */
        const dn_dict *user_info;
        bool is_immediate; /* delivered to all observers immediately, even if suspended */
        bool is_for_all_sessions;
        uint64_t number; /* the sender's count of posts of this name; 0: not counted */
        uint64_t n_more; /* further posts that it stands for */
        uint64_t n_lost; /* missing posts before it, of its sender and name */
} dn__body;

/* Created once, on entry to a public function or after reading a message, then passed by pointer.
 * All pointers are borrowed. */
typedef struct dn__post {
        dn__name name;
        dn__origin origin;
        dn__body body;
        bool is_queued; /* never merged with another post, wherever it waits */

        uint64_t generation; /* set when counted; 0: counted by no table; or the value below */
        uint64_t region_id;  /* of the table that counts it; 0: the poster has none */
} dn__post;

/* Stands for all posts of its name that the table has counted. */
#define DN__POST_ALL_COUNTED UINT64_MAX

/* Returns the size of a post's strings; its object, if any, must be text. */
size_t dn__post_count_bytes(const dn__post *post);

/* Returns the same post with its strings copied to `bytes`, of that size, and its own reference to
 * its user info. */
dn__post dn__post_copy(const dn__post *post, char *bytes);

/* Releases the user info of a copied post or one read from a message. */
void dn__post_release(dn__post *post);
