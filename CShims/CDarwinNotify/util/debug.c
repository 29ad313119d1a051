/* Reports on standard error what happens in the library, if DARWIN_NOTIFY_DEBUG=1 asks for it. */
#include "util/debug.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/cleanup.h"

typedef enum answer { UNKNOWN, OFF, ON } answer;

static _Atomic answer known;

bool dn__debug_is_on(void)
{
        answer found = atomic_load_explicit(&known, memory_order_relaxed);
        const char *value;

        if (found == UNKNOWN) {
                value = secure_getenv("DARWIN_NOTIFY_DEBUG");
                found = value && strcmp(value, "1") == 0 ? ON : OFF;
                atomic_store_explicit(&known, found, memory_order_relaxed);
        }
        return found == ON;
}

void dn__debug_forget(void)
{
        atomic_store_explicit(&known, UNKNOWN, memory_order_relaxed);
}

void dn__debug_say(int reason, const char *format, ...)
{
        const char *why = reason < 0 ? strerrordesc_np(-reason) : NULL;
        char *text DN__FREES = NULL, *line DN__FREES = NULL;
        int error = errno, n_bytes = -1;
        va_list arguments;

        if (!dn__debug_is_on())
                return;
        va_start(arguments, format);
        if (vasprintf(&text, format, arguments) < 0)
                text = NULL;
        va_end(arguments);
        if (text)
                n_bytes = asprintf(&line, "libdarwinnotify: %s[%d]: %s%s%s\n",
                                   program_invocation_short_name, (int)getpid(), text,
                                   why ? ": " : "", why ? why : "");
        if (n_bytes < 0)
                line = NULL;
        else
                (void)!write(STDERR_FILENO, line, (size_t)n_bytes);
        errno = error;
}
