/* Out of memory while requests are made and answered, and while services and observers of owners
 * begin. */
#include "calls/callers.h"
#include "calls/kinds.h"
#include "calls/message.h"
#include "delivery/hub.h"
#include "failing-allocator.h"
#include "library-thread.h"
#include "requests.h"
#include "tally.h"

static _Atomic long n_until_failure = -1; /* that allocation alone fails; negative: none */
static _Atomic long n_failures;
static _Thread_local bool is_inside; /* a call of the library */
static _Atomic bool spares_threads;  /* of the library: only what is inside fails */

static _Atomic bool fails_in_threads; /* of the library: each allocation */

static bool allocation_fails(void)
{
        if (fails_in_threads && is_thread_of_library()) {
                n_failures++;
                return true;
        }
        if (n_until_failure < 0 || (!is_inside && (spares_threads || !is_thread_of_library())) ||
            n_until_failure-- != 0)
                return false;
        n_failures++;
        return true;
}

/* Does what may fail for the n-th allocation, until there are fewer. */
static void fail_each(void (*live)(long n))
{
        long n_before;
        long n = 0;

        do {
                n_before = n_failures;
                live(n++);
                n_until_failure = -1;
        } while (n_failures > n_before);
        CHECK(n > 3);
}

static void begin_to_fail(long n)
{
        n_until_failure = n;
        is_inside = true;
}

static int is_over(int r)
{
        is_inside = false;
        /* A thread that cannot have memory cannot be started. */
        CHECK(r == 0 || r == -ENOMEM || r == -EAGAIN || r == -ENOTCONN || r == DN_NOT_CONNECTED ||
              r == DN_NAME_QUEUED);
        return r;
}

/* --- Requests -------------------------------------------------------------------------------- */

static void answer(dn_request *request, const dn_request_info *info, void *context)
{
        int r = dn_request_answer(request, info->arguments);

        CHECK(r == 0 || r == -ECANCELED || r == -ENOTCONN || r == -ENOMEM);
}

static int serve_at(dn_center *center, served *seen, dn_service **ret_service)
{
        dn_service_handler handler = {
                .invoke = answer, .context = seen, .destroy = served_destroy};
        dn_service_plan plan = {.name = SERVICE, .kinds = all_kinds, .options = DN_SERVICE_QUEUE};

        return dn_service_open(center, &plan, &handler, NULL, ret_service);
}

static int serve_plainly(served *seen, dn_service **ret_service)
{
        return serve_at(dn_center_darwin(), seen, ret_service);
}

/* The caller and its service are in one process, so each allocation of both sides fails once. */
static void call_at(dn_center *center)
{
        outcome seen = {0};
        dn_dict *arguments = dict_of_text(DN_REPLY_VALUE, "asked");
        dn_call_plan plan = {.service = SERVICE, .kind = KIND("Echo"), .arguments = arguments,
                             .timeout_us = TEST_DEADLINE_US};
        dn_call_handler handler = {.ended = outcome_note, .context = &seen};
        dn_call *call = NULL;

        is_inside = true;
        if (is_over(dn_call_begin(center, &plan, &handler, dn_executor_inline(), &call)) == 0) {
                int error = outcome_wait(&seen);

                CHECK(error == 0 || error == -ENOMEM || error == -EREMOTEIO ||
                      error == -ECONNRESET || error == -ENOTCONN || error == -ENXIO);
                if (error == 0)
                        CHECK_STREQ(dn_dict_get_string(seen.reply, DN_REPLY_VALUE), "asked");
        }
        n_until_failure = -1;
        (void)dn_call_unref(call);
        dn_dict_unref(seen.reply);
        dn_dict_unref(seen.details);
        dn_dict_unref(arguments);
}

static void await_echo(void)
{
        outcome seen;

        do {
                WAIT_UNTIL(ask_begin(SERVICE, KIND("Echo"), "asked", TEST_DEADLINE_US, &seen,
                                     NULL) == 0);
                (void)outcome_wait(&seen);
                dn_dict_unref(seen.reply);
                dn_dict_unref(seen.details);
        } while (seen.error != 0);
}

static void call_and_recover(long n)
{
        n_until_failure = n;
        call_at(dn_center_darwin());
        await_echo();
}

TEST_ON_BUS(aCallEndsOnceWhicheverAllocationFails)
{
        served seen = {0};
        dn_service *service = NULL;

        require_failing_allocator();
        test_bus_begin();
        CHECK_EQ(serve_plainly(&seen, &service), 0);
        await_echo();
        fail_each(call_and_recover);
        (void)dn_service_close(service);
        WAIT_UNTIL_EQ(seen.n_destroyed, 1);
}

