/* A name that is released and held again while another thread takes a slot for it. */
#include <dlfcn.h>
#include <pthread.h>

#include "center/table.h"
#include "delivery/hub.h"
#include "tally.h"
#include "test-bus.h"

#define NAME "com.example.held"

static dn__hub *hub;
static dn_observer *observer;
static dn__name name;
static _Thread_local bool releases; /* before this thread next takes the lock of the hub */

/* Overrides that of libc. */
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
        static int (*original)(pthread_mutex_t *mutex);

        if (!original)
                *(void **)&original = dlsym(RTLD_NEXT, "pthread_mutex_lock");
        if (releases && mutex == &hub->lock.mutex) {
                releases = false;
                dn_observer_cancel(observer);
                CHECK(dn__topic_acquire(hub, &name));
        }
        return original(mutex);
}

static dn__topic *find_topic(void)
{
        DN__HUB_AUTO_LOCK(hub);

        return dn__topic_find(hub, &name);
}

static dn__shm_slot *slot_of(dn__topic *topic)
{
        DN__HUB_AUTO_LOCK(hub);

        return topic->slot;
}

TEST_ON_BUS(aNameThatIsReleasedWhileItGetsASlotHoldsTheSlotAfterwards)
{
        static tally seen;

        (void)test_bus_begin();
        observer = tally_observe(dn_center_darwin(), NAME, &seen);
        hub = dn__hub_find(dn_center_darwin());
        CHECK_EQ(dn__name_init(&name, NAME, DN__REACH_BEYOND), 0);
        dn__topic *topic = find_topic();
        unsigned process = atomic_load(&atomic_load(&hub->member.region)->process);

        releases = true;
        CHECK(dn__table_take_slot(topic, dn__clock_after_us(TEST_DEADLINE_US)));
        CHECK(!releases);
        dn__shm_slot *slot = slot_of(topic);
        CHECK(slot);
        CHECK(atomic_load(&slot->holders[process / 64]) >> process % 64 & 1);
        dn__topic_give_back(topic);
}

TEST_MAIN()
