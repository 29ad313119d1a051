/* Definitions that all other headers use. */
#ifndef DARWINNOTIFY_BASE_H
#define DARWINNOTIFY_BASE_H

#include <stddef.h>
#include <stdint.h>

#define DN_VERSION_MAJOR 1
#define DN_VERSION_MINOR 0
#define DN_VERSION_PATCH 0

#ifdef __cplusplus
#define DN_BEGIN_DECLS extern "C" {
#define DN_END_DECLS }
#else
#define DN_BEGIN_DECLS
#define DN_END_DECLS
#endif

/* Exported from libdarwinnotify.so; everything without it is hidden there. */
#define DN_EXPORT __attribute__((visibility("default")))

/* For Swift: a closure passed for this parameter runs on a thread of the library's choice, so it
 * must not inherit the isolation of the code that contains it. */
#if defined(__has_attribute)
#if __has_attribute(swift_attr)
#define DN_SENDABLE __attribute__((swift_attr("@Sendable")))
#endif
#endif
#ifndef DN_SENDABLE
#define DN_SENDABLE
#endif

/* The longest name that can leave the process, in bytes, without the NUL. Longer names are refused;
 * Apple's notifyd truncates them, so that different names become one. */
#define DN_NAME_MAX_BYTES 511

#endif
