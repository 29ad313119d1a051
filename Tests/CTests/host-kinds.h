/* Every kind of function of a host, with what leads to its call. */
#pragma once

#include <errno.h>
#include <notify.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "centers.h"
#include "everything.h"
#include "requests.h"
#include "tally.h"

#define NAME "com.example.host"

/* What the called function does. */
static enum { END_THREAD, EXIT, NOTE, CALL_EVERYTHING } deed;
static _Atomic unsigned n_called;

static void ignore_outcome(const dn_outcome *outcome, void *context)
{
}

static void ignore_request(dn_request *request, const dn_request_info *info, void *context)
{
        check_answered(dn_request_answer(request, NULL));
}

static int ignore_record(const dn_post_record *record, void *context)
{
        return 0;
}

static void act(void *context)
{
        if (deed == END_THREAD)
                pthread_exit(NULL);
        if (deed == EXIT)
                exit(7);
        if (deed == CALL_EVERYTHING)
                call_everything_public();
        n_called++;
}

static void act_on_event(const dn_event *event, void *context)
{
        act(context);
}

static void act_on_bus(dn_center *center, bool is_on_bus, void *context)
{
        act(context);
}

static void act_on_token(int token, void *context)
{
        act(context);
}

static void act_on_callback(dn_center *center, void *observer, const char *name,
                            const void *object, const dn_dict *user_info)
{
        act(observer);
}

static void act_on_outcome(const dn_outcome *outcome, void *context)
{
        act(context);
}

static int act_on_name(const dn_name_record *record, void *context)
{
        act(context);
        return 1;
}

static int act_on_table(const dn_table_record *record, void *context)
{
        act(context);
        return 1;
}

static int act_on_record(const dn_post_record *record, void *context)
{
        act(context);
        return 1;
}

static int act_on_ready(void *context)
{
        act(context);
        return 1;
}

static int act_on_work(void *context, dn_work_fn work, void *argument)
{
        act(context);
        return -ECANCELED;
}

static bool act_on_caller(const dn_request_info *info, void *context)
{
        act(context);
        return false;
}

static void act_on_cancel(uint64_t id, void *context)
{
        act(context);
}

/* Reports of exit() itself follow. */
static void act_on_message(const char *message, void *context)
{
        if (deed == NOTE || n_called == 0)
                act(context);
}

static _Atomic unsigned n_held; /* handlers run on threads of the library */

static void hold_request(dn_request *request, const dn_request_info *info, void *context)
{
        n_held++;
}

static void act_on_request(dn_request *request, const dn_request_info *info, void *context)
{
        act(context);
        check_answered(dn_request_answer(request, NULL));
}

/* --- What leads to the call ------------------------------------------------------------------- */

static dn_observer *observer;
static dn_service *service;
static dn_loop *loop;
static bool has_exited; /* exit() has begun */

static void post(dn_center *center)
{
        CHECK(dn_center_post(center, NAME, NULL, NULL, 0) >= 0);
}

static void observe_and_post(dn_center *center, const dn_executor *executor)
{
        if (!observer)
                CHECK(dn_center_observe(center, NAME, &(dn_handler){.invoke = act_on_event},
                                        executor, &observer) >= 0);
        post(center);
}

static void lead_to_observer(void)
{
        observe_and_post(dn_center_darwin(), NULL);
}

static void lead_to_local_observer(void)
{
        observe_and_post(dn_center_local(), NULL);
}

static void lead_to_distributed_observer(void)
{
        observe_and_post(dn_center_distributed(), NULL);
}

static void lead_to_prefix_observer(void)
{
        dn_handler handler = {.invoke = act_on_event};

        if (!observer)
                CHECK(dn_center_observe_prefix(dn_center_darwin(), NAME, &handler, NULL,
                                               &observer) >= 0);
        post(dn_center_darwin());
}

static void lead_to_enqueue(void)
{
        observe_and_post(dn_center_darwin(), &(dn_executor){.enqueue = act_on_work});
}

static void lead_to_loop(void)
{
        if (!loop)
                CHECK_EQ(dn_loop_new(&loop), 0);
        observe_and_post(dn_center_darwin(), dn_loop_executor(loop));
        if (has_exited)
                (void)dn_loop_process(loop);
        else
                WAIT_UNTIL(dn_loop_process(loop) > 0);
}

static void lead_to_destroy_hook(void)
{
        dn_handler handler = {.invoke = ignore_event, .destroy = act};

        tally_drop(observe_ok(dn_center_darwin(), NAME, &handler, NULL));
}