/* --- A life --------------------------------------------------------------------------------- */

static const char *address;

/* Everything is made anew: the requests of a center, its service, what is known of the caller. */
static void live(long n)
{
        served handled = {0};
        dn_center *center = NULL;
        dn_service *service = NULL;

        begin_to_fail(n);
        if (is_over(dn_center_open(address, &center)) == 0) {
                is_inside = true;
                if (is_over(serve_at(center, &handled, &service)) >= 0)
                        call_at(center);
        }
        n_until_failure = -1;
        (void)dn_service_close(service);
        dn_center_unref(center);
        WAIT_UNTIL_EQ(handled.n_destroyed, center != NULL);
}

TEST_ON_BUS(theFirstRequestEndsOnceWhicheverAllocationFails)
{
        require_failing_allocator();
        address = test_bus_address(test_bus_begin());
        fail_each(live);
}

/* The bus says about the last one that it does not exist. */
TEST_ON_BUS(aCallerThatCannotBeKeptIsNotFound)
{
        served seen = {0};
        dn_service *service = NULL;
        bool is_found = false;

        require_failing_allocator();
        test_bus_begin();
        CHECK_EQ(serve_plainly(&seen, &service), 0);
        dn__calls *calls = dn__hub_find(dn_center_darwin())->calls;
        spares_threads = true;
        for (long n = 0; !is_found; n++) {
                DN__AUTO_LOCK(&calls->dbus->lock);
                begin_to_fail(n);
                is_found = dn__caller_get(calls, ":9.9") != NULL;
                is_inside = false;
                n_until_failure = -1;
                CHECK(is_found || n_failures > 0);
        }
        (void)dn_service_close(service);
}

/* --- Introspection -------------------------------------------------------------------------- */

#define N_KINDS 200 /* more than a stream has room for at first */

static const char *kinds[N_KINDS];
static char *whole[2];

static void introspect(long n)
{
        char *texts[2];

        begin_to_fail(n);
        texts[0] = dn__introspection_new(kinds, N_KINDS);
        texts[1] = dn__introspection_new_parent("child");
        is_inside = false;
        for (int i = 0; i < 2; i++) {
                CHECK(!texts[i] || strcmp(texts[i], whole[i]) == 0);
                free(texts[i]);
        }
}

TEST_NO_BUS(aDescriptionIsWholeOrMissingWhicheverAllocationFails)
{
        require_failing_allocator();
        for (int i = 0; i < N_KINDS; i++)
                kinds[i] = KIND("Echo");
        whole[0] = dn__introspection_new(kinds, N_KINDS);
        whole[1] = dn__introspection_new_parent("child");
        fail_each(introspect);
        free(whole[0]);
        free(whole[1]);
}

static dn_service *described;

static void introspect_service(long n)
{
        begin_to_fail(n);
        char *text = dn__kinds_introspect(described);
        is_inside = false;
        CHECK(!text || strcmp(text, whole[0]) == 0);
        free(text);
}

TEST_ON_BUS(theDescriptionOfAServiceIsWholeOrMissingWhicheverAllocationFails)
{
        served seen = {0};

        require_failing_allocator();
        test_bus_begin();
        CHECK_EQ(serve_plainly(&seen, &described), 0);
        whole[0] = dn__kinds_introspect(described);
        spares_threads = true;
        fail_each(introspect_service);
        free(whole[0]);
        (void)dn_service_close(described);
}

/* --- Services -------------------------------------------------------------------------------- */

static void open_and_close(long n)
{
        served seen = {0};
        dn_service *service = NULL;
        int r;

        begin_to_fail(n);
        r = is_over(serve_plainly(&seen, &service));
        CHECK_EQ(r >= 0, service != NULL);
        n_until_failure = -1;
        if (service)
                WAIT_UNTIL(dn_service_has_name(service));
        (void)dn_service_close(service);
        WAIT_UNTIL_EQ(seen.n_destroyed, 1);
}

/* Without memory the thread of the bus would reconnect each time, after a pause. */
TEST_ON_BUS(aServiceOpensOrNotWhicheverAllocationFails)
{
        require_failing_allocator();
        test_bus_begin();
        spares_threads = true;
        WAIT_UNTIL(dn_center_is_on_bus(dn_center_darwin()) == 1);
        fail_each(open_and_close);
}

