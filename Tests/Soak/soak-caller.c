/* A worker in C that makes requests of other processes, or answers them, until it is killed.
 *
 *     soak-caller BOARD WORKER call|serve */
#include <darwinnotify/darwinnotify.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "soak.h"

#define SERVICE "org.example.Soak"
#define ECHO SERVICE ".Echo" /* answered at once, with what was asked */
#define HOLD SERVICE ".Hold" /* never answered */
#define N_SHOTS 512
#define PAUSE_US 5000
#define TIMEOUT_US 50000

static dn_dict *dict_of_text(const char *key, const char *text)
{
        dn_dict_builder *builder = dn_dict_builder_new();
        dn_dict *dict = NULL;

        dn_dict_builder_set_string(builder, key, text);
        if (dn_dict_builder_finish(builder, &dict) != 0)
                abort();
        return dict;
}

/* --- Calls --------------------------------------------------------------------------------- */

typedef struct shot {
        _Atomic bool is_open;
        bool is_held;
        _Atomic int error; /* of the last call */
        char text[32];
} shot;

static bool is_possible(int error)
{
        switch (error) {
        case -ENXIO: /* it starts */
        case -ECONNRESET:
        case -ETIMEDOUT:
        case -ECANCELED:
        case -ENOTCONN:
                return true;
        default:
                return false;
        }
}

static void note_end(const dn_outcome *outcome, void *context)
{
        shot *it = context;
        const char *text = outcome->reply ? dn_dict_get_string(outcome->reply, DN_REPLY_VALUE) : "";

        if (!atomic_load(&it->is_open))
                soak_violation("a call ends twice");
        else if (outcome->error == 0 && (it->is_held || !text || strcmp(text, it->text) != 0))
                soak_violation("%s gets the reply %s", it->text, text ? text : "nothing");
        else if (outcome->error != 0 && !is_possible(outcome->error))
                soak_violation("a call ends with %d, %s: %s", outcome->error,
                               outcome->error_name ? outcome->error_name : "no error of the bus",
                               outcome->message ? outcome->message : "no message");
        soak_note_format("ends", "\"call\":\"%s\",\"error\":%d,\"reply\":\"%s\"", it->text,
                         outcome->error, text ? text : "");
        atomic_store(&it->error, outcome->error);
        atomic_store(&it->is_open, false);
        soak_call_has_ended();
}

/* Returns NULL if the call cannot be made now. */
static shot *begin(const char *kind, uint64_t timeout_us, dn_call **ret_call)
{
        static shot shots[N_SHOTS];
        static unsigned n_begun;
        shot *it = &shots[n_begun % N_SHOTS];
        dn_call_handler handler = {.ended = note_end, .context = it};
        const dn_executor *executor = n_begun % 2 ? dn_executor_inline()
                                                  : dn_executor_delivery_thread();

        if (atomic_load(&it->is_open))
                return NULL;
        it->is_held = strcmp(kind, HOLD) == 0;
        snprintf(it->text, sizeof it->text, "%d %u", (int)getpid(), n_begun++);
        atomic_store(&it->is_open, true);
        soak_call_begins();
        soak_note_format("calls", "\"call\":\"%s\"", it->text);

        dn_dict *arguments = dict_of_text("text", it->text);
        dn_call_plan plan = {.service = SERVICE, .kind = kind, .arguments = arguments,
                             .timeout_us = timeout_us};
        int r = dn_call_begin(dn_center_darwin(), &plan, &handler, executor, ret_call);
        dn_dict_unref(arguments);
        if (r == 0)
                return it;
        if (r != -ENOTCONN)
                soak_violation("dn_call_begin: %d", r);
        soak_note_format("ends", "\"call\":\"%s\",\"error\":%d,\"reply\":\"\"", it->text, r);
        atomic_store(&it->is_open, false);
        soak_call_has_ended();
        return NULL;
}

static void call_until_answered(void)
{
        for (;;) {
                shot *it = begin(ECHO, UINT64_MAX, NULL);

                while (it && atomic_load(&it->is_open))
                        usleep(PAUSE_US);
                if (it && atomic_load(&it->error) == 0)
                        return;
                usleep(PAUSE_US);
        }
}

static void call_and_cancel(void)
{
        dn_call *call = NULL;

        if (!begin(HOLD, UINT64_MAX, &call))
                return;
        usleep(PAUSE_US / 10);
        dn_call_cancel(call);
        (void)dn_call_unref(call);
}

static void call(unsigned what)
{
        if (what == SOAK_EVERYTHING)
                call_until_answered();
        else if (what % 4 == 0)
                (void)begin(HOLD, TIMEOUT_US, NULL);
        else if (what % 4 == 1)
                call_and_cancel();
        else
                (void)begin(ECHO, UINT64_MAX, NULL);
}

/* --- Answers ------------------------------------------------------------------------------- */

#define MAX_HELD 8192

/* All on the delivery thread. */
static struct {
        dn_request *request;
        uint64_t id;
} held[MAX_HELD];
static unsigned n_held;

static void invoke(dn_request *request, const dn_request_info *info, void *context)
{
        const char *text = dn_dict_get_string(info->arguments, "text");
        dn_dict *reply;

        (void)context;
        if (strcmp(info->kind, HOLD) == 0 && n_held < MAX_HELD) {
                held[n_held].request = request;
                held[n_held].id = info->id;
                n_held++;
                soak_call_begins();
                return;
        }
        if (!text || strcmp(info->kind, ECHO) != 0)
                soak_violation("a request %s of %s", info->kind, text ? text : "nothing");
        reply = dict_of_text(DN_REPLY_VALUE, text ? text : "");
        (void)dn_request_answer(request, reply); /* the caller may have gone */
        dn_dict_unref(reply);
}

static void cancel(uint64_t id, void *context)
{
        (void)context;
        for (unsigned i = 0; i < n_held; i++)
                if (held[i].id == id) {
                        dn_request *request = held[i].request;

                        held[i] = held[--n_held];
                        soak_call_has_ended();
                        if (dn_request_refuse(request, NULL, NULL, NULL) != -ECANCELED)
                                soak_violation("a cancelled request is answered");
                        return;
                }
}

static void serve(void)
{
        static const char *const kinds[] = {ECHO, HOLD, NULL};
        dn_service_plan plan = {.name = SERVICE, .kinds = kinds, .options = DN_SERVICE_QUEUE};
        dn_service_handler handler = {.invoke = invoke, .cancel = cancel};
        dn_service *service;
        int r;

        while ((r = dn_service_open(dn_center_darwin(), &plan, &handler, NULL, &service)) ==
               -ENOTCONN)
                usleep(PAUSE_US);
        if (r < 0) {
                fprintf(stderr, "dn_service_open: %d\n", r);
                exit(1);
        }
        soak_ready();
        for (;;)
                pause();
}

int main(int argc, char **argv)
{
        if (argc < 4) {
                fprintf(stderr, "usage: soak-caller BOARD WORKER call|serve\n");
                return 2;
        }
        soak_begin(argv[1], (unsigned)strtoul(argv[2], NULL, 10));
        if (strcmp(argv[3], "call") == 0)
                soak_act(call);
        serve();
}
