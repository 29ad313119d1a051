/* A service hears that it has got or lost its name. */
#include <pthread.h>

#include "executors.h"
#include "requests.h"

/* What a handler has heard about the name. */
typedef struct named {
        _Atomic unsigned n_reports;
        _Atomic bool has_name;
        _Atomic bool blocks; /* while set, a report does not return */
        _Atomic unsigned n_destroyed;
} named;

static void note_named(bool has_name, void *context)
{
        named *self = context;

        CHECK_EQ(has_name, self->n_reports % 2 == 0);
        self->has_name = has_name;
        self->n_reports++;
        WAIT_UNTIL(!self->blocks);
}

static void note_named_end(void *context)
{
        ((named *)context)->n_destroyed++;
}

static void ignore_named(dn_request *request, const dn_request_info *info, void *context)
{
        (void)dn_request_answer(request, NULL);
}

static dn_service *serve_named(named *self, const dn_executor *executor, int expected)
{
        dn_service_handler handler = {.invoke = ignore_named,
                                      .name_changed = note_named,
                                      .context = self,
                                      .destroy = note_named_end};
        dn_service_plan plan = {.name = SERVICE, .kinds = all_kinds, .options = DN_SERVICE_QUEUE};
        dn_service *service = NULL;

        await_bus(dn_center_darwin());
        CHECK_EQ(dn_service_open(dn_center_darwin(), &plan, &handler, executor, &service),
                 expected);
        return service;
}

TEST_ON_BUS(serviceHearsThatItHasGotAndLostItsName)
{
        test_bus *bus = test_bus_begin();
        test_child *first = spawn_service();
        static named self;
        dn_service *service = serve_named(&self, NULL, DN_NAME_QUEUED);

        check_echo("to the first");
        CHECK_EQ(self.n_reports, 0);
        test_child_kill(first);
        WAIT_UNTIL_EQ(self.n_reports, 1);
        for (unsigned i = 0; i < 3; i++) {
                test_bus_kill(bus);
                WAIT_UNTIL_EQ(self.n_reports, 2 + 2 * i);
                CHECK(!dn_service_has_name(service));
                test_bus_start_again(bus);
                WAIT_UNTIL_EQ(self.n_reports, 3 + 2 * i);
                CHECK(dn_service_has_name(service));
        }
        dn_service_close(service);
        WAIT_UNTIL_EQ(self.n_destroyed, 1);
        CHECK_EQ(self.n_reports, 7);
}

TEST_ON_BUS(noReportOfTheNameBeginsOnceTheServiceIsClosed)
{
        test_bus *bus = test_bus_begin();
        static named self = {.blocks = true};
        dn_service *service = serve_named(&self, NULL, 0);

        WAIT_UNTIL_EQ(self.n_reports, 1);
        test_bus_kill(bus);
        WAIT_UNTIL(!dn_service_has_name(service));
        dn_service_close(service);
        self.blocks = false;
        WAIT_UNTIL_EQ(self.n_destroyed, 1);
        CHECK_EQ(self.n_reports, 1);
}

TEST_ON_BUS(shutdownWaitsForAReportOfTheName)
{
        test_bus_begin();
        static named self = {.blocks = true};
        dn_service *service = serve_named(&self, NULL, 0);

        WAIT_UNTIL_EQ(self.n_reports, 1);
        CHECK_EQ(dn_shutdown(), -EBUSY);
        self.blocks = false;
        WAIT_UNTIL_EQ(dn_shutdown(), 0);
        dn_service_close(service);
        CHECK_EQ(self.n_destroyed, 1);
}

static _Atomic int shutdown_result = 1;

static void shut_down(bool has_name, void *context)
{
        shutdown_result = dn_shutdown();
}

static void *run_kept(void *argument)
{
        run_kept_work();
        return argument;
}

TEST_ON_BUS(aReportOfTheNameOnAThreadOfTheHostIsInsideTheLibrary)
{
        const dn_service_handler handler = {.invoke = ignore_named, .name_changed = shut_down};
        const dn_service_plan plan = {.name = SERVICE, .kinds = all_kinds};
        const dn_executor executor = {.enqueue = keep_work};
        dn_service *service;

        test_bus_begin();
        await_bus(dn_center_darwin());
        CHECK_EQ(dn_service_open(dn_center_darwin(), &plan, &handler, &executor, &service), 0);
        WAIT_UNTIL(is_kept);
        CHECK_EQ(pthread_join(test_start_thread(run_kept, NULL), NULL), 0);
        CHECK_EQ(shutdown_result, -EDEADLK);
        dn_service_close(service);
}

TEST_MAIN()
