/* The table is removed or replaced while processes use it: they meet again in the next one. */
#include <darwinnotify/inspect.h>
#include <dlfcn.h>
#include <errno.h>
#include <sys/resource.h>

#include "center/table.h"
#include "centers.h"
#include "direct/ring.h"
#include "inside.h"
#include "member.h"
#include "shm.h"
#include "table-file.h"
#include "test-bus.h"
#include "test-child.h"

/* --- Without a bus --------------------------------------------------------------------------- */

static bool have_table(test_child *a, test_child *b)
{
        return has_table(a) && has_table(b);
}

/* Neither process posts or registers, and no signal arrives. */
TEST_NO_BUS(eachObserverIsNotifiedOnceMoreInTheNextTable)
{
        test_bus_use_none();
        test_child *a = spawn_member("A"), *b = spawn_member("B");

        remove_table();
        WAIT_UNTIL(have_table(a, b));
        WAIT_UNTIL_EQ(posts_of(a), 1);
        WAIT_UNTIL_EQ(posts_of(b), 1);
        post_by(a, "B");
        post_by(b, "A");
        WAIT_UNTIL_EQ(posts_of(b), 2);
        WAIT_UNTIL_EQ(posts_of(a), 2);
        end_member(a);
        end_member(b);
}

/* Its last look was just now, however long this takes. */
static void look_no_more(dn_center *center)
{
        atomic_store(&dn__hub_find(center)->member.look_ms, UINT64_MAX / DN__US_PER_SECOND);
}

TEST_NO_BUS(aProcessThatMovesWakesTheOthers)
{
        static tally seen;

        test_bus_use_none();
        tally_observe(dn_center_darwin(), "N", &seen);
        test_child *moves = spawn_member("M");

        look_no_more(dn_center_darwin());
        remove_table();
        look_later(moves);
        post_by(moves, "M");
        WAIT_UNTIL_EQ(seen.n_posts, 1); /* once more, in the next table */
        post_by(moves, "N");
        WAIT_UNTIL_EQ(seen.n_posts, 2);
        end_member(moves);
}

/* A post may still use the table before. */
static void post_until_both_have_moved(test_child *a, test_child *b)
{
        while (!have_table(a, b)) {
                look_later(a);
                post_by(a, "B");
                post_by(b, "A");
        }
}

/* Some stale tables stay mapped for threads that are late. */
TEST_NO_BUS(neitherDescriptorsNorMappingsGrowInTenTables)
{
        test_bus_use_none();
        test_child *a = spawn_member("A"), *b = spawn_member("B");
        pid_t pids[] = {test_child_pid(a), test_child_pid(b)};
        unsigned n_of_a = test_n_fds_of(pids[0]), n_of_b = test_n_fds_of(pids[1]), n_mappings;

        for (int i = 0; i < 10; i++) {
                remove_table();
                post_until_both_have_moved(a, b);
        }
        CHECK_EQ(test_n_fds_of(pids[0]), n_of_a);
        CHECK_EQ(test_n_fds_of(pids[1]), n_of_b);
        n_mappings = test_n_mappings_of(pids[0], "/darwin-notify/");
        CHECK(n_mappings > 0 && n_mappings <= 10);
        end_member(a);
        end_member(b);
}

/* It would look for one at each post. */
TEST_NO_BUS(aProcessThatPostsOftenWithoutATableMakesOne)
{
        test_bus_use_none();
        for (int i = 0; i < 16; i++) {
                CHECK(!is_there());
                post_ok(dn_center_darwin(), "N");
        }
        CHECK(!is_there());
        post_ok(dn_center_darwin(), "N");
        CHECK(is_there());
        CHECK_EQ(statistic(DN_STATISTIC_TABLES), 0); /* it has no entry */
        test_child *child = spawn_member("N");
        post_ok(dn_center_darwin(), "N");
        WAIT_UNTIL_EQ(posts_of(child), 1);
        end_member(child);
}

TEST_NO_BUS(aProcessThatPostsOnceMakesNoTable)
{
        test_bus_use_none();
        post_ok(dn_center_darwin(), "N");
        CHECK(!is_there());
        test_child *child = spawn_member("N");
        post_ok(dn_center_darwin(), "N");
        WAIT_UNTIL_EQ(posts_of(child), 1);
        CHECK_EQ(statistic(DN_STATISTIC_TABLES), 0); /* it has no entry */
        end_member(child);
}

