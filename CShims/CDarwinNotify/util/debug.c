/* Reports on standard error what happens in the library, if DARWIN_NOTIFY_DEBUG=1 asks for it. */
#include "util/debug.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longer lines are cut. A pipe takes this much at once. */
#define LINE_BYTES 1024

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

typedef struct line {
        char text[LINE_BYTES];
        size_t n_bytes;
} line;

/* Leaves room for the newline. */
__attribute__((format(printf, 2, 0))) static void add_text(line *line, const char *format,
                                                           va_list arguments)
{
        size_t n_room = sizeof(line->text) - 1 - line->n_bytes;
        int n = vsnprintf(line->text + line->n_bytes, n_room, format, arguments);

        if (n > 0)
                line->n_bytes += (size_t)n < n_room ? (size_t)n : n_room - 1;
}

__attribute__((format(printf, 2, 3))) static void add(line *line, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        add_text(line, format, arguments);
        va_end(arguments);
}

void dn__debug_say(int reason, const char *format, ...)
{
        int error = errno;
        va_list arguments;
        line line = { 0 };

        if (!dn__debug_is_on())
                return;
        add(&line, "libdarwinnotify: %s[%d]: ", program_invocation_short_name, (int)getpid());
        va_start(arguments, format);
        add_text(&line, format, arguments);
        va_end(arguments);
        if (reason < 0)
                add(&line, ": %s", strerrordesc_np(-reason));
        line.text[line.n_bytes++] = '\n';
        (void)!write(STDERR_FILENO, line.text, line.n_bytes);
        errno = error;
}
