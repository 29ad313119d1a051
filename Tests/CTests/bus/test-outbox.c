/* Posts of a flood go to the bus together, each as a signal of its own. */
#include <sys/socket.h>

#include "roles.h"
#include "test-bus.h"
#include "util/throttle.h"

/* Fewer than the library lets wait before it merges them by name. */
#define N_GATHERED 20
#define N_NAMES 16

static test_bus *bus;
static test_peer *peer;
static test_child *child;
static _Atomic unsigned n_sends;

/* Overrides libc's. */
ssize_t send(int fd, const void *bytes, size_t n_bytes, int flags)
{
        n_sends++;
        return sendto(fd, bytes, n_bytes, flags, NULL, 0);
}

/* Another process holds the names, so the posts are counted. */
static void begin(void)
{
        bus = test_bus_begin();
        peer = test_peer_open_watching(bus);
        child = test_spawn_role("observe", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10",
                                "11", "12", "13", "14", "15", NULL);
        (void)test_child_await(child, "ready");
        post_ok(dn_center_darwin(), "begin");
        test_peer_expect(peer, "begin");
}

static void post_number(unsigned number)
{
        post_ok(dn_center_darwin(), FORMAT("%u", number % N_NAMES));
}

static void check_numbers(unsigned n_posts)
{
        for (unsigned i = 0; i < n_posts; i++)
                test_peer_expect(peer, FORMAT("%u", i % N_NAMES));
}

/* Only eight posts of a millisecond are written each by itself. */
TEST_ON_BUS(postsOfAFloodShareSystemCalls)
{
        const unsigned n_rounds = 100, n_posts = n_rounds * N_GATHERED;

        begin();
        n_sends = 0;
        uint64_t began_us = test_now_us();
        for (unsigned i = 0; i < n_posts; i++) {
                post_number(i);
                if ((i + 1) % N_GATHERED == 0)
                        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        }
        /* Where posts take long there is no flood. */
        uint64_t n_spans = (test_now_us() - began_us) / DN__THROTTLE_SPAN_US + 2;
        uint64_t n_most = (DN__THROTTLE_N_EVENTS + 1) * n_spans + n_rounds;
        check_numbers(n_posts);
        if (!TEST_HAS_SANITIZER && test_slowness() == 1)
                CHECK(n_sends < n_posts * 3 / 4 || n_sends <= n_most);
}

TEST_ON_BUS(lastPostsOfAFloodAreSentWithoutAnotherOne)
{
        begin();
        for (unsigned round = 0; round < 50; round++) {
                for (unsigned i = 0; i < N_GATHERED; i++)
                        post_number(i);
                check_numbers(N_GATHERED);
        }
}

ROLE(postNumbers)
{
        CHECK_EQ(n_args, 1);
        for (int i = 0; i < atoi(args[0]); i++)
                post_number((unsigned)i);
        return 0;
}

TEST_ON_BUS(exitSendsWhatHasGathered)
{
        begin();
        for (unsigned round = 0; round < 5; round++) {
                CHECK_EQ(test_child_wait(test_spawn_role("postNumbers", "20", NULL)), 0);
                check_numbers(N_GATHERED);
        }
}

TEST_ON_BUS(gatheredPostsWaitForAStalledBus)
{
        begin();
        test_bus_pause(bus);
        for (unsigned i = 0; i < N_GATHERED; i++)
                post_number(i);
        WAIT_UNTIL_EQ(child_posts(child, 0), 2);
        test_bus_resume(bus);
        check_numbers(N_GATHERED);
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
}

TEST_MAIN()