/* With a bus nobody looks without a reason. */
TEST(aTableSetStaleByMistakeIsUsedAgain)
{
        static tally seen;
        test_bus *bus = test_bus_begin();

        tally_observe(dn_center_darwin(), "N", &seen);
        test_child *child = spawn_member("M");
        AUTO_REGION *region = enter_table(test_bus_address(bus));
        dn__region_set_stale(region);
        dn__ring_all(region);
        WAIT_UNTIL(!dn__region_is_stale(region));
        CHECK(has_table(child));
        dn__region_set_stale(region);
        post_ok(dn_center_darwin(), "M");
        WAIT_UNTIL_EQ(posts_of(child), 1);
        CHECK(!dn__region_is_stale(region));
        post_by(child, "N");
        WAIT_UNTIL_EQ(seen.n_posts, 1);
        end_member(child);
}

/* A poster looks before or after the removal, and not again by the time of its next post. */
static void check_that_a_poster_finds_the_next_table(bool has_table_before)
{
        test_bus_use_none();
        test_child *observer = spawn_member("N");

        if (has_table_before)
                post_ok(dn_center_darwin(), "other");
        remove_table();
        if (!has_table_before)
                post_ok(dn_center_darwin(), "other");
        look_later(observer);
        WAIT_UNTIL((post_by(observer, "M"), has_table(observer)));
        WAIT_UNTIL_EQ(posts_of(observer), 1); /* once more */
        post_ok(dn_center_darwin(), "N");
        WAIT_UNTIL_EQ(posts_of(observer), 2);
        end_member(observer);
}

TEST_NO_BUS(aPosterThatHasJustLookedSeesThatItsTableIsStale)
{
        check_that_a_poster_finds_the_next_table(true);
}

TEST_NO_BUS(aPosterWithoutATableLooksBeforeEachPost)
{
        check_that_a_poster_finds_the_next_table(false);
}

/* Nobody sets the first table stale. */
TEST_NO_BUS(aPosterThatWasLeftBehindAloneLooksAfterFiveSeconds)
{
        test_bus_use_none();
        end_member(spawn_member("N"));
        post_ok(dn_center_darwin(), "N");
        remove_table();
        test_child *observer = spawn_member("N");
        forget_look(dn_center_darwin());
        post_ok(dn_center_darwin(), "N");
        WAIT_UNTIL_EQ(posts_of(observer), 1);
        end_member(observer);
}

static _Atomic bool is_over;

/* There may be no table at this moment: then it begins with the next one. */
static dn_observer *observe_soon(const char *name, tally *seen)
{
        dn_observer *observer = NULL;

        if (*name != 'p')
                return tally_observe_soon(dn_center_darwin(), name, seen);
        CHECK(dn_center_observe_prefix(dn_center_darwin(), "p", TALLY_HANDLER(seen), NULL,
                                       &observer) >= 0);
        return observer;
}

/* Observes again and again what another process posts, each time until it has heard a post: some
 * are missed for as long as both do not look. */
static void *come_and_go(void *name)
{
        test_child *child = spawn_member(name);
        tally seen = {0};

        while (!is_over) {
                dn_observer *observer = observe_soon(name, &seen);
                uint64_t n_before = seen.n_posts;

                look_later(child);
                forget_look(dn_center_darwin());
                WAIT_UNTIL((post_by(child, name), seen.n_posts > n_before));
                tally_drop(observer);
        }
        end_member(child);
        return NULL;
}

TEST_NO_BUS(observersComeAndGoWhileTheTableIsReplaced)
{
        char *names[] = {"name", "other", "prefixed"};
        pthread_t threads[3];

        test_bus_use_none();
        for (int i = 0; i < 3; i++)
                threads[i] = test_start_thread(come_and_go, names[i]);
        for (int i = 0; i < 10; i++) {
                WAIT_UNTIL(is_there());
                remove_table();
        }
        is_over = true;
        for (int i = 0; i < 3; i++)
                CHECK_EQ(pthread_join(threads[i], NULL), 0);
}

static dn_center *poster, *observed;
static tally heard;

