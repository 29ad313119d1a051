/* A bus without room for another match rule. */
#include <stdlib.h>

#include "asked.h"
#include "inside.h"
#include "roles.h"
#include "table-file.h"
#include "tally.h"
#include "test-bus.h"

#define N_NAMES 40

static const test_bus_limits few_rules = {.max_match_rules = 20};

static test_bus *bus;
static test_peer *peer;
static test_child *poster;
static tally seen[N_NAMES];
static _Atomic unsigned n_observed;
static _Atomic bool was_removed; /* a rule, for another one */
static void (*_Atomic after_removal)(void);
static _Atomic int n_removals; /* of rules, by this process */

/* Posts the numbered names below the given number, then confirms it. */
ROLE(postNumbered)
{
        char line[16];

        post_ok(dn_center_darwin(), "hello");
        printf("ready\n");
        while (fgets(line, sizeof line, stdin)) {
                for (unsigned i = 0; i < strtoul(line, NULL, 10); i++)
                        post_ok(dn_center_darwin(), numbered("many", i));
                printf("posted\n");
        }
        return 0;
}

/* Makes another process post every name; returns when the bus has processed the posts. */
static void post_all_elsewhere(void)
{
        const char *last = numbered("many", n_observed - 1);

        CHECK_STREQ(test_child_ask(poster, FORMAT("%u", n_observed)), "posted");
        test_peer_await(peer, last, NULL);
}

/* As post_all_elsewhere(), but a program that has no table posts one name. */
static void post_by_peer(void)
{
        test_signal signal;

        test_peer_post(peer, "N");
        test_peer_next(peer, &signal);
}

static void on_call(const char *member, const char **destination, const char **argument)
{
}

/* When the library removes the first rule of several and the bus has read that, runs a function of
 * the test. */
static void look_for_removal(sd_bus *connection, const char *member)
{
        bool is_removal = strcmp(member, "RemoveMatch") == 0;
        void (*next)(void) = is_removal ? atomic_exchange(&after_removal, NULL) : NULL;

        n_removals += is_removal;
        if (!next)
                return;
        CHECK(sd_bus_flush(connection) >= 0);
        next();
        was_removed = true;
}

static void (*after_call)(sd_bus *connection, const char *member) = look_for_removal;

static void observe_until_removal(void (*next)(void))
{
        after_removal = next;
        for (unsigned i = 0; i < N_NAMES && !was_removed; i++) {
                tally_observe_soon(dn_center_darwin(), numbered("many", i), &seen[i]);
                n_observed += !was_removed;
        }
        CHECK(was_removed);
}

TEST_ON_BUS(postWhileRulesAreExchangedIsDelivered)
{
        bus = test_bus_begin_with(&few_rules);
        peer = test_peer_open_watching(bus);
        poster = test_child_await(test_spawn_role("postNumbered", NULL), "ready");
        await_bus(dn_center_darwin());
        observe_until_removal(post_all_elsewhere);
        for (unsigned i = 0; i < n_observed; i++)
                WAIT_UNTIL_EQ(seen[i].n_posts, 1);
        fence_bus(peer);
        for (unsigned i = 0; i < n_observed; i++)
                CHECK_EQ(seen[i].n_posts, 1);
}

/* A post by a process that has the next table may have come between the two. */
TEST_ON_BUS(tableIsLookedAtOnceRulesAreExchanged)
{
        bus = test_bus_begin_with(&few_rules);
        await_bus(dn_center_darwin());
        observe_until_removal(remove_table);
        WAIT_UNTIL(seen[0].n_posts > 0);
}

TEST_ON_BUS(postWhileARuleIsWidenedIsDelivered)
{
        dn__dbus *dbus;

        bus = test_bus_begin();
        peer = test_peer_open_watching(bus);
        await_bus(dn_center_darwin());
        tally_observe(dn_center_darwin(), "N", &seen[0]);
        dbus = dbus_of(dn_center_darwin());
        CHECK(dbus_is_native(dbus));
        after_removal = post_by_peer;
        dbus_set_region(dbus, 7); /* of another table */
        CHECK(!after_removal);
        WAIT_UNTIL_EQ(seen[0].n_posts, 1);
}

