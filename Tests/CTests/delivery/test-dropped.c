/* Posts that are dropped are freed without the lock that each post needs: they may be large. */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>

#include "delivery/hub.h"
#include "tally.h"
#include "test-bus.h"

#define LARGE_BYTES (DN_DICT_MAX_BYTES - 65536)

/* So many exceed what waits for an observer. */
#define N_LARGE 6

static pthread_mutex_t *_Atomic watched;
static _Atomic unsigned n_freed, n_freed_with_lock;

#if !TEST_HAS_SANITIZER
static _Thread_local bool has_lock;

extern void __libc_free(void *memory);

/* They override those of libc. */
void free(void *memory)
{
        if (memory && malloc_usable_size(memory) >= LARGE_BYTES) {
                n_freed++;
                n_freed_with_lock += has_lock;
        }
        __libc_free(memory);
}

#define WATCHED(name, locks)                                                                       \
        int name(pthread_mutex_t *mutex)                                                           \
        {                                                                                          \
                static int (*original)(pthread_mutex_t *mutex);                                    \
                                                                                                   \
                if (!original)                                                                     \
                        *(void **)&original = dlsym(RTLD_NEXT, #name);                             \
                if (mutex == watched)                                                              \
                        has_lock = locks;                                                          \
                return original(mutex);                                                            \
        }

WATCHED(pthread_mutex_lock, true)
WATCHED(pthread_mutex_unlock, false)
#endif

static void watch_lock_of(dn_center *center)
{
        SKIP_IF(TEST_HAS_SANITIZER, "a sanitizer has its own allocator");
        watched = &dn__hub_find(center)->lock.mutex;
}

static void post_large(void)
{
        static char bytes[LARGE_BYTES];
        dn_dict_builder *builder = dn_dict_builder_new();

        dn_dict_builder_set_data(builder, "data", bytes, sizeof bytes);
        AUTO_DICT *user_info = finish(builder);
        CHECK(dn_center_post(dn_center_distributed(), "N", NULL, user_info, 0) >= 0);
}

TEST_ON_BUS(theOldestPostsThatWaitAreFreedWithoutTheLock)
{
        static tally seen = {.blocks = true};
        unsigned n_before;

        test_bus_use_none();
        dn_center_observe(dn_center_distributed(), "N", TALLY_HANDLER(&seen), NULL, NULL);
        watch_lock_of(dn_center_distributed());
        CHECK(dn_center_post(dn_center_distributed(), "N", NULL, NULL, 0) >= 0);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        n_before = n_freed;
        for (int i = 0; i < N_LARGE; i++)
                post_large();
        CHECK(n_freed > n_before);
        CHECK_EQ(n_freed_with_lock, 0);
        seen.blocks = false;
        WAIT_UNTIL(seen.n_calls > 1);
        CHECK_EQ(dn_shutdown(), 0);
        CHECK(seen.n_calls < 1 + N_LARGE);
        CHECK_EQ(n_freed_with_lock, 0);
}

TEST_ON_BUS(aPostOfASuspensionThatALaterOneReplacesIsFreedWithoutTheLock)
{
        static tally seen;
        unsigned n_before;

        test_bus_use_none();
        dn_center_observe(dn_center_distributed(), "N", TALLY_HANDLER(&seen), NULL, NULL);
        watch_lock_of(dn_center_distributed());
        CHECK_EQ(dn_center_set_suspended(dn_center_distributed(), true), 0);
        post_large();
        n_before = n_freed;
        post_large();
        CHECK(n_freed > n_before);
        CHECK_EQ(dn_shutdown(), 0);
        CHECK_EQ(seen.n_calls, 0);
        CHECK_EQ(n_freed_with_lock, 0);
}

TEST_MAIN()
