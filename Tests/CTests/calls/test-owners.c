/* Who owns a name: observers of it. */
#include <darwinnotify/distributed.h>
#include <darwinnotify/library.h>
#include <darwinnotify/statistics.h>
#include <systemd/sd-bus.h>

#include "requests.h"
#include "tally.h"

#define MAX_STATES 4096

/* The states that a handler has received, in order. */
typedef struct history {
        char owners[MAX_STATES][16]; /* "": nobody; "-": no bus */
        _Atomic size_t n_states;
        _Atomic unsigned n_destroyed;
        dn_observer *_Atomic cancels; /* what the next call cancels */
        _Atomic bool blocks;          /* while set, a call does not return */
} history;

static void note_owner(const dn_owner *owner, void *context)
{
        history *self = context;
        size_t n = self->n_states;

        CHECK(n < MAX_STATES);
        CHECK(owner->center && owner->name[0]);
        CHECK(owner->is_on_bus || !owner->connection);
        snprintf(self->owners[n], sizeof self->owners[n], "%s",
                 owner->connection ? owner->connection : owner->is_on_bus ? "" : "-");
        self->n_states = n + 1;
        if (self->cancels)
                dn_observer_cancel(self->cancels);
        WAIT_UNTIL(!self->blocks);
}

static void note_end(void *context)
{
        ((history *)context)->n_destroyed++;
}

static dn_owner_handler handler_of(history *self)
{
        return (dn_owner_handler){
                .invoke = note_owner, .context = self, .destroy = note_end};
}

static dn_observer *observe_owner(const char *name, history *self, const dn_executor *executor)
{
        dn_owner_handler handler = handler_of(self);
        dn_observer *observer = NULL;

        CHECK_EQ(dn_center_observe_owner(dn_center_darwin(), name, &handler, executor, &observer),
                 0);
        CHECK(observer);
        return observer;
}

static void drop(dn_observer *observer, const history *self)
{
        dn_observer_cancel(observer);
        dn_observer_unref(observer);
        WAIT_UNTIL_EQ(self->n_destroyed, 1);
}

/* Waits for the state with an index; returns it. */
static const char *state_at(const history *self, size_t index)
{
        WAIT_UNTIL(self->n_states > index);
        return self->owners[index];
}

/* --- A connection that owns names ----------------------------------------------------------- */

static sd_bus *connect_owner(const test_bus *bus)
{
        sd_bus *owner = NULL;

        CHECK(sd_bus_new(&owner) >= 0);
        CHECK(sd_bus_set_address(owner, test_bus_address(bus)) >= 0);
        CHECK(sd_bus_set_bus_client(owner, true) >= 0);
        CHECK(sd_bus_start(owner) >= 0);
        return owner;
}

static void check_owner_is(const history *self, size_t index, sd_bus *owner)
{
        const char *name;

        CHECK(sd_bus_get_unique_name(owner, &name) >= 0);
        CHECK_STREQ(state_at(self, index), name);
}

/* --- Changes -------------------------------------------------------------------------------- */

TEST_ON_BUS(handlersHearOfTheOwnerThenOfEachChange)
{
        test_bus_begin();
        static history self = {0};
        dn_observer *observer = observe_owner(SERVICE, &self, NULL);
        char first[16];

        CHECK_STREQ(state_at(&self, 0), "");
        test_child *service = spawn_service();
        CHECK_EQ(state_at(&self, 1)[0], ':');
        snprintf(first, sizeof first, "%s", self.owners[1]);
        test_child_kill(service);
        CHECK_STREQ(state_at(&self, 2), "");
        service = spawn_service();
        CHECK_EQ(state_at(&self, 3)[0], ':');
        CHECK(strcmp(self.owners[3], first) != 0);
        (void)test_child_ask(service, "close");
        CHECK_STREQ(state_at(&self, 4), "");
        CHECK_EQ(test_child_wait(service), 0);
        drop(observer, &self);
        CHECK_EQ(self.n_states, 5);
}

TEST_ON_BUS(ownerIsFollowedDirectlyByTheNextOne)
{
        test_bus_begin();
        static history self = {0};
        test_child *first = spawn_service();
        test_child *second = test_spawn_role("serve", "queue", NULL);

        CHECK_EQ(atoi(test_child_read_line(second)), DN_NAME_QUEUED);
        dn_observer *observer = observe_owner(SERVICE, &self, NULL);
        CHECK_EQ(state_at(&self, 0)[0], ':');
        test_child_kill(first);
        CHECK_EQ(state_at(&self, 1)[0], ':');
        CHECK(strcmp(self.owners[0], self.owners[1]) != 0);
        drop(observer, &self);
        CHECK_EQ(test_child_wait(second), 0);
}