/* Opens two centers on one bus; the name "N" is observed in the second one. */
static test_bus *begin_two_centers(void)
{
        test_bus *bus = test_bus_begin();

        poster = open_center(test_bus_address(bus));
        observed = open_center(test_bus_address(bus));
        tally_observe(observed, "N", &heard);
        WAIT_UNTIL_EQ(dn_center_is_on_bus(poster), 1);
        WAIT_UNTIL(dbus_has_settled(dbus_of(poster)));
        return bus;
}

static void await_next_table(void)
{
        forget_look(observed);
        WAIT_UNTIL((post_ok(observed, "other"), is_there()));
        WAIT_UNTIL(heard.n_posts > 0);
}

/* The signal dies with its bus. */
TEST_ON_BUS(aPosterOnABusWithoutATableLooksBeforeEachPost)
{
        test_bus *bus = begin_two_centers();
        uint64_t before;

        remove_table();
        test_bus_pause(bus);
        post_ok(poster, "other"); /* finds no table */
        await_next_table();
        before = heard.n_posts;
        post_ok(poster, "N");
        test_bus_kill(bus);
        test_bus_start_again(bus);
        WAIT_UNTIL(heard.n_posts > before);
}

/* The poster is left behind in the first table, and the second one is gone. */
TEST_ON_BUS(aPostInATableThatWasLeftIsHeardThoughTheNextOneIsRemoved)
{
        uint64_t before;

        (void)begin_two_centers();
        post_ok(poster, "other");
        remove_table();
        await_next_table();
        WAIT_UNTIL(dbus_has_settled(dbus_of(observed)));
        before = heard.n_posts;
        remove_table();
        post_ok(poster, "N");
        WAIT_UNTIL(heard.n_posts > before);
}

/* --- Steps of a move ------------------------------------------------------------------------- */

static void look(void)
{
        dn__table_look(dn__hub_find(dn_center_darwin()), false);
}

/* Their poster may have died before it woke anybody. */
TEST_NO_BUS(postsCountedBeforeTheTableWasLeftAreHeard)
{
        static tally seen;
        dn__shm_slot *slot;

        test_bus_use_none();
        tally_observe(dn_center_darwin(), "N", &seen);
        AUTO_REGION *other = enter_table("none");
        slot = find(other, "N");
        for (int i = 0; i < 3; i++)
                dn__slot_count_post(slot);
        remove_table();
        look();
        WAIT_UNTIL_EQ(seen.n_posts, 3 + 1);
}

/* Once with the post, once with the move. */
TEST_NO_BUS(aPostThatIsCountedAgainIsHeardOnceByItsOwnProcess)
{
        static tally seen;

        test_bus_use_none();
        tally_observe(dn_center_darwin(), "N", &seen);
        remove_table();
        dn__region_set_stale(atomic_load(&dn__hub_find(dn_center_darwin())->member.region));
        post_ok(dn_center_darwin(), "N");
        CHECK(is_there());
        post_ok(dn_center_darwin(), "N");
        fence_executor();
        CHECK_EQ(seen.n_posts, 2 + 1);
}

static void set_moving(dn__hub *hub, bool is_moving)
{
        DN__HUB_AUTO_LOCK(hub);
        hub->member.is_moving = is_moving;
        dn__condition_broadcast(&hub->changed);
}

static void *register_name(void *has_registered)
{
        static tally seen;

        tally_observe(dn_center_darwin(), "later", &seen);
        *(_Atomic bool *)has_registered = true;
        return NULL;
}

/* Its slot would be in the table that is left. */
TEST_NO_BUS(aRegistrationWaitsUntilItsProcessHasMoved)
{
        static tally seen;
        _Atomic bool has_registered = false;
        pthread_t thread;
        dn__hub *hub;

        test_bus_use_none();
        tally_observe(dn_center_darwin(), "N", &seen);
        hub = dn__hub_find(dn_center_darwin());
        set_moving(hub, true);
        thread = test_start_thread(register_name, (void *)&has_registered);
        test_let_pass_ms(100);
        CHECK(!has_registered);
        set_moving(hub, false);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        CHECK(has_registered);
}

static dn__region *to_leave;

