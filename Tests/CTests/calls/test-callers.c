/* Callers that leave, on a bus with a low limit for match rules. */
#include <systemd/sd-bus.h>

#include "calls/state.h"
#include "delivery/hub.h"
#include "liar.h"
#include "record.h"
#include "requests.h"
#include "tally.h"

#define N_RULES 20
#define N_CALLERS 40

static sd_bus *callers[N_CALLERS];

/* Each caller is a connection of its own, and has a request that is never answered. */
static void begin_callers(const test_bus *bus)
{
        for (int i = 0; i < N_CALLERS; i++) {
                CHECK(sd_bus_new(&callers[i]) >= 0);
                CHECK(sd_bus_set_address(callers[i], test_bus_address(bus)) >= 0);
                CHECK(sd_bus_set_bus_client(callers[i], true) >= 0);
                CHECK(sd_bus_start(callers[i]) >= 0);
                CHECK(sd_bus_call_method_async(callers[i], NULL, SERVICE, "/org/example/Test",
                                               SERVICE, "Hold", NULL, NULL, NULL) >= 0);
                CHECK(sd_bus_flush(callers[i]) >= 0);
        }
}

static void check_cancellations(const test_bus *bus, served *seen)
{
        begin_callers(bus);
        WAIT_UNTIL_EQ(seen->n_begun, N_CALLERS);
        for (unsigned i = 0; i < N_CALLERS; i++) {
                sd_bus_close_unref(callers[i]);
                WAIT_UNTIL_EQ(seen->n_cancelled, i + 1);
        }
}

static void end_service(dn_service *service, served *seen)
{
        while (seen->n_held)
                CHECK_EQ(dn_request_answer(seen->held[--seen->n_held], NULL), -ECANCELED);
        dn_service_close(service);
}

TEST_ON_BUS(moreCallersThanTheBusHasRulesForAreMissedWhenTheyLeave)
{
        test_bus *bus = test_bus_begin_with(&(test_bus_limits){.max_match_rules = N_RULES});
        static served seen;
        dn_service *service;

        CHECK_EQ(serve(SERVICE, 0, &seen, &service), 0);
        check_cancellations(bus, &seen);
        end_service(service, &seen);
        CHECK_EQ(dn_shutdown(), 0);
}

TEST_ON_BUS(callersAreMissedThoughObserversHaveAllRulesOfTheBus)
{
        test_bus *bus = test_bus_begin_with(&(test_bus_limits){.max_match_rules = N_RULES});
        test_peer *peer = test_peer_open(test_bus_address(bus));
        static tally observed[N_RULES];
        static served seen;
        dn_service *service;

        tally_observe_all("many", observed, N_RULES);
        CHECK_EQ(serve(SERVICE, 0, &seen, &service), 0);
        check_cancellations(bus, &seen);
        for (unsigned i = 0; i < N_RULES; i++)
                test_peer_post(peer, numbered("many", i));
        for (int i = 0; i < N_RULES; i++)
                WAIT_UNTIL(observed[i].n_posts > 0);
        end_service(service, &seen);
        test_peer_close(peer);
}

#define N_IDLE (DN__CALLERS_MAX_IDLE + 4)

static size_t count_idle_callers(void)
{
        dn__calls *calls = dn__hub_find(dn_center_darwin())->calls;

        DN__AUTO_LOCK(&calls->dbus->lock);
        return calls->n_idle_callers;
}

static void ask_once(sd_bus *caller)
{
        CHECK(sd_bus_call_method(caller, SERVICE, "/org/example/Test", SERVICE, "Nothing", NULL,
                                 NULL, NULL) >= 0);
}

TEST_ON_BUS(theOldestIdleCallersAreForgotten)
{
        test_bus *bus = test_bus_begin();
        static sd_bus *idle[N_IDLE];
        static served seen;
        dn_service *service;

        CHECK_EQ(serve(SERVICE, 0, &seen, &service), 0);
        for (unsigned i = 0; i < N_IDLE; i++) {
                idle[i] = open_plain_bus(test_bus_address(bus));
                ask_once(idle[i]);
                WAIT_UNTIL_EQ(count_idle_callers(), i < DN__CALLERS_MAX_IDLE
                                                            ? i + 1
                                                            : DN__CALLERS_MAX_IDLE);
        }
        ask_once(idle[0]);
        for (unsigned i = 0; i < N_IDLE; i++)
                sd_bus_close_unref(idle[i]);
        WAIT_UNTIL_EQ(count_idle_callers(), 0);
        end_service(service, &seen);
}

TEST_MAIN()