TEST_ON_BUS(everyObserverHearsOfEachChangeOnce)
{
        test_bus *bus = test_bus_begin();
        static history early = {0}, late = {0};
        sd_bus *owner = connect_owner(bus);

        dn_observer *first = observe_owner(SERVICE, &early, NULL);
        CHECK_STREQ(state_at(&early, 0), "");
        CHECK(sd_bus_request_name(owner, SERVICE, 0) >= 0);
        check_owner_is(&early, 1, owner);
        dn_observer *second = observe_owner(SERVICE, &late, dn_executor_inline());
        check_owner_is(&late, 0, owner);
        CHECK(sd_bus_release_name(owner, SERVICE) >= 0);
        CHECK_STREQ(state_at(&early, 2), "");
        CHECK_STREQ(state_at(&late, 1), "");
        drop(first, &early);
        CHECK(sd_bus_request_name(owner, SERVICE, 0) >= 0);
        check_owner_is(&late, 2, owner);
        CHECK_EQ(early.n_states, 3);
        drop(second, &late);
        sd_bus_flush_close_unref(owner);
}

/* More than a queue of posts would keep one by one. */
TEST_ON_BUS(noChangeIsLeftOutWhileAHandlerBlocks)
{
        test_bus *bus = test_bus_begin();
        static history self = {0};
        sd_bus *owner = connect_owner(bus);
        const int n_times = 500;

        self.blocks = true;
        dn_observer *observer = observe_owner(SERVICE, &self, NULL);
        CHECK_STREQ(state_at(&self, 0), "");
        for (int i = 0; i < n_times; i++) {
                CHECK(sd_bus_request_name(owner, SERVICE, 0) >= 0);
                CHECK(sd_bus_release_name(owner, SERVICE) >= 0);
        }
        self.blocks = false;
        WAIT_UNTIL_EQ(self.n_states, 1 + 2 * (size_t)n_times);
        for (size_t i = 0; i < self.n_states; i++)
                CHECK_EQ(self.owners[i][0], i % 2 ? ':' : '\0');
        drop(observer, &self);
        sd_bus_flush_close_unref(owner);
}

TEST_ON_BUS(moreNamesAreFollowedThanTheBusHasRulesFor)
{
        enum { N_NAMES = 40 };
        test_bus *bus = test_bus_begin_with(&(test_bus_limits){.max_match_rules = 20});
        static history histories[N_NAMES];
        dn_observer *observers[N_NAMES];
        sd_bus *owner = connect_owner(bus);
        char name[64];

        for (int i = 0; i < N_NAMES; i++) {
                snprintf(name, sizeof name, "org.example.Many%d", i);
                observers[i] = observe_owner(name, &histories[i], NULL);
        }
        for (int i = 0; i < N_NAMES; i++) {
                CHECK_STREQ(state_at(&histories[i], 0), "");
                snprintf(name, sizeof name, "org.example.Many%d", i);
                CHECK(sd_bus_request_name(owner, name, 0) >= 0);
                check_owner_is(&histories[i], 1, owner);
                CHECK(sd_bus_release_name(owner, name) >= 0);
                CHECK_STREQ(state_at(&histories[i], 2), "");
        }
        for (int i = 0; i < N_NAMES; i++)
                drop(observers[i], &histories[i]);
        sd_bus_flush_close_unref(owner);
        CHECK_EQ(dn_shutdown(), 0);
}

/* --- The bus -------------------------------------------------------------------------------- */

TEST_ON_BUS(lossAndReturnOfTheBusAreReported)
{
        test_bus *bus = test_bus_begin();
        static history self = {0};
        test_child *service = spawn_service();
        dn_observer *observer = observe_owner(SERVICE, &self, NULL);
        size_t n;

        CHECK_EQ(state_at(&self, 0)[0], ':');
        for (int i = 0; i < 3; i++) {
                n = self.n_states;
                test_bus_kill(bus);
                CHECK_STREQ(state_at(&self, n), "-");
                test_bus_start_again(bus);
                /* Perhaps nobody at first: the service also has to find the bus. */
                n += state_at(&self, n + 1)[0] == '\0';
                CHECK_EQ(state_at(&self, n + 1)[0], ':');
        }
        drop(observer, &self);
        CHECK_EQ(test_child_wait(service), 0);
}

TEST_ON_BUS(busThatComesLaterIsAsked)
{
        test_bus *bus = test_bus_prepare(NULL);
        static history self = {0};

        test_bus_use(bus);
        dn_observer *observer = observe_owner(SERVICE, &self, NULL);
        CHECK_STREQ(state_at(&self, 0), "-");
        test_bus_start_again(bus);
        CHECK_STREQ(state_at(&self, 1), "");
        drop(observer, &self);
}

TEST_NO_BUS(withoutABusThatIsTheOnlyReport)
{
        static history first = {0}, second = {0};

        test_bus_use_none();
        dn_observer *observers[] = {observe_owner(SERVICE, &first, NULL),
                                    observe_owner(SERVICE, &second, NULL)};

        CHECK_STREQ(state_at(&first, 0), "-");
        CHECK_STREQ(state_at(&second, 0), "-");
        drop(observers[0], &first);
        drop(observers[1], &second);
        CHECK_EQ(first.n_states + second.n_states, 2);
}

