/* Threads of the library that have ended and are joined later. */
#include "util/thread.h"

#include <pthread.h>
#include <time.h>

#include "test.h"
#include "util/clock.h"

static pthread_key_t key;
static _Atomic bool is_ending, has_started_another;

static void do_nothing(void *context)
{
        (void)context;
}

static void set_key(void *context)
{
        CHECK_EQ(pthread_setspecific(key, context), 0);
}

/* On a thread of the library, once the others wait for it. */
static void start_another(void *context)
{
        (void)context;
        is_ending = true;
        WAIT_UNTIL(test_others_rest());
        CHECK_EQ(dn__thread_start("dn-test", do_nothing, NULL), 0);
        has_started_another = true;
}

static void *join_as_at_exit(void *argument)
{
        WAIT_UNTIL(is_ending);
        dn__thread_at_exit();
        return argument;
}

/* Asleep all the time. */
static void join_in_time(pthread_t thread)
{
        struct timespec until;

        CHECK_EQ(clock_gettime(CLOCK_REALTIME, &until), 0);
        until.tv_sec += (time_t)(TEST_DEADLINE_US / DN__US_PER_SECOND);
        CHECK_EQ(pthread_timedjoin_np(thread, NULL, &until), 0);
}

TEST_NO_BUS(aDestructorOfAThreadThatIsJoinedAtExitMayStartAnotherThread)
{
        pthread_t joiner;

        CHECK_EQ(pthread_key_create(&key, start_another), 0);
        joiner = test_start_thread(join_as_at_exit, NULL);
        CHECK_EQ(dn__thread_start("dn-test", set_key, &key), 0);
        join_in_time(joiner);
        CHECK(has_started_another);
        CHECK_EQ(pthread_key_delete(key), 0);
}

/* --- A destructor that needs a lock of the thread that exits ---------------------------------- */

static pthread_mutex_t lock_of_host = PTHREAD_MUTEX_INITIALIZER;

static void need_lock(void *context)
{
        is_ending = true;
        CHECK_EQ(pthread_mutex_lock(&lock_of_host), 0);
        CHECK_EQ(pthread_mutex_unlock(&lock_of_host), 0);
        *(_Atomic bool *)context = true;
}

static _Atomic bool is_over;

TEST_NO_BUS(anExitDoesNotWaitForEverForADestructorThatNeedsItsLock)
{
        CHECK_EQ(pthread_key_create(&key, need_lock), 0);
        CHECK_EQ(pthread_mutex_lock(&lock_of_host), 0);
        CHECK_EQ(dn__thread_start("dn-test", set_key, (void *)&is_over), 0);
        WAIT_UNTIL(is_ending);
        dn__thread_at_exit();
        CHECK(!is_over);
        CHECK_EQ(pthread_mutex_unlock(&lock_of_host), 0);
        WAIT_UNTIL(is_over);
}

TEST_MAIN()
