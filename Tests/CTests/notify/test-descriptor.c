/* Tokens written to a pipe. */
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "piped.h"

#define N "descriptor"
#define N_FLOOD (TEST_HAS_SANITIZER ? 20000 : 100000)

static bool is_open(int fd)
{
        return fcntl(fd, F_GETFD) >= 0;
}

/* Distinguishes a pipe from whatever the library later opens under its number; 0 if closed.
 * The thread sanitizer would take fstat() for a race with the library, which may be using it. */
static uint64_t inode_of(int fd)
{
        struct stat status;

        if (stat(FORMAT("/proc/self/fd/%d", fd), &status) < 0)
                return 0;
        return (uint64_t)status.st_dev << 32 ^ status.st_ino;
}

static void check_three_posts(const char *name)
{
        int fd = UNTOUCHED, token = add_piped(name, &fd);
        uint64_t inode = inode_of(fd);

        for (int i = 0; i < 3; i++)
                post(name);
        WAIT_UNTIL_EQ(n_waiting(fd), 12);
        for (int i = 0; i < 3; i++)
                CHECK_EQ(read_token(fd), token);
        fence_executor();
        CHECK_EQ(n_waiting(fd), 0);
        cancel(token);
        CHECK(inode_of(fd) != inode);
}

TEST(eachPostWritesTheTokenInNetworkOrder)
{
        test_bus_begin();

        for (int i = 0; i < 300; i++) /* so that a token needs more than one byte */
                add_check(N);
        check_three_posts(N);
        check_three_posts("self." N);
}

static void check_sharers(const char *name, const char *other_name, bool cancels_first)
{
        int fd = UNTOUCHED, first = add_piped(name, &fd), second = add_sharing(other_name, fd);
        const char *left_name = cancels_first ? other_name : name;
        int left = cancels_first ? second : first;

        post(name);
        CHECK_EQ(read_token(fd), first);
        post(other_name);
        CHECK_EQ(read_token(fd), second);
        uint64_t inode = inode_of(fd);
        cancel(cancels_first ? first : second);
        CHECK_EQ(inode_of(fd), inode);
        post(cancels_first ? name : other_name);
        post(left_name);
        CHECK_EQ(read_token(fd), left);
        cancel(left);
        CHECK(inode_of(fd) != inode);
}

TEST(lastSharingTokenClosesTheDescriptor)
{
        test_bus_begin();

        for (int i = 0; i < 2; i++) {
                check_sharers("A", "B", i);
                check_sharers("self.A", "self.B", i);
                check_sharers("A", "self.B", i);
        }
}

TEST(descriptorIsClosedByExecAndBlocks)
{
        test_bus_begin();
        int fd = UNTOUCHED;

        add_piped(N, &fd);
        CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        CHECK(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
        CHECK_EQ(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
}

static void check_foreign(int fd)
{
        int token = UNTOUCHED, same_fd = fd;

        CHECK_EQ(notify_register_file_descriptor(N, &same_fd, NOTIFY_REUSE, &token),
                 NOTIFY_STATUS_INVALID_FILE);
        CHECK_EQ(same_fd, fd);
        CHECK_EQ(token, UNTOUCHED);
}

TEST(foreignDescriptorsAreNotUsed)
{
        test_bus_begin();
        int ends[2], fd = UNTOUCHED;

        CHECK_EQ(pipe(ends), 0);
        check_foreign(0);
        check_foreign(-1);
        check_foreign(INT_MAX);
        check_foreign(ends[0]);
        check_foreign(ends[1]);
        cancel(add_piped(N, &fd));
        check_foreign(fd);
        post(N);
        fence_executor();
        CHECK_EQ(n_waiting(ends[0]), 0);
        CHECK(is_open(ends[0]) && is_open(ends[1]));
}

TEST(reusedDescriptorNumberIsLeftAlone)
{
        test_bus_begin();
        int ends[2], fd = UNTOUCHED, token = add_piped(N, &fd);

        CHECK_EQ(pipe(ends), 0);
        CHECK_EQ(dup2(ends[0], fd), fd); /* closes the library's descriptor, which hosts must not
                                          * do */
        check_foreign(fd);
        post(N);
        fence_executor();
        cancel(token);
        CHECK(is_open(fd));
        CHECK_EQ(n_waiting(fd), 0);
}

TEST(fullPipeDoesNotDelayOthers)
{
        test_bus_begin();
        static tally same = {0}, other = {0};
        int fd = UNTOUCHED, token = add_piped(N, &fd);

        add_callback(N, &same);
        add_callback("other", &other);
        CHECK(is_changed(token));
        for (int i = 0; i < N_FLOOD; i++)
                post(N);
        post("other");
        WAIT_UNTIL_EQ(other.n_calls, 1);
        CHECK(same.n_calls >= 1);
        CHECK(is_changed(token));
        fence_executor();
        uint64_t n_calls = same.n_calls;
        post(N);
        WAIT_UNTIL(same.n_calls > n_calls);
        int n_bytes = n_waiting(fd);
        CHECK(n_bytes > 0 && n_bytes % 4 == 0);
        CHECK_EQ(read_token(fd), token);
        drain(fd);
        post(N); /* having been full does not silence it for good */
        CHECK_EQ(read_token(fd), token);
}

TEST(closedReadEndDoesNotEndTheProcess)
{
        /* The library may open another with its number at once. */
        if (TEST_HAS_THREAD_SANITIZER)
                SKIP("it takes the closing of descriptors that others use for a race");

        test_bus_begin();
        static tally seen = {0};
        int fd = UNTOUCHED, token = add_piped(N, &fd);

        CHECK_EQ(close(fd), 0);
        add_callback(N, &seen);
        for (uint64_t i = 1; i <= 10; i++) {
                post(N);
                WAIT_UNTIL_EQ(seen.n_calls, i);
        }
        cancel(token);
        post(N);
        WAIT_UNTIL_EQ(seen.n_calls, 11);
}

TEST_MAIN()
