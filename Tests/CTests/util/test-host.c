/* Functions of the host, of every kind, that end their thread, exit, or come when the process
 * exits. */
#include <errno.h>
#include <notify.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "centers.h"
#include "requests.h"
#include "tally.h"

#define NAME "com.example.host"

/* What the called function does. */
static enum { END_THREAD, EXIT, NOTE, CALL_EVERYTHING } deed;
static _Atomic unsigned n_called;

static void ignore_callback(dn_center *center, void *observer, const char *name,
                            const void *object, const dn_dict *user_info)
{
}

static int ignore_record(const dn_name_record *record, void *context)
{
        return 0;
}

static void ignore_outcome(const dn_outcome *outcome, void *context)
{
}

static void call_everything(void)
{
        const dn_call_plan plan = {.service = SERVICE, .kind = KIND("Other")};
        const dn_call_handler ended = {.ended = ignore_outcome};
        dn_center *center = dn_center_darwin();
        dn_observer *observer;
        int token, r;

        observer = observe_ok(center, "self.inner", &(dn_handler){.invoke = ignore_event}, NULL);
        CHECK_EQ(dn_center_post(center, "self.inner", NULL, NULL, 0), 0);
        CHECK_EQ(dn_center_post(dn_center_local(), "inner", NULL, NULL, 0), 0);
        CHECK_EQ(dn_center_add_observer(center, &deed, ignore_callback, "self.inner", NULL, 0), 0);
        CHECK_EQ(dn_center_remove_every_observer(center, &deed), 0);
        CHECK(dn_center_is_on_bus(center) >= 0);
        CHECK_EQ(notify_register_check("self.inner", &token), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_cancel(token), NOTIFY_STATUS_OK);
        CHECK_EQ(dn_list_names(NULL, ignore_record, NULL), 0);
        CHECK(dn_call_begin(center, &plan, &ended, NULL, NULL) <= 0);
        r = dn_flush(0);
        CHECK(r == 0 || r == -ETIMEDOUT);
        CHECK_EQ(dn_shutdown(), -EDEADLK);
        dn_observer_cancel_wait(observer);
        dn_observer_unref(observer);
}

static void act(void *context)
{
        if (deed == END_THREAD)
                pthread_exit(NULL);
        if (deed == EXIT)
                exit(7);
        if (deed == CALL_EVERYTHING)
                call_everything();
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

static void lead_to_outcome(void)
{
        dn_call_plan plan = {.service = SERVICE, .kind = KIND("Nothing"), .timeout_us = FOREVER};
        dn_call_handler handler = {.ended = act_on_outcome};

        CHECK_EQ(dn_call_begin(dn_center_darwin(), &plan, &handler, NULL, NULL), 0);
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
} kind;

static const kind kinds[] = {
        {"observer", lead_to_observer, REFUSED, false},
        {"local observer", lead_to_local_observer, CALLED, false},
        {"distributed observer", lead_to_distributed_observer, REFUSED, false},
        {"enqueue", lead_to_enqueue, REFUSED, false},
        {"loop", lead_to_loop, REFUSED, false},
        {"destroy hook", lead_to_destroy_hook, CALLED, false},
        {"refused destroy hook", lead_to_refused_destroy_hook, CALLED, false},
        {"release", lead_to_release, CALLED, false},
        {"bus observer", lead_to_bus_observer, REFUSED, false},
        {"token", lead_to_token, REFUSED, false},
        {"callback", lead_to_callback, REFUSED, false},
        {"list", lead_to_list, CALLED, false},
        {"work of the host", lead_to_work_of_the_host, CALLED, false},
        {"outcome", lead_to_outcome, REFUSED, true},
        {"service", lead_to_service, REFUSED, true},
        {"permission", lead_to_permission, REFUSED, true},
        {"ready watch", lead_to_ready_watch, REFUSED, true},
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const kind *kind_named(const char *name)
{
        for (size_t i = 0; i < N_KINDS; i++)
                if (strcmp(kinds[i].name, name) == 0)
                        return &kinds[i];
        return NULL;
}

/* Arguments: a kind and a deed. */
ROLE(lead)
{
        const kind *kind = kind_named(args[0]);

        dup2(STDOUT_FILENO, STDERR_FILENO);
        deed = (unsigned)atoi(args[1]);
        kind->lead();
        WAIT_UNTIL(n_called > 0);
        return 0;
}

static void check_each(unsigned chosen_deed, int status, const char *line)
{
        test_bus *bus = test_bus_begin();

        for (size_t i = 0; i < N_KINDS; i++) {
                test_child *child;
                const char *said;

                if (kinds[i].needs_bus && test_bus_is_none(bus))
                        continue;
                child = test_spawn_role("lead", kinds[i].name, FORMAT("%u", chosen_deed), NULL);
                said = line ? test_child_read_line(child) : NULL;
                if (line && !(said && strstr(said, line)))
                        test_fail(__FILE__, __LINE__, "%s: no line", kinds[i].name);
                int found = test_child_wait(child);
                if (found != status)
                        test_fail(__FILE__, __LINE__, "%s: status %d", kinds[i].name, found);
        }
        test_bus_stop(bus);
}

TEST(functionsOfEachKindThatEndTheirThreadAbort)
{
        check_each(END_THREAD, 128 + SIGABRT, "a callback terminated its thread");
}

TEST(functionsOfEachKindMayExit)
{
        check_each(EXIT, 7, NULL);
}

TEST(functionsOfEachKindMayCallAnyFunction)
{
        check_each(CALL_EVERYTHING, 0, NULL);
}

/* --- When the process exits ------------------------------------------------------------------- */

static const kind *late_kind;

/* After the library's exit handler. */
static void lead_late(void)
{
        bool is_called = late_kind->lateness == CALLED;

        has_exited = true;
        n_called = 0;
        late_kind->lead();
        if (is_called)
                WAIT_UNTIL(n_called > 0);
        else
                test_let_pass_ms(50); /* nothing is certain to come */
        _exit((n_called > 0) == is_called ? 0 : 1);
}

ROLE(leadLate)
{
        late_kind = kind_named(args[0]);
        CHECK_EQ(atexit(lead_late), 0);
        deed = NOTE;
        late_kind->lead();
        WAIT_UNTIL(n_called > 0);
        return 0;
}

TEST(handlersOfNoKindStartOnceExitHasBegun)
{
        test_bus *bus = test_bus_begin();

        for (size_t i = 0; i < N_KINDS; i++) {
                if (kinds[i].needs_bus && test_bus_is_none(bus))
                        continue;
                int status = test_child_wait(test_spawn_role("leadLate", kinds[i].name, NULL));
                if (status != 0)
                        test_fail(__FILE__, __LINE__, "%s: status %d", kinds[i].name, status);
        }
        test_bus_stop(bus);
}

TEST_MAIN()
