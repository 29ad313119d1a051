/* Property lists: the values that travel with a notification of the distributed center. */
#ifndef DARWINNOTIFY_DICT_H
#define DARWINNOTIFY_DICT_H

#include <stdbool.h>

#include "base.h"

DN_BEGIN_DECLS

/** Maximum nesting depth of containers, including the outermost. D-Bus allows 64 levels, and a
 *  dictionary takes three of them. */
#define DN_DICT_MAX_DEPTH 20

/** Maximum number of values in a dictionary, at any depth. */
#define DN_DICT_MAX_VALUES 65536

/** Maximum size of a dictionary: the bytes of its keys, strings and data, and DN_DICT_VALUE_BYTES
 *  for each value. Put larger values in a file. */
#define DN_DICT_MAX_BYTES (16 * 1024 * 1024)

/** The size that each value adds to that of its bytes. */
#define DN_DICT_VALUE_BYTES 32

/**
 * An immutable dictionary: keys are strings, values have one of nine types.
 *
 * Any thread may read one. A dictionary or array read from another one is borrowed from it, unless
 * the caller takes a reference.
 */
typedef struct dn_dict dn_dict;

/** An immutable array of values of any type. Part of a dictionary. */
typedef struct dn_array dn_array;

/** The types of values. The numbers are part of the ABI. */
enum {
        DN_TYPE_STRING = 1, /**< UTF-8 without NUL and without Unicode noncharacters */
        DN_TYPE_BOOL = 2,
        DN_TYPE_INT64 = 3,
        DN_TYPE_UINT64 = 4, /**< an integer above INT64_MAX: all others are DN_TYPE_INT64 */
        DN_TYPE_DOUBLE = 5,
        DN_TYPE_DATA = 6,
        DN_TYPE_DATE = 7,
        DN_TYPE_ARRAY = 8,
        DN_TYPE_DICT = 9,
};

/** One value. What it points to is borrowed from its container. */
typedef struct dn_value {
        int type;       /**< which member of `as` is set: a DN_TYPE_ value */
        size_t n_bytes; /**< of a string (without its NUL) or data; otherwise 0 */
        union {
                const char *string; /**< NUL-terminated */
                bool boolean;
                int64_t int64;
                uint64_t uint64;
                double real;
                const void *data; /**< never NULL, even if empty */
                int64_t date_us;  /**< microseconds since 1970 UTC, negative before */
                const dn_array *array;
                const dn_dict *dict;
        } as;
} dn_value;

/* --- Reading ------------------------------------------------------------------------------- */

/** Takes a reference. NULL is allowed. Returns `dict`. Threads: any. */
DN_EXPORT dn_dict *dn_dict_ref(const dn_dict *dict);

/** Releases a reference. NULL is allowed. Returns NULL. Threads: any. */
DN_EXPORT dn_dict *dn_dict_unref(const dn_dict *dict);

/** Returns the number of keys; 0 for NULL. Threads: any. */
DN_EXPORT size_t dn_dict_get_count(const dn_dict *dict);

/**
 * Looks up a key. If it exists, stores its value in `ret_value`, which may be NULL, and returns
 * true. NULL is an empty dictionary. Threads: any.
 *
 * Apple:    CFDictionaryGetValueIfPresent(), xpc_dictionary_get_value().
 */
DN_EXPORT bool dn_dict_get(const dn_dict *dict, const char *key, dn_value *ret_value);

/**
 * Returns the key at an index, borrowed, and its value, unless `ret_value` is NULL. Keys are unique
 * and in byte order. Returns NULL if `index` is not below dn_dict_get_count(). Threads: any.
 *
 * Apple:    xpc_dictionary_apply().
 */
DN_EXPORT const char *dn_dict_get_at(const dn_dict *dict, size_t index, dn_value *ret_value);

/* Typed getters. If the key is missing or its value has another type, they return the fallback
 * given here. They never convert. */

/** Returns a NUL-terminated string; otherwise NULL. */
DN_EXPORT const char *dn_dict_get_string(const dn_dict *dict, const char *key);

/** Returns a boolean; otherwise `otherwise`. */
DN_EXPORT bool dn_dict_get_bool(const dn_dict *dict, const char *key, bool otherwise);

/** Returns an integer, whichever function set it; `otherwise` also if above INT64_MAX. */
DN_EXPORT int64_t dn_dict_get_int64(const dn_dict *dict, const char *key, int64_t otherwise);

/** Returns an integer, whichever function set it; `otherwise` also if negative. */
DN_EXPORT uint64_t dn_dict_get_uint64(const dn_dict *dict, const char *key, uint64_t otherwise);

/** Returns a floating-point number; `otherwise` also for integers. */
DN_EXPORT double dn_dict_get_double(const dn_dict *dict, const char *key, double otherwise);

/** Returns data and its size in `ret_n_bytes` (may be NULL); otherwise NULL and 0. */
DN_EXPORT const void *dn_dict_get_data(const dn_dict *dict, const char *key, size_t *ret_n_bytes);

