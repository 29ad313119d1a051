/* A count in the shared table that is made to jump. */
#include <arpa/inet.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "notify-tally.h"
#include "shm.h"
#include "util/hash.h"

#define N "jump"
#define JUMP (UINT64_C(1) << 32)

static test_bus *bus;
static dn__region *region; /* opened as by another process */
static tally other;
static int fd, token, sharing; /* two tokens sharing a pipe */

static void prepare(void)
{
        dn_executor executor = dn_executor_inline();
        int same_fd;

        bus = test_bus_begin();
        CHECK_EQ(dn__fork_init(), 0);
        CHECK_EQ(dn__region_open(test_bus_address(bus), &region), 0);
        CHECK_EQ(notify_register_file_descriptor(N, &fd, 0, &token), NOTIFY_STATUS_OK);
        same_fd = fd;
        CHECK_EQ(notify_register_file_descriptor("sharing", &same_fd, NOTIFY_REUSE, &sharing),
                 NOTIFY_STATUS_OK);
        CHECK_EQ(same_fd, fd);
        add_callback_on("other", &other, &executor);
}

static void end(void)
{
        dn__region_close(region);
        test_bus_stop(bus);
}

/* Each apparent post since the last one is written to the pipe. */
static void jump(void)
{
        dn__shm_slot *slot = dn__slot_find(region, dn__hash64(N, strlen(N)), N, strlen(N));

        CHECK(slot != NULL);
        atomic_fetch_add(&slot->generation, JUMP);
        post(N);
}

static int n_waiting(void)
{
        int n_bytes = -1;

        CHECK_EQ(ioctl(fd, FIONREAD, &n_bytes), 0);
        return n_bytes;
}

static int read_token(void)
{
        uint32_t bytes;

        CHECK_EQ(read(fd, &bytes, sizeof bytes), 4);
        return (int)ntohl(bytes);
}

static void drain(void)
{
        char bytes[4096];

        for (int i = 0; i < 1000 && n_waiting() > 0; i++)
                CHECK(read(fd, bytes, sizeof bytes) > 0);
}

/* Returns when the service thread, which writes to pipes, has finished all earlier work. */
static void fence_service_thread(void)
{
        uint64_t n_before = other.n_calls;

        post("other");
        WAIT_UNTIL_EQ(other.n_calls, n_before + 1);
}

static void check_that_only_the_other_is_written(void)
{
        drain();
        post(N);
        for (int i = 0; i < 3; i++) {
                post("sharing");
                WAIT_UNTIL(n_waiting() >= 4);
                CHECK_EQ(read_token(), sharing);
        }
        fence_service_thread();
        CHECK_EQ(n_waiting(), 0);
}

TEST(jumpingCountDoesNotDelayOtherNames)
{
        prepare();
        jump();
        WAIT_UNTIL(n_waiting() > 0);
        for (int i = 0; i < 3; i++)
                fence_service_thread();
        cancel(token);
        check_that_only_the_other_is_written();
        end();
}

TEST(postsThatAreFoundTogetherLeaveRoomInThePipeForOtherNames)
{
        prepare();
        jump();
        WAIT_UNTIL(n_waiting() > 0);
        fence_service_thread();
        post("sharing");
        do
                WAIT_UNTIL(n_waiting() >= 4);
        while (read_token() != sharing);
        end();
}

TEST(jumpingCountIsNoMorePostsThanThereCanBe)
{
        static tally seen = { 0 };
        dn__shm_slot *slot;

        prepare();
        cancel(token);
        cancel(sharing);
        tally_observe(dn_center_darwin(), "counted", &seen);
        slot = dn__slot_find(region, dn__hash64("counted", 7), "counted", 7);
        CHECK(slot != NULL);
        atomic_fetch_add(&slot->generation, UINT64_C(1) << 48);
        post("counted");
        WAIT_UNTIL(seen.n_posts >= UINT32_MAX);
        fence_service_thread();
        CHECK_EQ(seen.n_posts, UINT32_MAX);
        end();
}

/* It never decreases by itself. */
TEST(countThatWasLoweredDoesNotHidePosts)
{
        static tally seen = { 0 };
        dn__shm_slot *slot;

        prepare();
        tally_observe(dn_center_darwin(), "counted", &seen);
        for (uint64_t i = 1; i <= 5; i++) {
                post("counted");
                WAIT_UNTIL_EQ(seen.n_posts, i);
        }
        slot = dn__slot_find(region, dn__hash64("counted", 7), "counted", 7);
        atomic_store(&slot->generation, 1);
        post("counted");
        WAIT_UNTIL(seen.n_posts > 5);
        end();
}

TEST_MAIN()
