/* Requests, of which each system call fails once, in every way that it can. */
#include "each-call.h"
#include "requests.h"
#include "tally.h"

static _Atomic unsigned n_destroyed;

static void answer(dn_request *request, const dn_request_info *info, void *context)
{
        int r = dn_request_answer(request, info->arguments);

        CHECK(r == 0 || r == -ECANCELED || r == -ENOTCONN || is_lack(r));
}

static void note_destroyed(void *context)
{
        n_destroyed++;
}

static void check_outcome(int error)
{
        static const int listed[] = {-ENXIO, -ECONNRESET, -ETIMEDOUT, -ENOTCONN, -EREMOTEIO};

        for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
                if (error == listed[i])
                        return;
        CHECK(error == 0 || error == -ENOMEM);
}

/* Returns whether a request was answered. */
static bool ask_echo(void)
{
        outcome seen;
        int r;

        is_inside = true;
        r = ask_begin(SERVICE, KIND("Echo"), "text", TEST_DEADLINE_US, &seen, NULL);
        is_inside = false;
        if (r < 0) {
                CHECK(r == -ENOTCONN || is_lack(r));
                return false;
        }
        check_outcome(outcome_wait(&seen));
        dn_dict_unref(seen.reply);
        dn_dict_unref(seen.details);
        return seen.error == 0;
}

static dn_service *open_service(void)
{
        dn_service_handler handler = {.invoke = answer, .destroy = note_destroyed};
        dn_service_plan plan = {.name = SERVICE, .kinds = all_kinds, .options = DN_SERVICE_QUEUE};
        dn_service *service = NULL;
        int r = TRY(dn_service_open(dn_center_darwin(), &plan, &handler, NULL, &service),
                    DN_NOT_CONNECTED, DN_NAME_QUEUED, -ENOTCONN);

        CHECK_EQ(r >= 0, service != NULL);
        return service;
}

static void use_requests(void)
{
        footing before = take_footing();
        unsigned n_expected = n_destroyed + 1;
        dn_service *service;

        fail_from_here();
        service = open_service();
        if (service) {
                (void)ask_echo();
                WAIT_UNTIL(ask_echo());
        }
        is_inside = true;
        (void)dn_service_close(service);
        is_inside = false;
        shut_down(before);
        CHECK_EQ(n_destroyed, n_expected);
}

TEST_ON_BUS(requestsEndOnceWhicheverCallFails)
{
        test_bus_begin();
        fail_each(use_requests);
}

/* --- owners ----------------------------------------------------------------------------------- */

static _Atomic unsigned n_owned;

static void note_owner(const dn_owner *owner, void *context)
{
        n_owned += owner->connection != NULL;
}

static void use_owner(void)
{
        const dn_owner_handler handler = {.invoke = note_owner, .destroy = note_destroyed};
        footing before = take_footing();
        unsigned n_expected = n_destroyed + 1, n_before = n_owned;
        dn_observer *observer = NULL;
        int r;

        fail_from_here();
        r = TRY(dn_center_observe_owner(dn_center_darwin(), SERVICE, &handler, NULL, &observer),
                DN_NOT_CONNECTED);
        CHECK_EQ(r >= 0, observer != NULL);
        if (observer)
                WAIT_UNTIL(n_owned > n_before);
        (void)tally_drop(observer);
        shut_down(before);
        CHECK_EQ(n_destroyed, n_expected);
}

TEST_ON_BUS(anOwnerIsHeardOfWhicheverCallFails)
{
        test_bus_begin();
        test_child *service = spawn_service();

        fail_each(use_owner);
        CHECK_EQ(test_child_wait(service), 0);
}

TEST_MAIN()
