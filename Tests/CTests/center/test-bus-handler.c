/* Handlers of the state of the bus. */
#include <darwinnotify/distributed.h>
#include <darwinnotify/library.h>
#include <darwinnotify/loop.h>
#include <unistd.h>

#include "tally.h"
#include "test-bus.h"

#define MAX_STATES 64

/* The states that a handler has received, in order. */
typedef struct history {
        dn_center *center;
        dn_observer *cancels; /* what the next call cancels */
        int states[MAX_STATES];
        _Atomic size_t n_states;
        _Atomic uint64_t n_destroyed;
        _Atomic bool blocks; /* while set, a call does not return */
} history;

static void note_state(dn_center *center, bool is_on_bus, void *context)
{
        history *self = context;

        CHECK(center == self->center);
        CHECK(self->n_states < MAX_STATES);
        self->states[self->n_states] = is_on_bus;
        self->n_states++;
        if (self->cancels)
                dn_observer_cancel(self->cancels);
        WAIT_UNTIL(!self->blocks);
}

static void note_end(void *context)
{
        ((history *)context)->n_destroyed++;
}

#define HANDLER_OF(self) \
        (&(dn_bus_handler){.invoke = note_state, .context = (self), .destroy = note_end})

static dn_observer *observe_bus(dn_center *center, history *self, const dn_executor *executor)
{
        dn_observer *observer = NULL;

        self->center = center;
        CHECK_EQ(dn_center_observe_bus(center, HANDLER_OF(self), executor, &observer), 0);
        CHECK(observer);
        return observer;
}

/* Begins on the bus, however long the bus takes to answer. */
static dn_observer *observe_found(dn_center *center, history *self, const dn_executor *executor)
{
        WAIT_UNTIL_EQ(dn_center_is_on_bus(center), 1);
        return observe_bus(center, self, executor);
}

/* The first state, then the opposite each time. */
static void check_alternates(const history *self, int first)
{
        for (size_t i = 0; i < self->n_states; i++)
                CHECK_EQ(self->states[i], i % 2 ? !first : first);
}

static void await_state(const history *self, size_t index, int state)
{
        WAIT_UNTIL_EQ(self->n_states, index + 1);
        CHECK_EQ(self->states[index], state);
        CHECK_EQ(dn_center_is_on_bus(self->center), state);
}

/* `other`, which may be NULL, has received as many states. */
static void lose_and_find(test_bus *bus, const history *self, const history *other)
{
        size_t n_before = self->n_states;

        test_bus_kill(bus);
        await_state(self, n_before, 0);
        if (other)
                await_state(other, n_before, 0);
        test_bus_start_again(bus);
        await_state(self, n_before + 1, 1);
        if (other)
                await_state(other, n_before + 1, 1);
}

TEST_ON_BUS(handlersHearOfTheBusThenOfEachChange)
{
        test_bus *bus = test_bus_begin();
        static history darwin = {0}, distributed = {0}, direct = {0};
        const dn_executor *executor = dn_executor_inline();
        dn_observer *observers[] = {observe_found(dn_center_darwin(), &darwin, NULL),
                                    observe_found(dn_center_distributed(), &distributed, NULL),
                                    observe_found(dn_center_darwin(), &direct, executor)};

        WAIT_UNTIL(darwin.n_states == 1 && distributed.n_states == 1 && direct.n_states == 1);
        CHECK_EQ(darwin.states[0], 1);
        for (int i = 0; i < 3; i++)
                lose_and_find(bus, &darwin, &distributed);
        WAIT_UNTIL_EQ(direct.n_states, 7);
        check_alternates(&darwin, 1);
        check_alternates(&distributed, 1);
        check_alternates(&direct, 1);
        for (size_t i = 0; i < 3; i++)
                tally_drop(observers[i]);
        WAIT_UNTIL(darwin.n_destroyed == 1 && distributed.n_destroyed == 1 &&
                   direct.n_destroyed == 1);
}

TEST_ON_BUS(busThatComesLaterIsReported)
{
        test_bus *bus = test_bus_prepare(NULL);
        static history self = {0};

        test_bus_use(bus);
        observe_bus(dn_center_darwin(), &self, NULL);
        WAIT_UNTIL_EQ(self.n_states, 1);
        CHECK_EQ(self.states[0], 0);
        test_bus_start_again(bus);
        WAIT_UNTIL_EQ(self.n_states, 2);
        CHECK_EQ(self.states[1], 1);
}

TEST_NO_BUS(absenceOfABusIsReportedOnce)
{
        static history self = {0};
        dn_observer *observer = observe_bus(open_center("none"), &self, NULL);

        WAIT_UNTIL_EQ(self.n_states, 1);
        CHECK_EQ(self.states[0], 0);
        tally_drop(observer);
        WAIT_UNTIL_EQ(self.n_destroyed, 1);
        CHECK_EQ(self.n_states, 1);
}