/* --- Ends ----------------------------------------------------------------------------------- */

TEST_ON_BUS(handlerMayCancelItself)
{
        test_bus *bus = test_bus_begin();
        static history self = {0};
        sd_bus *owner = connect_owner(bus);
        dn_observer *observer = observe_owner(SERVICE, &self, NULL);

        CHECK_STREQ(state_at(&self, 0), "");
        self.cancels = observer;
        CHECK(sd_bus_request_name(owner, SERVICE, 0) >= 0);
        WAIT_UNTIL_EQ(self.n_destroyed, 1);
        CHECK(sd_bus_release_name(owner, SERVICE) >= 0);
        CHECK_EQ(self.n_states, 2);
        dn_observer_unref(observer);
        sd_bus_flush_close_unref(owner);
}

static void count_event(const dn_event *event, void *context)
{
        ++*(_Atomic unsigned *)context;
}

TEST_ON_BUS(nobodyElseSeesTheReports)
{
        test_bus_begin();
        static history self = {0};
        static _Atomic unsigned n_events;
        dn_handler all = {.invoke = count_event, .context = (void *)&n_events};
        dn_observer *observer = NULL, *replaced = NULL;
        uint64_t n_names = 0;

        CHECK_EQ(dn_center_observe_prefix(dn_center_darwin(), "", &all, NULL, &observer), 0);
        dn_observer *owner = observe_owner(SERVICE, &self, NULL);
        CHECK_STREQ(state_at(&self, 0), "");
        CHECK_EQ(dn_center_get_statistic(dn_center_darwin(), DN_STATISTIC_NAMES, &n_names), 0);
        CHECK_EQ(n_names, 1); /* the prefix */
        CHECK_EQ(dn_observer_replace(owner, &all, NULL, &replaced), -EINVAL);
        CHECK_EQ(dn_center_post(dn_center_darwin(), "org.example.end", NULL, NULL, 0), 0);
        WAIT_UNTIL_EQ(n_events, 1);
        drop(owner, &self);
        tally_drop(observer);
}

TEST_ON_BUS(shutdownEndsObserversOfOwners)
{
        test_bus_begin();
        static history self = {0};

        dn_observer *observer = observe_owner(SERVICE, &self, NULL);
        CHECK_STREQ(state_at(&self, 0), "");
        CHECK_EQ(dn_shutdown(), 0);
        CHECK_EQ(self.n_destroyed, 1);
        dn_observer_unref(observer);
        static history again = {0};
        observer = observe_owner(SERVICE, &again, NULL);
        CHECK_STREQ(state_at(&again, 0), "");
        dn_observer_unref(observer);
        CHECK_EQ(dn_shutdown(), 0);
}

TEST_ON_BUS(forkedChildLeavesItsParentsObserverAlone)
{
        test_bus *bus = test_bus_begin();
        static history self = {0};
        sd_bus *owner = connect_owner(bus);
        dn_observer *observer = observe_owner(SERVICE, &self, NULL);

        CHECK_STREQ(state_at(&self, 0), "");
        pid_t child = test_fork();
        if (child == 0) {
                dn_observer_cancel(observer);
                dn_observer_unref(observer);
                _exit(0);
        }
        CHECK_EQ(test_wait_for(child), 0);
        CHECK(sd_bus_request_name(owner, SERVICE, 0) >= 0);
        check_owner_is(&self, 1, owner);
        drop(observer, &self);
        sd_bus_flush_close_unref(owner);
}

TEST_NO_BUS(argumentsOfObserversOfOwnersAreChecked)
{
        static history self = {0};
        dn_owner_handler handler = handler_of(&self), empty = {.destroy = note_end,
                                                               .context = &self};
        dn_center *darwin = dn_center_darwin();

        test_bus_use_none();
        CHECK_EQ(dn_center_observe_owner(NULL, SERVICE, &handler, NULL, NULL), -EINVAL);
        CHECK_EQ(dn_center_observe_owner(darwin, NULL, &handler, NULL, NULL), -EINVAL);
        CHECK_EQ(dn_center_observe_owner(darwin, "no-dots", &handler, NULL, NULL), -EINVAL);
        CHECK_EQ(dn_center_observe_owner(darwin, ":1.2", &handler, NULL, NULL), -EINVAL);
        CHECK_EQ(dn_center_observe_owner(darwin, SERVICE, &empty, NULL, NULL), -EINVAL);
        CHECK_EQ(dn_center_observe_owner(dn_center_local(), SERVICE, &handler, NULL, NULL),
                 -EINVAL);
        CHECK_EQ(dn_center_observe_owner(dn_center_distributed(), SERVICE, &handler, NULL, NULL),
                 -EINVAL);
        CHECK_EQ(self.n_destroyed, 7);
        CHECK_EQ(dn_center_observe_owner(darwin, SERVICE, NULL, NULL, NULL), -EINVAL);
        CHECK_EQ(self.n_states, 0);
}

TEST_MAIN()
