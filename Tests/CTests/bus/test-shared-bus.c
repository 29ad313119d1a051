/* A bus shared by users: the receiver decides what a sender may post. */
#include <sys/syscall.h>
#include <unistd.h>

#include "notify-tally.h"
#include "shared-bus.h"
#include "test-raw.h"

#define MAX_SEEN 256
#define N_ROUNDS 20
#define N_FLOOD 5000

enum { OF_USER, OF_SYSTEM, ORDINARY, END, N_NAMES };

static const char *const names[N_NAMES] = {"user.uid.1.x", "com.apple.system.x", "ordinary",
                                           "end"};

/* The names heard, in order. */
static struct {
        int tokens[N_NAMES];
        int checks[N_NAMES];
        char text[MAX_SEEN];
        _Atomic unsigned n;
} heard;

static void write_down(int token, void *context)
{
        unsigned n = heard.n;

        CHECK(n < MAX_SEEN);
        heard.text[n] = (char)('0' + (int)(intptr_t)context);
        heard.n = n + 1;
}

static void listen_to_all(void)
{
        await_bus(dn_center_darwin());
        for (intptr_t i = 0; i < N_NAMES; i++) {
                dn_token_handler handler = {.invoke = write_down, .context = (void *)i};
                CHECK_EQ(dn_notify_register_callback(names[i], &handler, NULL, &heard.tokens[i]),
                         NOTIFY_STATUS_OK);
                CHECK_EQ(notify_register_check(names[i], &heard.checks[i]), NOTIFY_STATUS_OK);
                CHECK(is_changed(heard.checks[i]));
        }
}

/* Changes the user of this thread only, while connecting. */
static test_raw *open_as(uid_t user)
{
        CHECK_EQ(syscall(SYS_setresuid, user, user, 0), 0);
        test_raw *raw = test_raw_open(shared_address);
        CHECK_EQ(syscall(SYS_setresuid, 0, 0, 0), 0);
        return raw;
}

static void send_name(test_raw *raw, int i, const char *forged_sender)
{
        char interface[TEST_INTERFACE_BYTES];
        uint8_t body[64];

        test_wire_interface(names[i], interface);
        test_raw_signal signal = {.path = TEST_WIRE_PATH,
                                  .interface = interface,
                                  .member = TEST_WIRE_MEMBER,
                                  .signature = "s",
                                  .sender = forged_sender,
                                  .body = body,
                                  .body_bytes = test_raw_string(names[i], body)};
        CHECK(test_raw_send(raw, &signal));
}

/* Sends the names over one connection, then the end name; until then only `expected` may be
 * heard. */
static void check_heard(uid_t user, const char *sent, const char *expected)
{
        char seen[MAX_SEEN + 1] = "";
        test_raw *raw = open_as(user);
        unsigned n_expected = (unsigned)strlen(expected);

        heard.n = 0;
        for (const char *name = sent; *name; name++)
                send_name(raw, *name - '0', NULL);
        send_name(raw, END, NULL);
        CHECK(test_raw_sync(raw));
        WAIT_UNTIL(heard.n > n_expected || (heard.n > 0 && heard.text[heard.n - 1] == '3'));
        memcpy(seen, heard.text, heard.n);
        CHECK_EQ(seen[strlen(seen) - 1], '3');
        seen[strlen(seen) - 1] = '\0';
        CHECK_STREQ(seen, expected);
        for (int i = 0; i < END; i++)
                CHECK_EQ(is_changed(heard.checks[i]), strchr(expected, '0' + i) != NULL);
        test_raw_close(raw);
}

TEST_ON_BUS(onlyTheirUsersCanPostReservedNames)
{
        static const struct {
                uid_t user;
                const char *sent, *expected;
        } rows[] = {{STRANGER, "0", ""}, {STRANGER, "1", ""}, {STRANGER, "0120", "2"},
                    {STRANGER, "2", "2"}, {OWNER, "0", "0"}, {OWNER, "1", ""}, {OWNER, "012", "02"},
                    {0, "0", "0"}, {0, "1", "1"}, {0, "012", "012"}};

        shared_bus_start();
        listen_to_all();
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                check_heard(rows[i].user, rows[i].sent, rows[i].expected);
}

/* A name that needs no query to the bus does not overtake one that does. */
TEST_ON_BUS(postsOfOneSenderKeepTheirOrder)
{
        shared_bus_start();
        listen_to_all();
        for (int i = 0; i < N_ROUNDS; i++) { /* each sender is new */
                check_heard(0, "02120210212", "02120210212");
                check_heard(OWNER, "02120210212", "02202022");
                check_heard(STRANGER, "02120210212", "22222");
        }
}

