/* A connection is lost while the bus lives: Darwin posts that were not written whole survive. */
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "bus/state.h"
#include "delivery/hub.h"
#include "tally.h"
#include "test-bus.h"
#include "util/cleanup.h"

#define N_WAITING 50

static test_bus *bus;
static test_peer *peer;
static int library_fd; /* the library's connection to the bus */
static unsigned n_posted;
static _Atomic bool is_armed, has_failed;
static _Atomic bool is_to_halve; /* the next message is written only in part */

static bool is_service_thread(void)
{
        char name[16] = "";

        return pthread_getname_np(pthread_self(), name, sizeof name) == 0 &&
               strcmp(name, "dn-service") == 0;
}

/* Overrides libc's: when armed, fails once on the service thread. */
ssize_t send(int fd, const void *bytes, size_t n_bytes, int flags)
{
        if (is_to_halve) {
                is_to_halve = false;
                n_bytes /= 2;
        }
        if (is_armed && is_service_thread()) {
                is_armed = false;
                has_failed = true;
                errno = ENOMEM;
                return -1;
        }
        return sendto(fd, bytes, n_bytes, flags, NULL, 0);
}

/* The same, for the message that contains this name. */
static const char *_Atomic name_to_fail;

static bool contains(const struct msghdr *message, const char *text)
{
        for (size_t i = 0; i < message->msg_iovlen; i++)
                if (memmem(message->msg_iov[i].iov_base, message->msg_iov[i].iov_len, text,
                           strlen(text)))
                        return true;
        return false;
}

/* As above; libsystemd uses it. */
__attribute__((visibility("default")))
ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
        if (!name_to_fail || !is_service_thread() || !contains(message, name_to_fail))
                return syscall(SYS_sendmsg, fd, message, flags);
        name_to_fail = NULL;
        errno = ENOMEM;
        return -1;
}

static void prepare(void)
{
        bus = test_bus_begin();
        post_ok(dn_center_darwin(), "first");
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        CHECK_EQ(test_bus_n_connections(bus, &library_fd), 1);
        peer = test_peer_open_watching(bus);
}

static void post_next(void)
{
        post_ok(dn_center_darwin(), numbered("post", n_posted++));
}

/* Returns when sd-bus, but not the socket, has accepted the last post. */
static void post_until_socket_is_full(void)
{
        do
                post_next();
        while (n_posted < 100000 && dn_flush(0) == 0);
        CHECK_EQ(dn_flush(0), -ETIMEDOUT);
}

/* Checks that all posts from the given one on arrive, in any order. */
static void check_that_peer_hears(unsigned first)
{
        static bool is_heard[100000];
        unsigned n_missing = n_posted - first, number;
        test_signal seen;

        while (n_missing > 0) {
                test_peer_next(peer, &seen);
                if (sscanf(seen.name, "post.%u", &number) != 1 || number < first)
                        continue;
                CHECK(number < n_posted);
                n_missing -= !is_heard[number];
                is_heard[number] = true;
        }
}

/* What the lost connection had taken is reported at most once. */
static void await_sent(void)
{
        int r = dn_flush(TEST_DEADLINE_US);

        CHECK(r == 0 || r == -ENOTCONN);
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
}

TEST_ON_BUS(partlySentPostIsResentOnAnotherConnection)
{
        prepare();
        is_to_halve = true;
        post_next();
        check_that_peer_hears(n_posted - 1);
        CHECK(!is_to_halve);
        await_sent();
        CHECK_EQ(statistic(DN_STATISTIC_CONNECTS), 2);
}

TEST_ON_BUS(postsQueuedBehindItSurviveTheConnectionToo)
{
        unsigned first;

        prepare();
        test_bus_pause(bus);
        post_until_socket_is_full();
        first = n_posted - 1;
        for (int i = 0; i < N_WAITING; i++)
                post_next();
        CHECK(statistic(DN_STATISTIC_NAMES_WAITING) >= N_WAITING);
        CHECK_EQ(shutdown(library_fd, SHUT_RDWR), 0);
        test_bus_resume(bus);
        check_that_peer_hears(first);
        await_sent();
        CHECK_EQ(statistic(DN_STATISTIC_NAMES_WAITING), 0);
}

TEST_ON_BUS(failedSendOfAQueuedPostIsRetriedOnAnotherConnection)
{
        unsigned first;

        prepare();
        test_bus_pause(bus);
        post_until_socket_is_full();
        first = n_posted;
        for (int i = 0; i < N_WAITING; i++)
                post_next();
        is_armed = true;
        test_bus_resume(bus);
        /* Nothing here wakes the service thread. */
        WAIT_UNTIL_EQ(statistic(DN_STATISTIC_NAMES_WAITING), 0);
        CHECK(has_failed);
        check_that_peer_hears(first);
        await_sent();
        CHECK_EQ(statistic(DN_STATISTIC_CONNECTS), 2);
}

static bool is_flushing(dn_center *center)
{
        dn__dbus *dbus = dn__dbus_of(dn__hub_find(center)->bus);

        DN__AUTO_LOCK(&dbus->lock);
        return dbus->n_flushes > 0;
}

static void *flush(void *argument)
{
        int r = dn_flush(TEST_DEADLINE_US);

        CHECK(r == 0 || r == -ENOTCONN);
        return argument;
}

/* It waits for the end of a flush. */
TEST_ON_BUS(failedSendOfADistributedPostThatHasWaitedIsRetriedOnAnotherConnection)
{
        dn_center *center = dn_center_distributed(), *other;
        static tally seen;

        bus = test_bus_begin();
        other = open_distributed(test_bus_address(bus));
        tally_observe(other, "waits", &seen);
        post_ok(center, "first");
        CHECK_EQ(dn_flush(TEST_DEADLINE_US), 0);
        test_bus_pause(bus);
        post_ok(center, "before");
        pthread_t thread = test_start_thread(flush, NULL);
        WAIT_UNTIL(is_flushing(center));
        post_ok(center, "waits");
        CHECK_EQ(statistic_of(center, DN_STATISTIC_NAMES_WAITING), 1);
        name_to_fail = "waits";
        test_bus_resume(bus);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        WAIT_UNTIL_EQ(seen.n_posts, 1);
        CHECK(!name_to_fail);
        CHECK_EQ(statistic_of(center, DN_STATISTIC_CONNECTS), 2);
}

TEST_MAIN()
