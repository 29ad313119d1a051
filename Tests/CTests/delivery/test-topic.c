/* The number of posts that a token compares, while its name changes tables. */
#include "delivery/topic.h"

#include "notify-tally.h"

#define N_ROUNDS (TEST_HAS_SANITIZER ? 10000 : 200000)

static _Atomic unsigned n_rounds;
static _Atomic bool is_over;

/* As if tables with other counts were made without end. */
static void *change_slots(void *argument)
{
        static dn__shm_slot slots[2] = {{.generation = 1000}, {.generation = 5000000}};
        dn__hub *hub = dn__hub_find(dn_center_darwin());
        dn__shm_slot *own;
        dn__topic *topic;
        dn__name name;

        CHECK_EQ(dn__name_init(&name, argument, DN__REACH_BEYOND), 0);
        dn__hub_lock(hub);
        topic = dn__topic_find(hub, &name);
        own = topic->slot;
        while (!is_over) {
                dn__topic_set_slot(topic, &slots[0]);
                dn__topic_set_slot(topic, NULL);
                dn__topic_set_slot(topic, &slots[1]);
                n_rounds++;
        }
        dn__topic_set_slot(topic, own);
        dn__hub_unlock(hub);
        return NULL;
}

TEST_NO_BUS(aCheckTakesNoChangeOfTheSlotForAPost)
{
        static char name[] = "N";
        unsigned n_changes = 0;
        pthread_t thread;
        int token;

        test_bus_use_none();
        token = add_check(name);
        CHECK(is_changed(token));
        thread = test_start_thread(change_slots, name);
        for (unsigned i = 0; i < N_ROUNDS || n_rounds < N_ROUNDS; i++)
                n_changes += is_changed(token);
        is_over = true;
        CHECK_EQ(pthread_join(thread, NULL), 0);
        n_changes += is_changed(token);
        CHECK_EQ(n_changes, 0);
}

TEST_MAIN()