/* The rule of every name stays for it. */
TEST_ON_BUS(refusedNameIsStillHeardWhenTheLastPrefixIsGone)
{
        dn_observer *observers[N_NAMES], *of_prefix = NULL;
        static tally of_all;
        int n = 0;

        bus = test_bus_begin_with(&few_rules);
        peer = test_peer_open(test_bus_address(bus));
        await_bus(dn_center_darwin());
        for (; n_removals == 0 && n < N_NAMES; n++)
                observers[n] = tally_observe(dn_center_darwin(), numbered("many", (unsigned)n),
                                             &seen[n]);
        CHECK(dn_center_observe_prefix(dn_center_darwin(), "x", TALLY_HANDLER(&of_all), NULL,
                                       &of_prefix) >= 0);
        for (int i = 0; i < n - 1; i++) {
                tally_drop(observers[i]);
                if (i == n - 4) /* one of the last two has a rule, and is let go later */
                        tally_drop(of_prefix);
        }
        WAIT_UNTIL_EQ(n_removals, n - 1);
        test_peer_post(peer, numbered("many", (unsigned)n - 1));
        WAIT_UNTIL_EQ(seen[n - 1].n_posts, 1);
}

TEST_ON_BUS(signalsOfOthersDoNotWakeAProcessWhoseRefusedNamesAreGone)
{
        dn_observer *observers[N_NAMES];
        uint64_t n_before;
        unsigned n = 0;

        bus = test_bus_begin_with(&few_rules);
        peer = test_peer_open(test_bus_address(bus));
        await_bus(dn_center_darwin());
        tally_observe(dn_center_darwin(), "stays", &seen[0]);
        for (; n_removals == 0 && n < N_NAMES; n++)
                observers[n] = tally_observe(dn_center_darwin(), numbered("many", n), &seen[1]);
        CHECK(dbus_has_wide_rule(dbus_of(dn_center_darwin())));
        while (n > 0)
                tally_drop(observers[--n]);
        WAIT_UNTIL(!dbus_has_wide_rule(dbus_of(dn_center_darwin())));
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0); /* the bus has read that, too */
        n_before = statistic(DN_STATISTIC_SIGNALS_RECEIVED);
        for (int i = 0; i < 20; i++)
                test_peer_post(peer, "of others");
        test_peer_post(peer, "stays");
        WAIT_UNTIL_EQ(seen[0].n_posts, 1);
        CHECK_EQ(statistic(DN_STATISTIC_SIGNALS_RECEIVED), n_before + 1);
}

/* Takes all available rules on another connection. */
static void take_all_rules(void)
{
        peer = test_peer_open(test_bus_address(bus));
        for (int i = 0; i < 9; i++)
                test_peer_watch(peer, FORMAT("type='signal',path='/taken%d'", i));
}

static void give_all_rules_back(void)
{
        test_peer *other = test_peer_open(test_bus_address(bus));
        const char *name = FORMAT("%s", test_peer_unique_name(peer));

        peer = test_peer_close(peer);
        WAIT_UNTIL(!test_peer_sees(other, name));
        test_peer_close(other);
}

TEST_ON_BUS(refusedObserverIsAcceptedWhenTheBusHasRoom)
{
        if (!test_bus_is_broker(NULL))
                SKIP("dbus-daemon has a limit for each connection, which others cannot use up");
        bus = test_bus_begin_with(&(test_bus_limits){.max_match_rules = 9});
        take_all_rules();
        for (int i = 0; i < 2; i++)
                expect_refusal(dn_center_darwin(), "N", &seen[0]);
        give_all_rules_back();
        tally_observe(dn_center_darwin(), "N", &seen[0]);
        tally_observe(dn_center_darwin(), "M", &seen[1]);
        post_elsewhere("N", 1, "return");
        post_elsewhere("M", 1, "return");
        WAIT_UNTIL_EQ(seen[0].n_posts, 1);
        WAIT_UNTIL_EQ(seen[1].n_posts, 1);
}

TEST_MAIN()
