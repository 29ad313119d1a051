/* A count in the shared table that is made to jump. */
#include "piped.h"
#include "shm.h"

#define N "jump"
#define JUMP (UINT64_C(1) << 32)

static dn__region *region; /* opened as by another process */
static tally other;
static int fd, token, sharing; /* two tokens sharing a pipe */

static void prepare(void)
{
        const dn_executor *executor = dn_executor_inline();
        test_bus *bus = test_bus_begin();

        region = enter_table(test_bus_address(bus));
        token = add_piped(N, &fd);
        sharing = add_sharing("sharing", fd);
        add_callback_on("other", &other, executor);
}

/* Each apparent post since the last one is written to the pipe. */
static void jump(void)
{
        dn__shm_slot *slot = find(region, N);

        CHECK(slot != NULL);
        atomic_fetch_add(&slot->generation, JUMP);
        post(N);
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
        drain(fd);
        post(N);
        for (int i = 0; i < 3; i++) {
                post("sharing");
                CHECK_EQ(read_token(fd), sharing);
        }
        fence_service_thread();
        CHECK_EQ(n_waiting(fd), 0);
}

TEST(jumpingCountDoesNotDelayOtherNames)
{
        prepare();
        jump();
        WAIT_UNTIL(n_waiting(fd) > 0);
        for (int i = 0; i < 3; i++)
                fence_service_thread();
        cancel(token);
        check_that_only_the_other_is_written();
}

TEST(postsThatAreFoundTogetherLeaveRoomInThePipeForOtherNames)
{
        prepare();
        jump();
        WAIT_UNTIL(n_waiting(fd) > 0);
        fence_service_thread();
        post("sharing");
        while (read_token(fd) != sharing)
                continue;
}

TEST(jumpingCountIsNoMorePostsThanThereCanBe)
{
        static tally seen = { 0 };
        dn__shm_slot *slot;

        prepare();
        cancel(token);
        cancel(sharing);
        tally_observe(dn_center_darwin(), "counted", &seen);
        slot = find(region, "counted");
        CHECK(slot != NULL);
        atomic_fetch_add(&slot->generation, UINT64_C(1) << 48);
        post("counted");
        WAIT_UNTIL(seen.n_posts >= UINT32_MAX);
        fence_service_thread();
        CHECK_EQ(seen.n_posts, UINT32_MAX);
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
        slot = find(region, "counted");
        atomic_store(&slot->generation, 1);
        post("counted");
        WAIT_UNTIL(seen.n_posts > 5);
}

TEST_MAIN()
