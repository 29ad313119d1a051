/* Calls every public function once, as a callback may. */
#pragma once

#include <darwinnotify/darwinnotify.h>
#include <notify.h>
#include <notify_private.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "centers.h"
#include "test.h"

static inline void everything_event(const dn_event *event, void *context)
{
}

static inline void everything_work(void *argument)
{
}

static inline void everything_bus(dn_center *center, bool is_on_bus, void *context)
{
}

static inline void everything_callback(dn_center *center, void *observer, const char *name,
                                       const void *object, const dn_dict *user_info)
{
}

static inline void everything_token(int token, void *context)
{
}

static inline void everything_outcome(const dn_outcome *outcome, void *context)
{
}

static inline void everything_request(dn_request *request, const dn_request_info *info,
                                      void *context)
{
        (void)dn_request_refuse(request, NULL, NULL, NULL);
}

static inline int everything_name(const dn_name_record *record, void *context)
{
        return 0;
}

static inline int everything_ready(void *context)
{
        return 1;
}

static inline int everything_post(const dn_post_record *record, void *context)
{
        return 1;
}

static inline void call_tokens(void)
{
        const dn_token_handler handler = {.invoke = everything_token};
        int token, other, fd, changed;
        uint64_t state;

        CHECK_EQ(notify_register_check("self.inner", &token), NOTIFY_STATUS_OK);
        CHECK(notify_is_valid_token(token));
        CHECK_EQ(notify_check(token, &changed), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_set_state(token, 1), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_get_state(token, &state), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_suspend(token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_resume(token), NOTIFY_STATUS_OK);
        (void)notify_monitor_file(token, (char[]){"/"}, 0);
        CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_plain("self.inner", &token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_file_descriptor("self.inner", &fd, 0, &other), NOTIFY_STATUS_OK);
        CHECK_EQ(dn_notify_register_callback("self.inner", &handler, NULL, &other),
                 NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_signal("self.other", SIGCHLD, &other), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_post("self.inner"), NOTIFY_STATUS_OK);
        notify_set_options(NOTIFY_OPT_ENABLE);
}

static inline void call_observers(dn_center *center)
{
        const dn_handler handler = {.invoke = everything_event};
        const dn_bus_handler of_bus = {.invoke = everything_bus};
        dn_observer *observer = NULL, *next = NULL;
        uint64_t value = 0;

        CHECK(dn_center_observe(center, "self.inner", &handler, NULL, &observer) >= 0);
        CHECK_EQ(dn_observer_replace(observer, &handler, NULL, &next), 0);
        dn_observer_unref(dn_observer_ref(observer));
        dn_observer_unref(observer);
        dn_observer_cancel(next);
        dn_observer_cancel_wait(next);
        dn_observer_unref(next);
        observer = NULL;
        (void)dn_center_observe_prefix(center, "self.inner", &handler, NULL, &observer);
        dn_observer_cancel_wait(observer);
        dn_observer_unref(observer);
        observer = NULL;
        CHECK_EQ(dn_center_observe_bus(center, &of_bus, NULL, &observer), 0);
        dn_observer_cancel_wait(observer);
        dn_observer_unref(observer);
        CHECK(dn_center_add_observer(center, &value, everything_callback, "self.inner", NULL, 0) >=
              0);
        CHECK_EQ(dn_center_remove_observer(center, &value, "self.inner", NULL), 0);
        CHECK_EQ(dn_center_remove_every_observer(center, &value), 0);
        CHECK(dn_center_post(center, "self.inner", NULL, NULL, 0) >= 0);
        CHECK(dn_center_is_on_bus(center) >= 0);
        CHECK(dn_center_get_objects(center) >= 0);
        CHECK_EQ(dn_center_get_statistic(center, DN_STATISTIC_NAMES, &value), 0);
        CHECK_EQ(dn_center_set_executor(center, dn_executor_delivery_thread()), 0);
        CHECK_EQ(dn_center_set_executor(center, NULL), 0);
        CHECK_EQ(dn_center_enqueue(center, everything_work, NULL), 0);
}

static inline void call_centers(void)
{
        dn_center *opened;
        bool is_suspended = dn_center_is_suspended(dn_center_distributed());

        CHECK_EQ(dn_center_open("none", &opened), 0);
        CHECK(!dn_center_unref(opened));
        CHECK_EQ(dn_center_open_distributed("none", &opened), 0);
        CHECK(!dn_center_unref(opened));
        CHECK_EQ(dn_center_post(dn_center_local(), "inner", NULL, NULL, 0), 0);
        CHECK_EQ(dn_center_set_suspended(dn_center_distributed(), is_suspended), 0);
        CHECK_EQ(dn_may_post("inner"), 1);
        CHECK(dn_version());
}

static inline void call_requests(dn_center *center)
{
        const dn_call_plan plan = {.service = "org.example.Inner",
                                   .kind = "org.example.Inner.Ask"};
        const dn_call_handler ended = {.ended = everything_outcome};
        const dn_service_plan of_service = {.name = "org.example.Inner"};
        const dn_service_handler handler = {.invoke = everything_request};
        dn_call *call = NULL;
        dn_service *service = NULL;

        CHECK(dn_service_open(center, &of_service, &handler, NULL, &service) != -EINVAL);
        if (service) {
                CHECK_EQ(dn_service_export(service, plan.kind), 0);
                CHECK_EQ(dn_service_unexport(service, plan.kind), 0);
                (void)dn_service_has_name(service);
        }
        CHECK(dn_call_begin(center, &plan, &ended, NULL, &call) != -EINVAL);
        dn_call_cancel(call);
        CHECK(!dn_call_unref(call) && !dn_service_close(service));
        CHECK_EQ(dn_request_answer(NULL, NULL), -EINVAL);
}

static inline void call_inspection(void)
{
        const dn_watcher watcher = {.ready = everything_ready, .post = everything_post};
        const dn_table_reader reader = {0};
        dn_watch *watch = NULL;
        char *path;
        int fd;

        CHECK_EQ(dn_list_names(NULL, everything_name, NULL), 0);
        fd = dn_find_table(NULL, &path);
        if (fd >= 0) {
                CHECK_EQ(dn_read_table(fd, &reader), 0);
                free(path);
                close(fd);
        }
        (void)dn_watch_posts("none", NULL, &watcher);
        if (dn_watch_open(NULL, NULL, &watcher, &watch) < 0)
                return;
        CHECK(dn_watch_get_fd(watch) >= 0);
        CHECK(dn_watch_process(watch) != -EINVAL);
        dn_watch_stop(watch);
        CHECK(!dn_watch_close(watch));
}

static inline void call_loop(void)
{
        dn_loop *loop;

        CHECK_EQ(dn_loop_new(&loop), 0);
        CHECK(dn_loop_get_fd(loop) >= 0 && dn_loop_executor(loop) && dn_executor_inline());
        CHECK_EQ(dn_loop_process(loop), 0);
        CHECK(!dn_loop_close(loop));
}

static inline void call_everything_public(void)
{
        int r;

        call_observers(dn_center_darwin());
        call_tokens();
        call_centers();
        call_requests(dn_center_darwin());
        call_inspection();
        call_loop();
        r = dn_flush(0);
        CHECK(r == 0 || r == -ETIMEDOUT || r == -ENOTCONN);
        CHECK_EQ(dn_shutdown(), -EDEADLK);
}
