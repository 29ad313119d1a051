/* A worker in C that posts or hears of posts until it is killed.
 *
 *     soak-worker BOARD WORKER post
 *     soak-worker BOARD WORKER observe inline|thread|loop
 *     soak-worker BOARD WORKER check|descriptor */
#include <arpa/inet.h>
#include <darwinnotify/darwinnotify.h>
#include <notify.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "soak.h"

#define PAUSE_US 5000
#define MAX_PAUSES 12000 /* a minute */

static void must(int r, const char *what)
{
        if (r == 0)
                return;
        fprintf(stderr, "%s: %d\n", what, r);
        exit(1);
}

/* --- Posters ------------------------------------------------------------------------------- */

static int post(unsigned name)
{
        return dn_center_post(dn_center_darwin(), soak_name(name), NULL, NULL, 0);
}

/* --- Observers ----------------------------------------------------------------------------- */

static void hear(const dn_event *event, void *context)
{
        soak_heard((unsigned)(uintptr_t)context, event->n_posts);
}

static void observe(unsigned name, const dn_executor *executor)
{
        dn_handler handler = {.invoke = hear, .context = (void *)(uintptr_t)name};
        dn_observer *observer = NULL;
        int r;

        soak_will_observe(name);
        while ((r = dn_center_observe(dn_center_darwin(), soak_name(name), &handler, executor,
                                      &observer)) == DN_NOT_CONNECTED) {
                /* Without a bus, it needs the table, whose owner may be stopped. */
                dn_observer_cancel_wait(observer);
                observer = dn_observer_unref(observer);
                usleep(PAUSE_US);
        }
        must(r, "dn_center_observe");
        (void)dn_observer_unref(observer);
        soak_did_observe(name);
}

/* An observer that is there for a moment. */
typedef struct guest {
        dn_observer *observer;
        bool cancels_itself;
        _Atomic bool is_cancelled;
        _Atomic unsigned n_destroyed;
} guest;

static void hear_as_guest(const dn_event *event, void *context)
{
        guest *it = context;

        if (atomic_load(&it->is_cancelled) || atomic_load(&it->n_destroyed))
                soak_violation("%s: a call after the cancellation", event->name);
        if (!it->cancels_itself)
                return;
        dn_observer_cancel(it->observer);
        atomic_store(&it->is_cancelled, true);
}

static void destroy_guest(void *context)
{
        guest *it = context;

        if (atomic_fetch_add(&it->n_destroyed, 1))
                soak_violation("a context is destroyed twice");
}

static void visit(guest *it, const char *name, const dn_executor *executor)
{
        dn_handler handler = {.invoke = hear_as_guest, .context = it, .destroy = destroy_guest};
        int r;

        atomic_store(&it->is_cancelled, false);
        atomic_store(&it->n_destroyed, 0);
        r = dn_center_observe(dn_center_darwin(), name, &handler, executor, &it->observer);
        must(r < 0 ? r : 0, "dn_center_observe");
        usleep(PAUSE_US);
        dn_observer_cancel_wait(it->observer);
        atomic_store(&it->is_cancelled, true);
        (void)dn_observer_unref(it->observer);
}

/* What is queued for an observer keeps it. */
static void await_destruction(guest *it)
{
        for (unsigned n = 0; !atomic_load(&it->n_destroyed); n++) {
                if (n == MAX_PAUSES) {
                        soak_violation("a context is not destroyed");
                        return;
                }
                usleep(PAUSE_US);
        }
        if (atomic_load(&it->n_destroyed) != 1)
                soak_violation("a context is destroyed twice");
}

/* The contexts are kept for a time, so that a call that comes late is seen and no crash. */
static void receive_guests(const dn_executor *executor)
{
        static guest guests[256];

        for (unsigned i = 0;; i++) {
                guest *it = &guests[i % 256];

                if (i >= 256)
                        await_destruction(it);
                it->cancels_itself = i % 2;
                visit(it, soak_name(i % SOAK_N_NAMES), executor);
        }
}

static void run_loop(dn_loop *loop)
{
        struct pollfd wait = {.fd = dn_loop_get_fd(loop), .events = POLLIN};

        for (;;)
                if (poll(&wait, 1, -1) > 0)
                        (void)dn_loop_process(loop);
}

static void observe_all(const char *where)
{
        const dn_executor *executor = dn_executor_delivery_thread();
        dn_loop *loop = NULL;

        if (strcmp(where, "inline") == 0)
                executor = dn_executor_inline();
        if (strcmp(where, "loop") == 0) {
                must(dn_loop_new(&loop), "dn_loop_new");
                executor = dn_loop_executor(loop);
        }
        for (unsigned name = 0; name <= SOAK_FENCE; name++)
                observe(name, executor);
        soak_ready();
        if (loop)
                run_loop(loop);
        receive_guests(executor);
}

/* --- Tokens -------------------------------------------------------------------------------- */

static void check(int token, unsigned name)
{
        int changed = 0;

        must((int)notify_check(token, &changed), "notify_check");
        if (changed)
                soak_noticed(name);
}

/* Registers as observe() does. */
static int add_token(unsigned name, int *fd)
{
        int token;
        uint32_t status;

        while ((status = fd ? notify_register_file_descriptor(
                                      soak_name(name), fd, name ? NOTIFY_REUSE : 0, &token)
                            : notify_register_check(soak_name(name), &token)) ==
               NOTIFY_STATUS_SERVER_NOT_FOUND)
                usleep(PAUSE_US);
        must((int)status, "notify_register");
        soak_did_observe(name);
        return token;
}

static void hold_checks(void)
{
        int tokens[SOAK_FENCE + 1];

        for (unsigned name = 0; name <= SOAK_FENCE; name++)
                tokens[name] = add_token(name, NULL);
        soak_ready();
        for (;;) {
                for (unsigned name = 0; name <= SOAK_FENCE; name++)
                        check(tokens[name], name);
                usleep(PAUSE_US);
        }
}

static void read_token(int fd, const int *tokens)
{
        unsigned name = 0;
        int token;

        if (read(fd, &token, sizeof token) != sizeof token) {
                soak_violation("a descriptor ends");
                exit(1);
        }
        token = (int)ntohl((uint32_t)token);
        while (name <= SOAK_FENCE && tokens[name] != token)
                name++;
        if (name <= SOAK_FENCE)
                soak_noticed(name);
        else
                soak_violation("a descriptor reports an unknown token");
}

static void hold_descriptor(void)
{
        int tokens[SOAK_FENCE + 1], fd = -1;

        for (unsigned name = 0; name <= SOAK_FENCE; name++)
                tokens[name] = add_token(name, &fd);
        soak_ready();
        for (;;)
                read_token(fd, tokens);
}

int main(int argc, char **argv)
{
        if (argc < 4) {
                fprintf(stderr, "usage: soak-worker BOARD WORKER post|observe|check|descriptor\n");
                return 2;
        }
        soak_begin(argv[1], (unsigned)strtoul(argv[2], NULL, 10));
        if (strcmp(argv[3], "post") == 0)
                soak_post(post);
        else if (strcmp(argv[3], "check") == 0)
                hold_checks();
        else if (strcmp(argv[3], "descriptor") == 0)
                hold_descriptor();
        else if (argc > 4)
                observe_all(argv[4]);
        return 2;
}
