/* When a process looks for its table. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "center/table.h"
#include "centers.h"
#include "inside.h"
#include "member.h"
#include "table-file.h"
#include "tally.h"
#include "test-bus.h"
#include "test-peer.h"

static _Atomic unsigned n_looks;
static tally heard;

/* Overrides libc's: looks at the path of a table. */
int lstat(const char *path, struct stat *ret_status)
{
        n_looks += strstr(path, "/darwin-notify/table") != NULL;
        return fstatat(AT_FDCWD, path, ret_status, AT_SYMLINK_NOFOLLOW);
}

/* Of other users, for example. */
TEST_ON_BUS(signalsOfOtherTablesCauseFewLooks)
{
        enum { N_SIGNALS = 200, MAX_LOOKED_AT = 4 }; /* directories */
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        uint64_t began_us, n_spans;

        await_bus(dn_center_darwin());
        tally_observe(dn_center_darwin(), "N", &heard);
        n_looks = 0;
        began_us = test_now_us();
        for (uint64_t i = 0; i < N_SIGNALS; i++)
                test_peer_post_full(peer, TEST_WIRE_PREFIX "N", "N", i + 1, 7 + i % 2);
        WAIT_UNTIL_EQ(heard.n_posts, N_SIGNALS);
        n_spans = (test_now_us() - began_us) / 100000 + 2;
        CHECK(n_looks <= n_spans * MAX_LOOKED_AT);
}

/* The table is gone, and nothing else makes the process look. */
TEST_ON_BUS(aSignalOfAnotherTableRightAfterALookIsNotForgotten)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        dn_center *center = dn_center_darwin();

        await_bus(center);
        tally_observe(center, "N", &heard);
        WAIT_UNTIL(dbus_has_settled(dbus_of(center)));
        dn__table_look(dn__hub_find(center), false);
        remove_table();
        test_peer_post_full(peer, TEST_WIRE_PREFIX "N", "N", 1, 7);
        WAIT_UNTIL(is_there());
}

/* What was posted until then may have been counted in a table that is gone. */
TEST_ON_BUS(aProcessThatHasMovedLooksOnceTheBusHasTheWiderRules)
{
        dn_center *center = dn_center_darwin();
        dn__dbus *dbus;

        test_bus_begin();
        await_bus(center);
        tally_observe(center, "N", &heard);
        dbus = dbus_of(center);
        WAIT_UNTIL(dbus_is_native(dbus) && dbus_has_settled(dbus));
        dbus_delay_rules(dbus);
        remove_table();
        forget_look(center);
        post_ok(center, "other");
        CHECK(dbus_has_gap(dbus)); /* what the bus says of a name would make it look, too */
        remove_table();
        dbus_finish_rules(dbus);
        WAIT_UNTIL(is_there());
}

/* Makes a table for another bus, and so removes those that no process has claimed. */
ROLE(tidy)
{
        tally_observe(open_center("unix:path=/nonexistent/bus"), "N", &heard);
        return 0;
}

/* A process that posts often without one makes it. */
static void post_until_there_is_a_table(void)
{
        for (int i = 0; i < 100 && !is_there(); i++)
                post_ok(dn_center_darwin(), "N");
        CHECK(is_there());
}

/* A process that only posts has no claim on the table that it has made. */
TEST_NO_BUS(nothingIsPostedInATableThatWasTakenForALeftover)
{
        test_child *member;

        test_bus_use_none();
        post_until_there_is_a_table();
        CHECK_EQ(test_child_wait(test_spawn_role("tidy", NULL)), 0);
        member = spawn_member("N");
        for (uint64_t i = 1; i <= 3; i++) {
                post_ok(dn_center_darwin(), "N");
                WAIT_UNTIL_EQ(posts_of(member), i);
        }
        end_member(member);
}

TEST_NO_BUS(aProcessWhoseTableWasTakenForALeftoverMakesAnother)
{
        test_bus_use_none();
        post_until_there_is_a_table();
        CHECK_EQ(test_child_wait(test_spawn_role("tidy", NULL)), 0);
        remove_table(); /* of the other */
        CHECK(!is_there());
        post_until_there_is_a_table();
}

static _Atomic bool is_another;
static _Atomic unsigned n_users;

/* Overrides libc's. */
uid_t geteuid(void)
{
        n_users++;
        return is_another ? 4711 : (uid_t)syscall(SYS_geteuid);
}

TEST_NO_BUS(aProcessThatHasBecomeAnotherUserDoesNotLookAllTheTime)
{
        dn_center *center = dn_center_darwin();
        unsigned n_before;

        test_bus_use_none();
        tally_observe(center, "N", &heard);
        is_another = true;
        forget_look(center);
        dn__loop_wake(dn__hub_find(center)->loop);
        n_before = n_users;
        test_let_pass_ms(300);
        CHECK(n_users - n_before <= 10);
}

TEST_MAIN()
