/* Helpers shared by the tests of requests: outcomes to wait for, a service in its own process. */
#pragma once

#include <darwinnotify/darwinnotify.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "centers.h"
#include "late.h"
#include "test-bus.h"
#include "test-child.h"
#include "test-peer.h"
#include "test.h"

#define SERVICE "org.example.Test"
#define KIND(member) SERVICE "." member
#define FOREVER UINT64_MAX

/* --- Callers -------------------------------------------------------------------------------- */

/* How a call has ended. */
typedef struct outcome {
        _Atomic unsigned n_ends;
        int error;
        char error_name[128];
        char message[256];
        dn_dict *reply;
        dn_dict *details;
} outcome;

static inline void outcome_note(const dn_outcome *came, void *context)
{
        outcome *seen = context;

        seen->error = came->error;
        snprintf(seen->error_name, sizeof seen->error_name, "%s",
                 came->error_name ? came->error_name : "");
        snprintf(seen->message, sizeof seen->message, "%s", came->message ? came->message : "");
        seen->reply = dn_dict_ref(came->reply);
        seen->details = dn_dict_ref(came->details);
        seen->n_ends++;
}

static inline dn_dict *dict_of_text(const char *key, const char *text)
{
        dn_dict_builder *builder = dn_dict_builder_new();

        dn_dict_builder_set_string(builder, key, text);
        return finish(builder);
}

/* Begins a call with the argument "text"; NULL: without arguments. Returns what it returns. */
static inline int ask_begin(const char *service, const char *kind, const char *text,
                            uint64_t timeout_us, outcome *seen, dn_call **ret_call)
{
        dn_dict *arguments = text ? dict_of_text("text", text) : NULL;
        dn_call_plan plan = {.service = service, .kind = kind, .arguments = arguments,
                             .timeout_us = timeout_us};
        dn_call_handler handler = {.ended = outcome_note, .context = seen};
        const dn_executor *executor = dn_executor_inline();
        uint64_t began_us = test_now_us();
        int r;

        *seen = (outcome){0};
        r = dn_call_begin(dn_center_darwin(), &plan, &handler, executor, ret_call);
        if (r == -ENOTCONN && is_late(began_us)) {
                (void)settle(dn_center_darwin(), 0, began_us); /* there may be none */
                r = dn_call_begin(dn_center_darwin(), &plan, &handler, executor, ret_call);
        }
        dn_dict_unref(arguments);
        return r;
}

static inline int outcome_wait(outcome *seen)
{
        WAIT_UNTIL_EQ(seen->n_ends, 1);
        return seen->error;
}

/* Calls and waits; returns the error of the outcome. */
static inline int ask(const char *kind, const char *text, outcome *seen)
{
        CHECK_EQ(ask_begin(SERVICE, kind, text, FOREVER, seen, NULL), 0);
        return outcome_wait(seen);
}

/* Asks for an echo and checks it. */
static inline void check_echo(const char *text)
{
        outcome seen;

        if (ask(KIND("Echo"), text, &seen) != 0)
                test_fail(__FILE__, __LINE__, "no echo: %d, %s: %s", seen.error, seen.error_name,
                          seen.message);
        CHECK_STREQ(dn_dict_get_string(seen.reply, DN_REPLY_VALUE), text);
        dn_dict_unref(seen.reply);
}

/* --- A service ------------------------------------------------------------------------------ */

#define MAX_HELD 4096

/* What a service has seen, and the requests of the kind Hold, which it keeps. */
typedef struct served {
        _Atomic unsigned n_begun;
        _Atomic unsigned n_cancelled;
        _Atomic unsigned n_destroyed;
        _Atomic unsigned n_held;
        dn_request *held[MAX_HELD];
        _Atomic unsigned user; /* of the last caller */
        _Atomic int process;
        _Atomic bool was_own;
        _Atomic char order[64]; /* the first letters of the texts, as they came */
} served;

/* The caller or the bus may be gone. */
static inline void check_answered(int r)
{
        CHECK(r == 0 || r == -ECANCELED || r == -ENOTCONN);
}