/* Overrides libc's: while a registration waits for a process that changes the set of its name, the
 * table is removed, and the hub moves to the next one. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                    struct timespec *remaining)
{
        int (*sleep)(clockid_t, int, const struct timespec *, struct timespec *);
        dn__region *left = to_leave;

        *(void **)&sleep = dlsym(RTLD_NEXT, "clock_nanosleep");
        CHECK(sleep);
        if (left && left->table->owners[set_of("N")] == left->owner) {
                to_leave = NULL;
                remove_table();
                look();
                left->table->owners[set_of("N")] = 0;
                return 0;
        }
        return sleep(clock, flags, until, remaining);
}

TEST_NO_BUS(aRegistrationThatFindsTheTableLeftTakesItsNameInTheNextOne)
{
        static tally seen, next;

        test_bus_use_none();
        tally_observe(dn_center_darwin(), "M", &seen);
        AUTO_REGION *other = enter_table("none");
        other->table->owners[set_of("N")] = other->owner;
        to_leave = other;
        tally_observe(dn_center_darwin(), "N", &next);
        CHECK(!to_leave);
        fence_executor();
        uint64_t n_before = next.n_posts;
        test_child *member = spawn_member("other");
        post_by(member, "N");
        WAIT_UNTIL_EQ(next.n_posts, n_before + 1);
        end_member(member);
}

TEST_NO_BUS(statesGoOnInTheNextTable)
{
        test_bus_use_none();
        test_child *a = spawn_member("N"), *b = spawn_member("N");

        CHECK_EQ(ask(a, "set 5"), 0);
        remove_table();
        look_later(a);
        WAIT_UNTIL((post_by(a, "M"), have_table(a, b)));
        WAIT_UNTIL_EQ(ask(b, "check"), 1); /* once more */
        CHECK_EQ(ask(b, "get"), 5);
        CHECK_EQ(ask(b, "set 6"), 0);
        CHECK_EQ(ask(a, "get"), 6);
        post_by(a, "N");
        CHECK_EQ(ask(b, "check"), 1);
        end_member(a);
        end_member(b);
}

/* --- What fails is tried again ------------------------------------------------------------- */

/* Arguments: name, number of descriptors that may be opened. Uses the table when that fails, then
 * has no limit, and is a member as soon as it has the table. */
ROLE(lateMember)
{
        static tally seen;
        struct rlimit before, lower;
        dn_observer *observer = NULL;
        int token, r;

        CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
        lower = (struct rlimit){STDERR_FILENO + 1 + strtoul(args[1], NULL, 10), before.rlim_max};
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &lower), 0);
        r = dn_center_observe(dn_center_darwin(), args[0], TALLY_HANDLER(&seen), NULL, &observer);
        CHECK(r >= 0 || r == -EMFILE);
        CHECK((r == -EMFILE) == !observer);
        (void)notify_register_check(args[0], &token);
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
        if (observer) {
                WAIT_UNTIL_EQ(statistic(DN_STATISTIC_TABLES), 1);
                WAIT_UNTIL_EQ(statistic(DN_STATISTIC_NAMES_UNCOUNTED), 0);
        }
        return role_member(n_args, args);
}

static int count_holders(const dn_name_record *record, void *context)
{
        if (strcmp(record->name, "N") == 0)
                *(size_t *)context = record->n_holders;
        return 0;
}

/* Whichever step of the first use it was that found no descriptor. */
TEST(aTableForWhichThereWasNoDescriptorComesLater)
{
        test_bus *bus = test_bus_begin();
        test_child *neighbor = spawn_member("N");
        uint64_t n_posts = 0;

        for (int i = 0; i <= 10; i++) {
                size_t n_holders = 0;

                test_child *late = test_spawn_role("lateMember", "N", FORMAT("%d", i), NULL);
                CHECK_EQ(atoi(test_child_read_line(late)), 0);
                CHECK(has_table(late));
                CHECK_EQ(dn_list_names(NULL, count_holders, &n_holders), 0);
                CHECK_EQ(n_holders, 2);
                CHECK_EQ(ask(neighbor, "set 5"), 0);
                CHECK_EQ(ask(late, "get"), 5);
                CHECK_EQ(ask(late, "set 6"), 0);
                CHECK_EQ(ask(neighbor, "get"), 6);
                post_by(late, "N");
                n_posts++;
                WAIT_UNTIL_EQ(posts_of(neighbor), n_posts);
                CHECK_EQ(ask(neighbor, "check"), 1);
                end_member(late);
        }
        end_member(neighbor);
        test_bus_stop(bus);
}

TEST_MAIN()
