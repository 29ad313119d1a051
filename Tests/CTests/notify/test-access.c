/* Which users may register, post and set the state of which names. Which name belongs to whom is
 * in post/test-name.c. */
#include <errno.h>
#include <notify_keys.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "notify-tally.h"

#define USER 65534 /* "nobody": a bus rejects users that the machine does not know */

#define SYSTEM kNotifyClockSet

/* Checks everything a name can be used for: registering, hearing a post, setting a state. */
static void check_all_is_allowed(const char *name)
{
        static tally seen, observed;
        uint64_t n_before = seen.n_calls;
        int checked = add_check(name), called = add_callback(name, &seen);
        int signalled = add_kind(KIND_SIGNAL, name);
        dn_observer *observer = tally_observe(dn_center_darwin(), name, &observed);
        CHECK(is_changed(checked));
        CHECK_EQ(notify_post(name), NOTIFY_STATUS_OK);
        CHECK(is_changed(checked));
        WAIT_UNTIL_EQ(seen.n_calls, n_before + 1);
        post_ok(dn_center_darwin(), name);
        CHECK(is_changed(checked));
        WAIT_UNTIL_EQ(seen.n_calls, n_before + 2);
        WAIT_UNTIL_EQ(observed.n_calls, n_before + 2);
        CHECK_EQ(notify_set_state(called, 42), NOTIFY_STATUS_OK);
        CHECK_EQ(get_state(checked), 42);
        cancel(checked);
        cancel(called);
        cancel(signalled);
        tally_drop(observer);
}

static void check_registration_is_refused(const char *name)
{
        static tally seen;
        dn_observer *observer = NULL;
        uint64_t n_before = seen.n_destroyed;

        check_no_kind_registers(name, NOTIFY_STATUS_NOT_AUTHORIZED);
        CHECK_EQ(dn_center_observe(dn_center_darwin(), name, TALLY_HANDLER(&seen), NULL, &observer),
                 -EACCES);
        CHECK(!observer);
        CHECK_EQ(seen.n_destroyed, n_before + 1);
        CHECK_EQ(dn_center_add_observer(dn_center_darwin(), &seen, tally_callback, name, NULL, 0),
                 -EACCES);
}

/* <notify.h> reports success, a center the error; nothing reaches the bus. */
static void check_post_is_dropped(test_peer *peer, const char *name)
{
        CHECK_EQ(notify_post(name), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_simple_post(name), NOTIFY_STATUS_OK);
        CHECK_EQ(dn_center_post(dn_center_darwin(), name, NULL, NULL, 0), -EACCES);
        CHECK_EQ(notify_post("fence"), NOTIFY_STATUS_OK);
        test_peer_expect(peer, "fence");
}

/* Runs a test on the user's bus, in a process that belongs to this user before its first thread
 * starts. */
static void run_as_user(void (*run)(test_peer *peer))
{
        const char *base = getenv("DN_TEST_DIRECTORY");

        SKIP_IF(geteuid() != 0, "only root can become another user");
        if (base)
                CHECK_EQ(chmod(base, 0711), 0);
        CHECK_EQ(chown(test_directory(), USER, USER), 0);
        pid_t pid = test_fork();
        if (pid == 0) {
                if (setresgid(USER, USER, USER) < 0 || setresuid(USER, USER, USER) < 0)
                        _exit(1);
                test_bus *bus = test_bus_begin();
                test_peer *peer = test_peer_open_watching(bus);
                run(peer);
                test_peer_close(peer);
                test_bus_stop(bus);
                exit(0);
        }
        CHECK_EQ(test_wait_for(pid), 0);
}

static void use_allowed_names(test_peer *peer)
{
        check_all_is_allowed("user.uid.65534.x");
        check_all_is_allowed("com.apple.x");
}

TEST(ownAndOrdinaryNamesAreAllowed)
{
        run_as_user(use_allowed_names);
}

static void use_a_name_of_another(test_peer *peer)
{
        check_registration_is_refused("user.uid.655340");
        check_post_is_dropped(peer, "user.uid.655340");
}

TEST_ON_BUS(namesOfOtherUsersAreRefused)
{
        run_as_user(use_a_name_of_another);
}

static void use_system_names(test_peer *peer)
{
        static tally seen = {0}, observed = {0};
        int checked = add_check(SYSTEM), called = add_callback(SYSTEM, &seen);

        tally_observe(dn_center_darwin(), SYSTEM, &observed);
        CHECK(is_changed(checked));
        check_post_is_dropped(peer, SYSTEM);
        CHECK_EQ(notify_set_state(checked, 42), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_set_state(called, 42), NOTIFY_STATUS_OK);
        CHECK_EQ(get_state(checked), 0);
        CHECK_EQ(get_state(called), 0);
        fence_bus(peer);
        CHECK(!is_changed(checked));
        CHECK_EQ(seen.n_calls, 0);
        CHECK_EQ(observed.n_calls, 0);
        cancel(checked);
        CHECK_EQ(get_state(add_check(SYSTEM)), 0);
}

TEST_ON_BUS(systemNamesAreReadOnly)
{
        run_as_user(use_system_names);
}

static _Atomic bool changes_user;

/* Overrides libc's: another thread changes the user once this one has found out who it is. */
uid_t geteuid(void)
{
        uid_t user = (uid_t)syscall(SYS_geteuid);

        if (atomic_exchange(&changes_user, false))
                (void)syscall(SYS_setresuid, -1, USER, -1);
        return user;
}

/* Also in the middle of a look for the table, which stays that of the first user. */
TEST(effectiveUserCountsAtEachCall)
{
        static tally seen = {0};
        int kept;

        SKIP_IF(geteuid() != 0, "only root can become another user");
        test_bus_begin();
        kept = add_check("user.uid.5");
        add_callback(SYSTEM, &seen);
        CHECK_EQ(seteuid(USER), 0);
        add_check("user.uid.65534.x");
        check_registration_is_refused("user.uid.6");
        CHECK_EQ(notify_post(SYSTEM), NOTIFY_STATUS_OK);
        CHECK_EQ(dn_center_post(dn_center_darwin(), SYSTEM, NULL, NULL, 0), -EACCES);
        if (DN_HAS_BUS)
                CHECK_EQ(dn_center_post(dn_center_distributed(), SYSTEM, NULL, NULL, 0), -EACCES);
        CHECK_EQ(dn_center_post(dn_center_local(), SYSTEM, NULL, NULL, 0), 0);
        CHECK(is_changed(kept)); /* earlier registrations stay */
        CHECK_EQ(notify_set_state(kept, 1), NOTIFY_STATUS_OK);
        CHECK_EQ(get_state(kept), 0);
        CHECK_EQ(seteuid(0), 0);
        CHECK_EQ(notify_set_state(kept, 1), NOTIFY_STATUS_OK);
        CHECK_EQ(get_state(kept), 1);
        changes_user = true;
        WAIT_UNTIL((notify_post("M"), !changes_user));
        CHECK_EQ(syscall(SYS_setresuid, -1, 0, -1), 0);
        fence_executor();
        CHECK_EQ(seen.n_calls, 0);
        CHECK_EQ(notify_post(SYSTEM), NOTIFY_STATUS_OK);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
}

TEST_MAIN()