static inline void served_invoke(dn_request *request, const dn_request_info *info, void *context)
{
        const char *text = dn_dict_get_string(info->arguments, "text");
        unsigned n = ((served *)context)->n_begun;
        served *seen = context;
        dn_dict *reply = NULL;

        seen->user = info->caller->user;
        seen->process = info->caller->process;
        seen->was_own = info->caller->is_own;
        if (text && n < sizeof seen->order - 1)
                seen->order[n] = text[0];
        if (strcmp(info->kind, KIND("Hold")) == 0) {
                seen->held[seen->n_held] = request;
                seen->n_held++;
                seen->n_begun++; /* from here on another thread may answer it */
                return;
        }
        seen->n_begun++; /* before the answer, which may be waited for */
        if (strcmp(info->kind, KIND("Refuse")) == 0) {
                check_answered(dn_request_refuse(request, text, "for a reason", info->arguments));
        } else if (strcmp(info->kind, KIND("Nothing")) == 0) {
                check_answered(dn_request_answer(request, NULL));
        } else {
                reply = text ? dict_of_text(DN_REPLY_VALUE, text) : NULL;
                check_answered(dn_request_answer(request, reply));
                dn_dict_unref(reply);
        }
}

static inline void served_cancel(uint64_t id, void *context)
{
        CHECK(id > 0);
        ((served *)context)->n_cancelled++;
}

static inline void served_destroy(void *context)
{
        ((served *)context)->n_destroyed++;
}

static inline dn_service_handler served_handler(served *seen)
{
        return (dn_service_handler){
                .invoke = served_invoke,
                .cancel = served_cancel,
                .context = seen,
                .destroy = served_destroy,
        };
}

static const char *const all_kinds[] = {KIND("Hold"), KIND("Echo"), KIND("Refuse"), KIND("Nothing"),
                                        NULL};

static inline int serve(const char *name, uint32_t options, served *seen, dn_service **ret_service)
{
        dn_service_handler handler = served_handler(seen);
        dn_service_plan plan = {.name = name, .kinds = all_kinds, .options = options};

        uint64_t began_us = test_now_us();
        int r = dn_service_open(dn_center_darwin(), &plan, &handler, NULL, ret_service);

        if (r != DN_NOT_CONNECTED || !is_late(began_us))
                return r;
        WAIT_UNTIL(dn_service_has_name(*ret_service));
        return 0;
}

/* Argument: perhaps "queue". Says what opening the service returned, then answers: "begun",
 * "cancelled", "order", "user", "process", "owns" with the number or text; "answer" answers what is
 * held; "unexport" and "export" are for the kind Echo; "close" closes the service. */
ROLE(serve)
{
        static served seen;
        dn_service *service = NULL;
        char line[64];

        await_bus(dn_center_darwin()); /* which says whether the name is taken */
        printf("%d\n", serve(SERVICE, n_args ? DN_SERVICE_QUEUE : 0, &seen, &service));
        if (!service)
                return 0;
        while (fgets(line, sizeof line, stdin)) {
                line[strcspn(line, "\n")] = '\0';
                if (strcmp(line, "answer") == 0)
                        while (seen.n_held)
                                (void)dn_request_answer(seen.held[--seen.n_held], NULL);
                else if (strcmp(line, "unexport") == 0)
                        CHECK_EQ(dn_service_unexport(service, KIND("Echo")), 0);
                else if (strcmp(line, "export") == 0)
                        CHECK_EQ(dn_service_export(service, KIND("Echo")), 0);
                else if (strcmp(line, "close") == 0)
                        service = dn_service_close(service);
                if (strcmp(line, "order") == 0) {
                        for (int i = 0; seen.order[i]; i++)
                                putchar(seen.order[i]);
                        putchar('\n');
                } else {
                        printf("%d\n", strcmp(line, "begun") == 0       ? (int)seen.n_begun
                                         : strcmp(line, "cancelled") == 0 ? (int)seen.n_cancelled
                                         : strcmp(line, "destroyed") == 0 ? (int)seen.n_destroyed
                                         : strcmp(line, "user") == 0      ? (int)seen.user
                                         : strcmp(line, "process") == 0   ? seen.process
                                         : dn_service_has_name(service));
                }
        }
        return 0;
}

static inline long long served_number(test_child *child, const char *question)
{
        return strtoll(test_child_ask(child, question), NULL, 10);
}

/* Starts a process with a service, which owns its name. */
static inline test_child *spawn_service(void)
{
        test_child *child = test_spawn_role("serve", NULL);

        CHECK_STREQ(test_child_read_line(child), "0");
        return child;
}

/* Serves by sd-bus alone, as the service, until it is killed: the filter answers as it likes. */
static inline _Noreturn void serve_by_filter(sd_bus_message_handler_t filter)
{
        sd_bus *bus = NULL;

        CHECK(sd_bus_open_user(&bus) >= 0);
        CHECK(sd_bus_add_filter(bus, NULL, filter, NULL) >= 0);
        CHECK(sd_bus_request_name(bus, SERVICE, 0) >= 0);
        printf("ready\n");
        fflush(stdout);
        for (;;)
                if (sd_bus_process(bus, NULL) == 0)
                        CHECK(sd_bus_wait(bus, UINT64_MAX) > 0);
}
