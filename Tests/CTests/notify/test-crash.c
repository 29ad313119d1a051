/* What a killed process leaves behind while another one starts. */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "notify-tally.h"

#define N "crash"
#define STATE UINT64_C(0xdead0000beef)

static _Atomic bool stops_at_table;
static test_child *starting; /* enters the table before this process asks who is alive */

#if !TEST_HAS_SANITIZER
/* These override libc's. */
int fcntl(int fd, int command, ...)
{
        test_child *child = starting;
        va_list arguments;
        void *argument;

        va_start(arguments, command);
        argument = va_arg(arguments, void *);
        va_end(arguments);
        if (command == F_OFD_GETLK && child) {
                starting = NULL;
                CHECK_STREQ(test_child_ask(child, "go"), "ready");
        }
        return (int)syscall(SYS_fcntl, fd, command, argument);
}

/* A process that has not entered the table yet stops here until it is told to continue. */
void *mmap(void *at, size_t n_bytes, int protection, int flags, int fd, off_t offset)
{
        char line[8];

        if (stops_at_table && (flags & MAP_SHARED) && n_bytes > 1 << 20) {
                stops_at_table = false;
                printf("starting\n");
                CHECK(fgets(line, sizeof line, stdin));
        }
        return (void *)syscall(SYS_mmap, at, n_bytes, protection, flags, fd, offset);
}
#endif

/* Arguments: name; any second argument makes it stop on its way in. Prints "ready", waits to be
 * killed. */
ROLE(hold)
{
        char line[8];

        stops_at_table = n_args > 1;
        int token = add_check(args[0]);
        printf("ready\n");
        while (fgets(line, sizeof line, stdin))
                printf("%llu\n", (unsigned long long)get_state(token));
        return 0;
}

/* Arguments: name. Prints "ready" when the state is set. */
ROLE(set)
{
        int token = add_check(args[0]);

        CHECK_EQ(notify_set_state(token, STATE), NOTIFY_STATUS_OK);
        printf("ready\n");
        (void)getchar();
        return 0;
}

static test_child *spawn(const char *role, const char *name)
{
        test_child *child = test_spawn_role(role, name, NULL);

        CHECK_STREQ(test_child_read_line(child), "ready");
        return child;
}

/* The new process gets the dead one's entry while another process asks whether it is alive. */
TEST(startingProcessDoesNotKeepADeadProcessesState)
{
        if (TEST_HAS_SANITIZER)
                SKIP("a sanitizer brings its own mmap()");
        test_bus_begin();
        add_check("kept");
        test_child_kill(spawn("set", N));
        test_child *child = test_spawn_role("hold", "another", "stops", NULL);
        CHECK_STREQ(test_child_read_line(child), "starting");
        starting = child;
        CHECK_EQ(get_state(add_check(N)), 0);
        CHECK(!starting);
        CHECK_STREQ(test_child_ask(child, "get"), "0");
        test_child_wait(child);
}

TEST_MAIN()
