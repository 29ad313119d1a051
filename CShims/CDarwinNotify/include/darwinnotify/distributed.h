/* The distributed center: notifications with an object and a user info, in the shape of
 * CFNotificationCenter. */
#ifndef DARWINNOTIFY_DISTRIBUTED_H
#define DARWINNOTIFY_DISTRIBUTED_H

#include <stdbool.h>

#include "base.h"
#include "center.h"

DN_BEGIN_DECLS

/** The longest object, in bytes, without the NUL. */
#define DN_OBJECT_MAX_BYTES 65536

/**
 * Returns the distributed center, which sends names, objects and user infos to every process on the
 * same bus.
 *
 * Always the same pointer, never NULL, with or without a bus; the caller owns nothing. It finds its
 * bus as dn_center_darwin() does. The functions of center.h and observer.h serve it as they serve
 * the other centers:
 *
 * - An object is text, NUL-terminated UTF-8, compared by its bytes. A post with an object reaches
 *   the observers of that object and the observers that ask for no object; a post without one
 *   reaches only the latter.
 * - A user info is a dictionary (dict.h). Receivers get a copy.
 * - An observer without a name gets every name, of its object if it asks for one. (Apple's center
 *   has delivered nothing to observers with neither name nor object since macOS 10.15.)
 * - Posts are queued, never merged. An observer gets all posts of each process in the order in
 *   which they were posted, as long as both processes are connected. Up to 65,536 posts, or 64 MiB
 *   of them, wait for the observers of one name or prefix on one executor; then the oldest are
 *   dropped. dn_event.n_dropped is the number of missing posts.
 * - Posts that the bus has dropped are counted when their process posts the name again: the event
 *   of that post includes them in n_dropped. If it never does, the loss is not reported.
 * - There is no table behind it: a process that starts, or finds the bus again, does not hear
 *   earlier posts.
 * - Without a bus, posts reach the observers of the process, and wait for a bus to appear: up to
 *   65,536 of them, or 64 MiB; then posting fails with -ENOBUFS.
 *
 * Threads:  any.
 * Apple:    CFNotificationCenterGetDistributedCenter().
 */
DN_EXPORT dn_center *dn_center_distributed(void) DN_NEEDS_BUS;

/** Opens another distributed center, on a bus of the caller's choice, with its own connection.
 *  Parameters, errors and release as for dn_center_open(). Threads: any. */
DN_EXPORT int dn_center_open_distributed(const char *bus, dn_center **ret_center) DN_NEEDS_BUS;

/**
 * Suspends or resumes the observers of a distributed center in this process.
 *
 * While the center is suspended, the DN_SUSPENSION_ behavior of each observer decides what it gets.
 * Resuming delivers the kept posts at once, in the order in which they were posted: the newest
 * 65,536 posts, or 64 MiB of them. Where equal posts were coalesced, dn_event.n_posts counts all
 * posts of the suspension.
 *
 * A post with DN_POST_DELIVER_IMMEDIATELY, or one that an observer with
 * DN_SUSPENSION_DELIVER_IMMEDIATELY gets, is delivered as if the suspension ended before it and
 * began again after it: first the kept posts, then this one, to all its observers.
 *
 * Errors:   -EINVAL if `center` is NULL or not a distributed one; -ENOMEM.
 * Threads:  any.
 * Apple:    NSDistributedNotificationCenter.suspended; Core Foundation has no public function.
 */
DN_EXPORT int dn_center_set_suspended(dn_center *center, bool is_suspended) DN_NEEDS_BUS;

/** Returns whether the observers of a center in this process are suspended. NULL and other centers
 *  are not. Threads: any. */
DN_EXPORT bool dn_center_is_suspended(dn_center *center) DN_NEEDS_BUS;

DN_END_DECLS

#endif