static void lead_to_refused_destroy_hook(void)
{
        dn_handler handler = {.destroy = act};

        CHECK_EQ(dn_center_observe(dn_center_darwin(), NAME, &handler, NULL, NULL), -EINVAL);
}

static void lead_to_release(void)
{
        dn_executor executor = {.enqueue = act_on_work, .release = act};
        dn_handler handler = {.invoke = ignore_event};

        tally_drop(observe_ok(dn_center_darwin(), NAME, &handler, &executor));
}

static void lead_to_retain(void)
{
        dn_executor executor = {.enqueue = act_on_work, .retain = act};
        dn_handler handler = {.invoke = ignore_event};

        tally_drop(observe_ok(dn_center_darwin(), NAME, &handler, &executor));
}

static void lead_to_bus_observer(void)
{
        dn_bus_handler handler = {.invoke = act_on_bus};

        CHECK_EQ(dn_center_observe_bus(dn_center_darwin(), &handler, NULL, &observer), 0);
}

static void lead_to_token(void)
{
        static int token;

        if (!token)
                CHECK_EQ(dn_notify_register_callback(
                                 NAME, &(dn_token_handler){.invoke = act_on_token}, NULL, &token),
                         NOTIFY_STATUS_OK);
        CHECK_EQ(notify_post(NAME), NOTIFY_STATUS_OK);
}

static void lead_to_callback(void)
{
        static bool is_added;

        if (!is_added)
                CHECK(dn_center_add_observer(dn_center_darwin(), &deed, act_on_callback, NAME,
                                             NULL, 0) >= 0);
        is_added = true;
        post(dn_center_darwin());
}

static void lead_to_list(void)
{
        static int token;

        if (!token)
                CHECK_EQ(notify_register_check(NAME, &token), NOTIFY_STATUS_OK);
        CHECK_EQ(dn_list_names(NULL, act_on_name, NULL), 1);
}

static void lead_to_work_of_the_host(void)
{
        const dn_executor *executor = dn_executor_delivery_thread();

        CHECK_EQ(executor->enqueue(executor->context, act, NULL), 0);
}

static void lead_to_work_of_a_center(void)
{
        CHECK_EQ(dn_center_enqueue(dn_center_darwin(), act, NULL), 0);
}

static void lead_to_outcome(void)
{
        dn_call_plan plan = {.service = SERVICE, .kind = KIND("Nothing"), .timeout_us = FOREVER};
        dn_call_handler handler = {.ended = act_on_outcome};

        CHECK_EQ(dn_call_begin(dn_center_darwin(), &plan, &handler, NULL, NULL), 0);
}

static void lead_to_refused_call(void)
{
        dn_call_handler handler = {.destroy = act};

        CHECK_EQ(dn_call_begin(dn_center_darwin(), NULL, &handler, NULL, NULL), -EINVAL);
}

static void lead_to_end_of_call(void)
{
        dn_call_plan plan = {.service = SERVICE, .kind = KIND("Nothing"), .timeout_us = FOREVER};
        dn_call_handler handler = {.ended = ignore_outcome, .destroy = act};

        CHECK_EQ(dn_call_begin(dn_center_darwin(), &plan, &handler, NULL, NULL), 0);
}

/* Also without a bus: opening it fails, and destroys the context. */
static void lead_to_end_of_service(void)
{
        dn_service_plan plan = {.name = SERVICE};
        dn_service_handler handler = {.invoke = ignore_request, .destroy = act};
        dn_service *opened = NULL;

        (void)dn_service_open(dn_center_darwin(), &plan, &handler, NULL, &opened);
        dn_service_close(opened);
}

static void lead_to_service_with(const dn_service_handler *handler)
{
        static const char *const kinds[] = {KIND("Act"), NULL};
        dn_service_plan plan = {.name = SERVICE, .kinds = kinds};
        dn_call_plan call = {.service = SERVICE, .kind = KIND("Act"), .timeout_us = FOREVER};
        dn_call_handler ended = {.ended = ignore_outcome};

        if (!service)
                CHECK_EQ(dn_service_open(dn_center_darwin(), &plan, handler, NULL, &service), 0);
        CHECK_EQ(dn_call_begin(dn_center_darwin(), &call, &ended, NULL, NULL), 0);
}

static void lead_to_service(void)
{
        lead_to_service_with(&(dn_service_handler){.invoke = act_on_request});
}

static void lead_to_permission(void)
{
        lead_to_service_with(&(dn_service_handler){.allow = act_on_caller,
                                                  .invoke = act_on_request});
}

