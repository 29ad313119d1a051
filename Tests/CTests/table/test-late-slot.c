/* A name that gets its slot in the shared table after its observer. */

#include "center/table.h"
#include "delivery/topic.h"
#include "member.h"
#include "notify-tally.h"
#include "roles.h"
#include "shm.h"

static test_peer *peer;
static dn__region *other; /* opened as by another process */
static tally first = {0}, second = {0}, blocking = {.blocks = true};

/* Another process keeps the set too long: the observer gets no slot. The time left does not always
 * suffice for the bus. */
static void observe_without_slot(const char *name)
{
        size_t set = set_of(name);
        dn_observer *observer = NULL;
        int r;

        other->table->owners[set] = other->owner;
        r = dn_center_observe(dn_center_darwin(), name, TALLY_HANDLER(&first), NULL, &observer);
        CHECK(observer && r >= 0);
        other->table->owners[set] = 0;
}

/* On return nothing is read from the bus until `blocking` is cleared. */
static void block_service_thread(void)
{
        const dn_executor *executor = dn_executor_inline();

        tally_observe_on(dn_center_darwin(), "block", &blocking, executor);
        post_ok(dn_center_darwin(), "block");
        WAIT_UNTIL_EQ(blocking.n_calls, 1);
}

static void prepare(void)
{
        test_bus *bus = test_bus_begin();

        peer = test_peer_open_watching(bus);
        other = enter_table(test_bus_address(bus));
}

/* When the slot comes, it is not known who posted what: one extra post is allowed. */
TEST_ON_BUS(lateSlotLosesNoPost)
{
        uint64_t n_posts;

        prepare();
        observe_without_slot("late");
        CHECK(hold(other, "late") != NULL);
        block_service_thread();
        post_elsewhere("late", 1, "return"); /* counted there, but not heard of yet */
        tally_observe(dn_center_darwin(), "late", &second);
        blocking.blocks = false;
        WAIT_UNTIL(first.n_posts >= 1);
        fence_bus(peer);
        n_posts = first.n_posts;
        CHECK(n_posts <= 2);
        post_elsewhere("late", 1, "return");
        WAIT_UNTIL_EQ(first.n_posts, n_posts + 1);
        WAIT_UNTIL(second.n_posts >= 1);
}

/* Its rule, made when the table counted it, is still there, and does not cover what others post. */
TEST_ON_BUS(nameThatGetsNoSlotWhenItIsObservedAgainIsHeardOverTheBus)
{
        size_t set = set_of("late");
        dn_observer *observer = NULL;

        prepare();
        tally_drop(tally_observe(dn_center_darwin(), "late", &second));
        test_child *child = spawn_member("late");
        other->table->owners[set] = other->owner;
        CHECK(dn_center_observe(dn_center_darwin(), "late", TALLY_HANDLER(&first), NULL,
                                &observer) >= 0);
        fence_bus(peer);
        post_by(child, "late");
        WAIT_UNTIL_EQ(first.n_posts, 1);
        other->table->owners[set] = 0;
        end_member(child);
}

/* As observe_without_slot(). */
static int add_check_without_slot(const char *name)
{
        size_t set = set_of(name);
        int token;

        other->table->owners[set] = other->owner;
        CHECK_EQ(notify_register_check(name, &token), NOTIFY_STATUS_OK);
        other->table->owners[set] = 0;
        return token;
}

TEST_ON_BUS(lateSlotKeepsTheStateOfOthers)
{
        prepare();
        int early = add_check_without_slot("late");
        CHECK_EQ(notify_set_state(early, 5), NOTIFY_STATUS_OK);
        test_child *child = spawn_member("late");
        CHECK_EQ(ask(child, "set 7"), 0);
        uint64_t state = get_state(early); /* the slot may have come by itself */
        CHECK(state == 5 || state == 7);
        int token = add_check("late");
        CHECK_EQ(get_state(token), 7);
        CHECK_EQ(get_state(early), 7);
        CHECK_EQ(ask(child, "get"), 7);
        end_member(child);
}

TEST_ON_BUS(lateSlotReceivesTheStateOfItsProcess)
{
        prepare();
        int early = add_check_without_slot("late");
        CHECK_EQ(notify_set_state(early, 5), NOTIFY_STATUS_OK);
        int token = add_check("late");
        CHECK_EQ(get_state(token), 5);
        CHECK_EQ(get_state(early), 5);
        test_child *child = spawn_member("late");
        CHECK_EQ(ask(child, "get"), 5);
        CHECK_EQ(ask(child, "set 7"), 0);
        CHECK_EQ(get_state(early), 7);
        end_member(child);
}

/* The last observer leaves while the slot is being taken. */
TEST_NO_BUS(aSlotThatComesAfterTheLastObserverIsNotKept)
{
        static tally kept, gone;
        dn__name name;
        dn__topic *topic;

        test_bus_use_none();
        tally_observe(dn_center_darwin(), "kept", &kept);
        dn_observer *observer = tally_observe(dn_center_darwin(), "late", &gone);
        dn__hub *hub = dn__hub_find(dn_center_darwin());
        dn__region *region = atomic_load(&hub->member.region);
        CHECK_EQ(dn__name_init(&name, "late", DN__REACH_BEYOND), 0);
        topic = dn__topic_acquire(hub, &name);
        dn__topic_ref(topic);
        tally_drop(observer);
        dn__topic_give_back(topic);
        CHECK(dn__table_take_slot(topic, dn__clock_after_us(DN__SLOT_TIMEOUT_US)));
        CHECK(!(atomic_load(&find(region, "late")->holders[region->process / 64]) >>
                        region->process % 64 &
                1));
        dn__topic_unref(topic);
}

TEST_MAIN()
