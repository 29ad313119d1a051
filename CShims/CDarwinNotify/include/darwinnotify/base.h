/* Definitions that all other headers use. */
#ifndef DARWINNOTIFY_BASE_H
#define DARWINNOTIFY_BASE_H

#ifndef __LP64__
#error DarwinNotify needs a 64-bit system
#endif

#include <stddef.h>
#include <stdint.h>

/* The version of these headers: the builds of the library and its packages read it from here.
 * dn_version() (library.h) returns that of the library in use. */
#define DN_VERSION_MAJOR 1
#define DN_VERSION_MINOR 0
#define DN_VERSION_PATCH 0

/* The same as one number, for comparisons: #if DN_VERSION >= DN_VERSION_NUMBER(1, 2, 0) */
#define DN_VERSION DN_VERSION_NUMBER(DN_VERSION_MAJOR, DN_VERSION_MINOR, DN_VERSION_PATCH)
#define DN_VERSION_NUMBER(major, minor, patch) ((major) * 1000000 + (minor) * 1000 + (patch))

/* The same as text. */
#define DN_VERSION_STRING DN_VERSION_TEXT_(DN_VERSION_MAJOR, DN_VERSION_MINOR, DN_VERSION_PATCH)
#define DN_VERSION_TEXT_(major, minor, patch) DN_VERSION_JOIN_(major, minor, patch)
#define DN_VERSION_JOIN_(major, minor, patch) #major "." #minor "." #patch

#ifdef __cplusplus
#define DN_BEGIN_DECLS extern "C" {
#define DN_END_DECLS }
#else
#define DN_BEGIN_DECLS
#define DN_END_DECLS
#endif

/* Exported from libdarwinnotify.so. Hidden in the static library, so that a plugin that contains it
 * neither exports it nor uses the copy of its host. */
#ifdef DN_STATIC_LIBRARY
#define DN_EXPORT __attribute__((visibility("hidden")))
#else
#define DN_EXPORT __attribute__((visibility("default")))
#endif

/* 0 in the headers of a library that was built without D-Bus (make BUS=none). It has no function
 * that is marked with DN_NEEDS_BUS: a program that calls one does not compile. The name of a bus
 * then only selects which processes of the user share a table. */
#ifndef DN_HAS_BUS
#define DN_HAS_BUS 1
#endif

#define DN_NEEDS_BUS
#if !DN_HAS_BUS && defined(__has_attribute)
#if __has_attribute(error)
#undef DN_NEEDS_BUS
#define DN_NEEDS_BUS __attribute__((error("this libdarwinnotify was built without D-Bus")))
#endif
#endif

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