/** Returns a date in microseconds since 1970 UTC; otherwise `otherwise`. */
DN_EXPORT int64_t dn_dict_get_date(const dn_dict *dict, const char *key, int64_t otherwise);

/** Returns an array; otherwise NULL. */
DN_EXPORT const dn_array *dn_dict_get_array(const dn_dict *dict, const char *key);

/** Returns a dictionary; otherwise NULL. */
DN_EXPORT const dn_dict *dn_dict_get_dict(const dn_dict *dict, const char *key);

/** Returns the number of values; 0 for NULL. Threads: any. */
DN_EXPORT size_t dn_array_get_count(const dn_array *array);

/** Reads the value at an index, unless `ret_value` is NULL. Returns false if `index` is not below
 *  dn_array_get_count(). Threads: any. */
DN_EXPORT bool dn_array_get(const dn_array *array, size_t index, dn_value *ret_value);

/**
 * Returns a dictionary as one line of JSON, to be released with free(): data as base64, dates as
 * ISO 8601 in UTC, non-finite doubles as "NaN", "Infinity", "-Infinity". NULL if out of memory or
 * `dict` is NULL.
 *
 * Threads:  any.
 * Apple:    CFCopyDescription(), xpc_copy_description().
 */
DN_EXPORT char *dn_dict_copy_json(const dn_dict *dict);

/* --- Building ------------------------------------------------------------------------------ */

/** Builds one dictionary. Opaque; used by one thread at a time. */
typedef struct dn_dict_builder dn_dict_builder;

/**
 * Starts building a dictionary.
 *
 *     dn_dict_builder *builder = dn_dict_builder_new();
 *     dn_dict_builder_set_string(builder, "title", "A Love Supreme");
 *     dn_dict_builder_begin_array(builder, "minutes");
 *     dn_dict_builder_set_int64(builder, NULL, 7);
 *     dn_dict_builder_end(builder);
 *     r = dn_dict_builder_finish(builder, &dict);
 *
 * Errors are reported at the end, by dn_dict_builder_finish(): after the first error the functions
 * in between do nothing.
 *
 * @return the builder; NULL if out of memory. All of these functions accept NULL.
 */
DN_EXPORT dn_dict_builder *dn_dict_builder_new(void);

/** Discards the builder. NULL is allowed. Returns NULL. */
DN_EXPORT dn_dict_builder *dn_dict_builder_free(dn_dict_builder *builder);

/**
 * Finishes the dictionary and frees the builder, also on failure. `ret_dict` is set on success
 * only; the caller owns one reference.
 *
 * Errors:   the first of: -EINVAL if a key or a string was not valid UTF-8 or had a Unicode
 *           noncharacter, a key was NULL in a dictionary or set in an array, a value was NULL or
 *           had an unknown type, a container was ended too often or not at all, or `ret_dict` is
 *           NULL; -E2BIG above one of the limits of this header; -ENOMEM.
 */
DN_EXPORT int dn_dict_builder_finish(dn_dict_builder *builder, dn_dict **ret_dict);

/* Each of these sets the value of a key in a dictionary, replacing any previous one; or, if the key
 * is NULL, appends a value to an array. The data is copied. */

DN_EXPORT void dn_dict_builder_set_string(dn_dict_builder *builder, const char *key,
                                          const char *string);
DN_EXPORT void dn_dict_builder_set_bool(dn_dict_builder *builder, const char *key, bool boolean);
DN_EXPORT void dn_dict_builder_set_int64(dn_dict_builder *builder, const char *key, int64_t number);
DN_EXPORT void dn_dict_builder_set_uint64(dn_dict_builder *builder, const char *key,
                                          uint64_t number);
DN_EXPORT void dn_dict_builder_set_double(dn_dict_builder *builder, const char *key, double number);

/** `data` may be NULL if `n_bytes` is 0. */
DN_EXPORT void dn_dict_builder_set_data(dn_dict_builder *builder, const char *key,
                                        const void *data, size_t n_bytes);

/** `date_us`: microseconds since 1970 UTC. */
DN_EXPORT void dn_dict_builder_set_date(dn_dict_builder *builder, const char *key, int64_t date_us);

/** Sets a value of any type. A container is retained, not copied. */
DN_EXPORT void dn_dict_builder_set(dn_dict_builder *builder, const char *key,
                                   const dn_value *value);

/** Begins a nested dictionary, which receives the following values until it is ended. */
DN_EXPORT void dn_dict_builder_begin_dict(dn_dict_builder *builder, const char *key);

/** Begins a nested array, which receives the following values until it is ended. */
DN_EXPORT void dn_dict_builder_begin_array(dn_dict_builder *builder, const char *key);

/** Ends the dictionary or array begun last. */
DN_EXPORT void dn_dict_builder_end(dn_dict_builder *builder);

DN_END_DECLS

#endif
