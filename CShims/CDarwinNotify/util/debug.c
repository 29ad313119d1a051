/* Reports what happens in the library, if the host or DARWIN_NOTIFY_DEBUG=1 asks for it. */
#include "util/debug.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "darwinnotify/library.h"
#include "util/cleanup.h"
#include "util/host.h"
#include "util/reserved.h"

typedef enum answer { UNKNOWN, OFF, ON } answer;

static _Atomic answer known;

/* Takes the reports instead of standard error. Borrowed from the host. */
static _Atomic(const dn_diagnostics *) taker;

int dn_set_diagnostics(const dn_diagnostics *diagnostics)
{
        if (diagnostics &&
            (!diagnostics->invoke || !dn__reserved_is_zero(diagnostics->reserved)))
                return -EINVAL;
        atomic_store(&taker, diagnostics);
        return 0;
}

/* More than a look for a table or a registration has to say. */
#define N_KEPT 8

/* What this thread has said and not released. */
static _Thread_local char *kept[N_KEPT];
static _Thread_local size_t n_kept;
static _Thread_local unsigned n_keepers;

/* The variable is read once, and ignored in a set-user-id program. */
static bool is_asked_for(void)
{
        answer found = atomic_load(&known);
        const char *value;

        if (found == UNKNOWN) {
                value = secure_getenv("DARWIN_NOTIFY_DEBUG");
                found = value && strcmp(value, "1") == 0 ? ON : OFF;
                atomic_store(&known, found);
        }
        return found == ON;
}

void dn__debug_forget(void)
{
        atomic_store(&taker, NULL);
        atomic_store(&known, UNKNOWN);
}

typedef struct report {
        const dn_diagnostics *diagnostics;
        const char *message;
} report;

static void run_diagnostics(void *context)
{
        const report *report = context;

        report->diagnostics->invoke(report->message, report->diagnostics->context);
}

/* Not translated, where there are translations. */
static const char *describe(int error)
{
#ifdef __GLIBC__
        return strerrordesc_np(error);
#else
        return strerror(error);
#endif
}

static void give(const char *message)
{
        const dn_diagnostics *diagnostics = atomic_load(&taker);
        int error = errno;

        if (diagnostics)
                dn__host_call(run_diagnostics, &(report){ diagnostics, message });
        else if (is_asked_for())
                (void)dprintf(STDERR_FILENO, "libdarwinnotify: %s[%d]: %s\n",
                              program_invocation_short_name, (int)getpid(), message);
        errno = error;
}

void dn__debug_say(int reason, const char *format, ...)
{
        const char *why = reason < 0 ? describe(-reason) : NULL;
        char *text DN__FREES = NULL, *message DN__FREES = NULL;
        int error = errno;
        va_list arguments;

        if (!atomic_load(&taker) && !is_asked_for())
                return;
        va_start(arguments, format);
        if (vasprintf(&text, format, arguments) < 0)
                text = NULL;
        va_end(arguments);
        if (!text || asprintf(&message, "%s%s%s", text, why ? ": " : "", why ? why : "") < 0)
                message = NULL;
        else if (!n_keepers)
                give(message);
        else if (n_kept < N_KEPT)
                kept[n_kept++] = DN__TAKE(message);
        errno = error;
}

void dn__debug_keep(void)
{
        n_keepers++;
}

void dn__debug_release(void)
{
        char *messages[N_KEPT];
        size_t n = n_kept;

        if (--n_keepers > 0)
                return;
        memcpy(messages, kept, n * sizeof(*kept));
        n_kept = 0; /* the host may call the library */
        for (size_t i = 0; i < n; i++) {
                give(messages[i]);
                free(messages[i]);
        }
}