TEST_ON_BUS(changesWaitForAHandlerThatBlocks)
{
        test_bus *bus = test_bus_begin();
        static history slow = {0}, quick = {0};
        const dn_executor *executor = dn_executor_inline();

        slow.blocks = true;
        observe_found(dn_center_darwin(), &slow, NULL);
        observe_found(dn_center_darwin(), &quick, executor);
        WAIT_UNTIL(slow.n_states == 1 && quick.n_states == 1);
        lose_and_find(bus, &quick, NULL);
        lose_and_find(bus, &quick, NULL);
        CHECK_EQ(slow.n_states, 1);
        slow.blocks = false;
        WAIT_UNTIL_EQ(slow.n_states, 5);
        check_alternates(&slow, 1);
}

TEST_ON_BUS(handlersRunInTheLoopOfTheHost)
{
        test_bus *bus = test_bus_begin();
        static history self = {0};
        dn_loop *loop = new_loop();
        const dn_executor *executor = dn_loop_executor(loop);
        dn_observer *observer = observe_found(dn_center_darwin(), &self, executor);

        CHECK_EQ(self.n_states, 0);
        WAIT_UNTIL((dn_loop_process(loop), self.n_states == 1));
        test_bus_kill(bus);
        WAIT_UNTIL((dn_loop_process(loop), self.n_states == 2));
        self.cancels = observer;
        test_bus_start_again(bus);
        WAIT_UNTIL((dn_loop_process(loop), self.n_states == 3));
        CHECK_EQ(self.n_destroyed, 1);
        test_bus_kill(bus);
        WAIT_UNTIL(!dn_center_is_on_bus(dn_center_darwin()));
        (void)dn_loop_process(loop);
        CHECK_EQ(self.n_states, 3);
        check_alternates(&self, 1);
        dn_observer_unref(observer);
        dn_loop_close(loop);
}

TEST_ON_BUS(observersOfTheBusKeepTheirCenterOpen)
{
        test_bus *bus = test_bus_begin();
        static history self = {0};
        dn_center *center = open_center(test_bus_address(bus));
        dn_observer *observer = observe_found(center, &self, NULL);

        CHECK_EQ(statistic_of(center, DN_STATISTIC_NAMES), 0);
        dn_center_unref(center);
        WAIT_UNTIL_EQ(self.n_states, 1);
        test_bus_kill(bus);
        WAIT_UNTIL_EQ(self.n_states, 2);
        check_alternates(&self, 1);
        tally_drop(observer);
        WAIT_UNTIL_EQ(self.n_destroyed, 1);
}

TEST_ON_BUS(shutdownEndsObserversOfTheBus)
{
        test_bus_begin();
        static history self = {0}, again = {0};
        dn_observer *observer = observe_found(dn_center_darwin(), &self, NULL);

        WAIT_UNTIL_EQ(self.n_states, 1);
        CHECK_EQ(dn_shutdown(), 0);
        CHECK_EQ(self.n_destroyed, 1);
        dn_observer_unref(observer);
        tally_drop(observe_found(dn_center_darwin(), &again, NULL));
        WAIT_UNTIL_EQ(again.n_destroyed, 1);
        CHECK_EQ(dn_shutdown(), 0);
}

TEST_NO_BUS(observingTheBusRefusesWrongArguments)
{
        static history self = {0};
        dn_observer *untouched = (dn_observer *)&self, *observer;
        const dn_executor empty = {0};
        dn_bus_handler none = {.context = &self, .destroy = note_end};
        dn_center *center = open_center("none");

        CHECK_EQ(dn_center_observe_bus(NULL, HANDLER_OF(&self), NULL, &untouched), -EINVAL);
        CHECK_EQ(dn_center_observe_bus(dn_center_local(), HANDLER_OF(&self), NULL, &untouched),
                 -EINVAL);
        CHECK_EQ(dn_center_observe_bus(center, &none, NULL, &untouched), -EINVAL);
        CHECK_EQ(dn_center_observe_bus(center, HANDLER_OF(&self), &empty, &untouched), -EINVAL);
        CHECK(untouched == (dn_observer *)&self);
        CHECK_EQ(self.n_destroyed, 4);
        observer = observe_bus(center, &self, NULL);
        static tally seen = {0};
        CHECK_EQ(dn_observer_replace(observer, TALLY_HANDLER(&seen), NULL, &untouched), -EINVAL);
        CHECK_EQ(seen.n_destroyed, 1);
        CHECK_EQ(dn_center_post(center, "\xff" "bus", NULL, NULL, 0), -EINVAL);
}

TEST_MAIN()
