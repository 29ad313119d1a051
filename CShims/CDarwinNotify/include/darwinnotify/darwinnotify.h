/* The whole public interface of libdarwinnotify, in reading order.
 *
 * These rules apply everywhere; a function documents only what it adds.
 *
 * Results. A function that can fail returns an `int`: 0 or a positive outcome on success, or a
 * negative errno (error.h). The answer to a question is a `bool` if the question cannot fail;
 * otherwise an `int`: 1, 0 or a negative errno. Outputs are parameters named `ret_…`, which are set
 * on success only. (<notify.h> has the names and results of Apple's functions.)
 *
 * Structures are passed and returned by pointer.
 *
 *   - A structure that the program fills is copied during the call. (The texts in it are copied as
 *     well, unless the function says otherwise.) Its size never changes. It ends with reserved
 *     words, to which later versions of the library will give a name and a meaning; 0 will always
 *     stand for today's behavior. Set everything else to zero with an initializer that names its
 *     fields: `dn_handler handler = { .invoke = f, .context = c }`. A reserved word other than 0 is
 *     rejected with -EINVAL, or by dn_notify_register_callback() with NOTIFY_STATUS_FAILED.
 *   - A structure that the library passes to a callback may become longer: later versions add
 *     fields at its end. Use it through its pointer, which is borrowed until the callback returns.
 *   - dn_value is neither: later versions add types, not fields.
 *
 * Contexts. A function that takes a handler, which is a structure with `context` and `destroy`,
 * takes ownership of the context, even if it fails. `destroy` (may be NULL) runs exactly once, as
 * soon as none of the handler's functions is running or will be called. A function that takes a
 * bare callback, or a structure without `destroy`, only uses it until it returns, and borrows its
 * context. An executor is not owned but retained, for as long as it is needed; dn_diagnostics stays
 * the program's.
 *
 * Handles are opaque. Functions named `_ref` and `_unref` count references; `_close` and `_free`
 * end the object. The ones that release accept NULL and return NULL.
 *
 * A library that was built without D-Bus has DN_HAS_BUS 0 in its headers, and no function that is
 * marked with DN_NEEDS_BUS.
 *
 * "Apple:" names the Apple function that is mirrored, and the differences; if it is missing, there
 * is no such function. */
#ifndef DARWINNOTIFY_DARWINNOTIFY_H
#define DARWINNOTIFY_DARWINNOTIFY_H

#include "base.h"
#include "error.h"
#include "executor.h"
#include "dict.h"
#include "center.h"
#include "observer.h"
#include "distributed.h"
#include "call.h"
#include "service.h"
#include "loop.h"
#include "token.h"
#include "inspect.h"
#include "library.h"
#include "statistics.h"

#endif