TEST_ON_BUS(forgedSendersAreNotBelieved)
{
        shared_bus_start();
        test_peer *root = test_peer_open(shared_address);

        listen_to_all();
        test_raw *raw = open_as(STRANGER);
        heard.n = 0;
        for (int i = 0; i < END; i++)
                send_name(raw, i, test_peer_unique_name(root));
        test_peer_post(root, names[OF_SYSTEM]);
        test_peer_sync(root);
        if (test_raw_sync(raw)) /* a bus may disconnect such a sender */
                send_name(raw, END, NULL);
        else
                test_peer_post(root, names[END]);
        WAIT_UNTIL(heard.n > 0 && heard.text[heard.n - 1] == '3');
        for (unsigned i = 0, n_system = 0; i < heard.n; i++) {
                CHECK(heard.text[i] != '0');
                n_system += heard.text[i] == '1';
                CHECK(n_system <= 1);
        }
        CHECK(!is_changed(heard.checks[OF_USER]));
}

static void wait_inline(const dn_event *event, void *context)
{
        WAIT_UNTIL(*(_Atomic bool *)context);
}

/* Nothing is read from the bus until the flag is set. */
static void block_service_thread(_Atomic bool *flag)
{
        dn_handler handler = {.invoke = wait_inline, .context = (void *)flag};
        const dn_executor *executor = dn_executor_inline();

        CHECK_EQ(dn_center_observe(dn_center_darwin(), "block", &handler, executor, NULL), 0);
        post_ok(dn_center_darwin(), "block");
}

TEST_ON_BUS(strangersFloodDoesNotHideRootsPosts)
{
        static _Atomic bool goes_on = false;

        shared_bus_start();
        test_peer *root = test_peer_open(shared_address);
        listen_to_all();
        test_raw *raw = open_as(STRANGER);
        block_service_thread(&goes_on);
        for (int i = 0; i < N_FLOOD; i++)
                send_name(raw, OF_SYSTEM, NULL);
        CHECK(test_raw_sync(raw));
        test_peer_post(root, names[OF_SYSTEM]);
        test_peer_post(root, names[END]);
        test_peer_sync(root);
        goes_on = true;
        WAIT_UNTIL(heard.n > 0 && heard.text[heard.n - 1] == '3');
        CHECK_STREQ(heard.text, "13");
}

/* Forks a process of another user, with its own table and with `input` as standard input. */
static pid_t fork_as(uid_t user, int input, int (*run)(void))
{
        const char *directory = FORMAT("%s/of-%u", test_directory(), (unsigned)user);

        CHECK_EQ(chmod(test_directory(), 0711), 0);
        if (mkdir(directory, 0700) == 0)
                CHECK_EQ(chown(directory, user, user), 0);
        pid_t pid = test_fork();
        if (pid == 0) {
                setenv("XDG_RUNTIME_DIR", directory, 1);
                dup2(input, STDIN_FILENO);
                if (setresuid(user, user, user) < 0)
                        _exit(1);
                exit(run());
        }
        return pid;
}

static int post_all(void)
{
        char byte;

        for (int i = 0; i < N_NAMES; i++)
                if (notify_post(names[i]) != NOTIFY_STATUS_OK)
                        return 1;
        return read(STDIN_FILENO, &byte, 1) == 1 ? 0 : 1; /* it must be alive when the bus is
                                                           * queried */
}

/* Checks what this process hears of the posts of another user's library. */
static void check_library_of(uid_t user, const char *expected)
{
        int keep[2];

        CHECK_EQ(pipe(keep), 0);
        heard.n = 0;
        pid_t pid = fork_as(user, keep[0], post_all);
        WAIT_UNTIL(heard.n > 0 && heard.text[heard.n - 1] == '3');
        CHECK_EQ(write(keep[1], "", 1), 1);
        CHECK_EQ(test_wait_for(pid), 0);
        heard.text[heard.n - 1] = '\0';
        CHECK_STREQ(heard.text, expected);
}

TEST_ON_BUS(anotherUsersLibraryIsHeardToo)
{
        SKIP_IF(TEST_HAS_THREAD_SANITIZER, "this sanitizer allows no threads in a forked child");
        shared_bus_start();
        listen_to_all();
        check_library_of(OWNER, "02");
        check_library_of(STRANGER, "2");
}

/* Prints when it began, posts a name that only root may post, and exits, as commands do. */
ROLE(postAndLeave)
{
        printf("%llu\n", (unsigned long long)test_now_us());
        return notify_post(names[OF_SYSTEM]) == NOTIFY_STATUS_OK ? 0 : 1;
}

/* Receivers ask the bus for its user, which the bus forgets when it leaves. */
TEST_ON_BUS(posterOfAReservedNameStaysUntilReceiversHaveAsked)
{
        shared_bus_start();
        test_child *poster = test_spawn_role("postAndLeave", NULL);
        uint64_t began_us = strtoull(test_child_read_line(poster), NULL, 10);
        CHECK_EQ(test_child_wait(poster), 0);
        CHECK(test_now_us() - began_us >= 100000);
}

TEST_MAIN()