/* --- Owners ---------------------------------------------------------------------------------- */

typedef struct reports {
        _Atomic unsigned n;
        _Atomic unsigned n_destroyed;
} reports;

static void note_report(const dn_owner *owner, void *context)
{
        (void)owner;
        ((reports *)context)->n++;
}

static void note_destroyed(void *context)
{
        ((reports *)context)->n_destroyed++;
}

static void observe_owner(long n)
{
        reports seen = {0};
        dn_owner_handler handler = {
                .invoke = note_report, .context = &seen, .destroy = note_destroyed};
        dn_observer *observer = NULL;

        begin_to_fail(n);
        (void)is_over(dn_center_observe_owner(dn_center_darwin(), SERVICE, &handler, NULL,
                                              &observer));
        if (observer)
                WAIT_UNTIL(seen.n > 0);
        n_until_failure = -1;
        dn_observer_cancel(observer);
        (void)dn_observer_unref(observer);
        WAIT_UNTIL_EQ(seen.n_destroyed, 1);
}

TEST_ON_BUS(anOwnerIsReportedOrNotWhicheverAllocationFails)
{
        require_failing_allocator();
        test_bus_begin();
        WAIT_UNTIL(dn_center_is_on_bus(dn_center_darwin()) == 1);
        fail_each(observe_owner);
}

static dn_observer *observe_reports(reports *seen)
{
        dn_owner_handler handler = {
                .invoke = note_report, .context = seen, .destroy = note_destroyed};
        dn_observer *observer = NULL;

        CHECK_EQ(dn_center_observe_owner(dn_center_darwin(), SERVICE, &handler, NULL, &observer),
                 0);
        return observer;
}

TEST_ON_BUS(aStateThatWaitsForMemoryOccupiesNoProcessor)
{
        static reports first, second;
        uint64_t began_us;
        long n_before;

        require_failing_allocator();
        test_bus_begin();
        WAIT_UNTIL(dn_center_is_on_bus(dn_center_darwin()) == 1);
        observe_reports(&first);
        WAIT_UNTIL_EQ(first.n, 1);
        n_before = n_failures;
        began_us = test_now_us();
        fails_in_threads = true;
        observe_reports(&second);
        WAIT_UNTIL(n_failures > n_before);
        test_let_pass_ms(300);
        /* It tries every ten milliseconds. */
        CHECK((uint64_t)(n_failures - n_before) < 50 + (test_now_us() - began_us) / 5000);
        CHECK_EQ(second.n, 0);
        fails_in_threads = false;
        WAIT_UNTIL_EQ(second.n, 1);
}

static pthread_mutex_t handling = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool is_handling;

static void wait_for_lock(const dn_event *event, void *context)
{
        is_handling = true;
        CHECK_EQ(pthread_mutex_lock(&handling), 0);
        CHECK_EQ(pthread_mutex_unlock(&handling), 0);
}

/* Three states wait for one thread. Their queue has no room for the third one without memory. */
static void report_three(long n)
{
        static const dn_handler handler = {.invoke = wait_for_lock};
        reports seen[3] = {0};
        dn_observer *observers[3];

        is_handling = false;
        CHECK_EQ(pthread_mutex_lock(&handling), 0);
        dn_observer *busy = observe_ok(dn_center_darwin(), "self.x", &handler, NULL);
        post_ok(dn_center_darwin(), "self.x");
        WAIT_UNTIL(is_handling);
        for (int i = 0; i < 3; i++) {
                n_until_failure = i == 2 ? n : -1;
                observers[i] = observe_reports(&seen[i]);
                WAIT_UNTIL(test_others_rest());
        }
        n_until_failure = -1;
        CHECK_EQ(pthread_mutex_unlock(&handling), 0);
        for (int i = 0; i < 3; i++) {
                WAIT_UNTIL(seen[i].n > 0);
                tally_drop(observers[i]);
                WAIT_UNTIL_EQ(seen[i].n_destroyed, 1);
        }
        tally_drop(busy);
}

TEST_ON_BUS(anOwnerIsReportedToEachObserverWhicheverAllocationFails)
{
        long n = 0;

        require_failing_allocator();
        test_bus_begin();
        WAIT_UNTIL(dn_center_is_on_bus(dn_center_darwin()) == 1);
        do
                report_three(n++);
        while (n_failures == n);
        CHECK(n > 2);
}

TEST_MAIN()