/* Of one request each time. */
static void lead_to_cancelled_request(void)
{
        static dn_call *calls[2];
        dn_service_handler handler = {.invoke = hold_request, .cancel = act_on_cancel};
        dn_call_plan plan = {.service = SERVICE, .kind = KIND("Act"), .timeout_us = FOREVER};
        dn_call_handler ended = {.ended = ignore_outcome};

        if (!service) {
                lead_to_service_with(&handler);
                for (int i = 0; i < 2; i++)
                        CHECK_EQ(dn_call_begin(dn_center_darwin(), &plan, &ended, NULL, &calls[i]),
                                 0);
                WAIT_UNTIL_EQ(n_held, 3);
        }
        dn_call_cancel(calls[has_exited]);
}

static void lead_to_processed_watch(void)
{
        dn_watcher watcher = {.ready = act_on_ready, .post = act_on_record};
        dn_watch *watch;

        CHECK_EQ(dn_watch_open(NULL, NULL, &watcher, &watch), 0);
        WAIT_UNTIL(dn_watch_process(watch) != 0);
        dn_watch_close(watch);
}

static void lead_to_end_of_watch(void)
{
        dn_watcher watcher = {.post = ignore_record, .destroy = act};
        dn_watch *watch;

        CHECK_EQ(dn_watch_open("none", NULL, &watcher, &watch), -ENOTCONN);
}

static void lead_to_table_record(void)
{
        dn_table_reader reader = {.table = act_on_table};
        static int token;
        char *path;
        int fd;

        if (!token)
                CHECK_EQ(notify_register_check(NAME, &token), NOTIFY_STATUS_OK);
        fd = dn_find_table(NULL, &path);
        CHECK(fd >= 0);
        CHECK_EQ(dn_read_table(fd, &reader), 1);
        close(fd);
        free(path);
}

static void lead_to_diagnostics(void)
{
        static const dn_diagnostics diagnostics = {.invoke = act_on_message};
        dn_center *center = open_center("none");

        CHECK_EQ(dn_set_diagnostics(&diagnostics), 0);
        CHECK_EQ(dn_center_is_on_bus(center), 0);
        dn_center_unref(center);
}

static void lead_to_ready_watch(void)
{
        dn_watcher watcher = {.ready = act_on_ready, .post = act_on_record};

        CHECK_EQ(dn_watch_posts(NULL, NULL, &watcher), 1);
}

/* --- The kinds -------------------------------------------------------------------------------- */

/* What happens to a function that would be called after exit() has begun. */
typedef enum lateness {
        REFUSED,
        CALLED, /* on the thread that exits, inside its call */
} lateness;

typedef struct kind {
        const char *name;
        void (*lead)(void);
        lateness lateness;
        bool needs_bus;
        bool is_alone; /* it may not call the library */
} kind;

static const kind kinds[] = {
        {"observer", lead_to_observer, REFUSED, false, false},
        {"local observer", lead_to_local_observer, CALLED, false, false},
        {"distributed observer", lead_to_distributed_observer, REFUSED, false, false},
        {"prefix observer", lead_to_prefix_observer, REFUSED, false, false},
        {"enqueue", lead_to_enqueue, REFUSED, false, false},
        {"loop", lead_to_loop, REFUSED, false, false},
        {"destroy hook", lead_to_destroy_hook, CALLED, false, false},
        {"refused destroy hook", lead_to_refused_destroy_hook, CALLED, false, false},
        {"retain", lead_to_retain, CALLED, false, false},
        {"release", lead_to_release, CALLED, false, false},
        {"bus observer", lead_to_bus_observer, REFUSED, false, false},
        {"token", lead_to_token, REFUSED, false, false},
        {"callback", lead_to_callback, REFUSED, false, false},
        {"list", lead_to_list, CALLED, false, false},
        {"work of the host", lead_to_work_of_the_host, CALLED, false, false},
        {"work of a center", lead_to_work_of_a_center, REFUSED, false, false},
        {"outcome", lead_to_outcome, REFUSED, true, false},
        {"service", lead_to_service, REFUSED, true, false},
        {"permission", lead_to_permission, REFUSED, true, false},
        {"cancelled request", lead_to_cancelled_request, REFUSED, true, false},
        {"refused call", lead_to_refused_call, CALLED, false, false},
        {"end of a call", lead_to_end_of_call, REFUSED, true, false},
        {"end of a service", lead_to_end_of_service, CALLED, false, false},
        {"ready watch", lead_to_ready_watch, REFUSED, true, false},
        {"processed watch", lead_to_processed_watch, REFUSED, true, false},
        {"end of a watch", lead_to_end_of_watch, CALLED, false, false},
        {"table", lead_to_table_record, CALLED, false, false},
        {"diagnostics", lead_to_diagnostics, CALLED, false, true},
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))
