/* Names that begin with "self." stay in the process. */
#include <arpa/inet.h>
#include <unistd.h>

#include "notify-tally.h"
#include "roles.h"

#define SECRET "self.secret"

/* A registration of each kind for a name, with what it received. */
typedef struct everything {
        int check;
        int plain;
        int signal;
        int descriptor;
        int callback;
        int fd;
        _Atomic uint64_t n_calls;
} everything;

static _Atomic unsigned n_signals;

static void count_signal(int number)
{
        (void)number;
        n_signals++;
}

static void count_own_call(int token, void *context)
{
        everything *self = context;

        CHECK_EQ(token, self->callback);
        self->n_calls++;
}

static void register_everything(everything *self, const char *name)
{
        dn_token_handler handler = {.invoke = count_own_call, .context = self};

        CHECK(signal(SIGUSR1, count_signal) != SIG_ERR);
        CHECK_EQ(notify_register_check(name, &self->check), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_plain(name, &self->plain), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_signal(name, SIGUSR1, &self->signal), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_register_file_descriptor(name, &self->fd, 0, &self->descriptor),
                 NOTIFY_STATUS_OK);
        CHECK_EQ(dn_notify_register_callback(name, handler, NULL, &self->callback),
                 NOTIFY_STATUS_OK);
}

/* Checks every token: all are true, or all are false. */
static void check_everything(const everything *self, bool expected)
{
        CHECK_EQ(is_changed(self->check), expected);
        CHECK_EQ(is_changed(self->plain), expected);
        CHECK_EQ(is_changed(self->signal), expected);
        CHECK_EQ(is_changed(self->descriptor), expected);
        CHECK_EQ(is_changed(self->callback), expected);
}

static void check_one_delivery(everything *self, unsigned n_before)
{
        uint32_t written;

        WAIT_UNTIL_EQ(self->n_calls, n_before + 1);
        WAIT_UNTIL_EQ(n_signals, n_before + 1);
        CHECK_EQ(read(self->fd, &written, sizeof written), sizeof written);
        CHECK_EQ(ntohl(written), self->descriptor);
}

static void cancel_everything(const everything *self)
{
        CHECK_EQ(notify_cancel(self->check), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_cancel(self->plain), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_cancel(self->signal), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_cancel(self->descriptor), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_cancel(self->callback), NOTIFY_STATUS_OK);
        CHECK(!notify_is_valid_token(self->check));
        CHECK(!notify_is_valid_token(self->callback));
}

static void use_everything(const char *name)
{
        static everything all = {0};
        uint64_t state = 1;

        register_everything(&all, name);
        check_everything(&all, true);
        check_everything(&all, false);
        CHECK_EQ(notify_get_state(all.signal, &state), NOTIFY_STATUS_OK);
        CHECK_EQ(state, 0);
        for (unsigned i = 0; i < 10; i++) {
                CHECK_EQ(notify_post(name), NOTIFY_STATUS_OK);
                check_one_delivery(&all, i);
                check_everything(&all, true);
                check_everything(&all, false);
        }
        CHECK_EQ(notify_set_state(all.callback, UINT64_MAX - 1), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_get_state(all.plain, &state), NOTIFY_STATUS_OK);
        CHECK_EQ(state, UINT64_MAX - 1);
        cancel_everything(&all);
        CHECK_EQ(notify_post(name), NOTIFY_STATUS_OK);
        fence_executor();
        CHECK_EQ(all.n_calls, 10);
        CHECK_EQ(n_signals, 10);
}

TEST_NO_BUS(everyKindOfTokenNeedsNoBus)
{
        use_everything(SECRET);
}

TEST_NO_BUS(shortestSelfNameIsValid)
{
        use_everything("self.");
}

TEST_NO_BUS(thereIsNoLengthLimit)
{
        static char name[100000], other[100000];
        int token;

        memset(name, 'n', sizeof name - 1);
        memcpy(name, "self.", 5);
        memcpy(other, name, sizeof name);
        other[sizeof other - 2] = 'o';
        CHECK_EQ(notify_register_check(other, &token), NOTIFY_STATUS_OK);
        CHECK(is_changed(token));
        use_everything(name);
        CHECK(!is_changed(token)); /* it differs only in the last byte */
}

TEST_ON_BUS(postsDoNotReachTheBus)
{
        test_peer *peer = test_peer_begin();
        static everything all = {0};
        test_signal first;

        register_everything(&all, SECRET);
        for (unsigned i = 0; i < 10; i++) {
                CHECK_EQ(notify_post(SECRET), NOTIFY_STATUS_OK);
                check_one_delivery(&all, i);
        }
        CHECK_EQ(notify_set_state(all.check, 1), NOTIFY_STATUS_OK);
        cancel_everything(&all);
        CHECK_EQ(notify_post("fence"), NOTIFY_STATUS_OK);
        test_peer_next(peer, &first);
        CHECK_STREQ(first.name, "fence");
}

/* Registers for SECRET and "fence"; prints "ready", then for each line what it knows of SECRET:
 * calls, the check, the state. Exits only after "fence" has arrived. */
ROLE(listenToSecret)
{
        static everything all = {0}, fence = {0};
        dn_token_handler handler = {.invoke = count_own_call, .context = &fence};
        uint64_t state = 1;
        char line[16];

        register_everything(&all, SECRET);
        check_everything(&all, true);
        CHECK_EQ(dn_notify_register_callback("fence", handler, NULL, &fence.callback), 0);
        printf("ready\n");
        while (fgets(line, sizeof line, stdin)) {
                WAIT_UNTIL_EQ(fence.n_calls, 1);
                fence_executor();
                CHECK_EQ(notify_get_state(all.check, &state), NOTIFY_STATUS_OK);
                printf("%llu %d %llu\n", (unsigned long long)all.n_calls + n_signals,
                       is_changed(all.check), (unsigned long long)state);
        }
        return 0;
}

TEST(otherProcessesReceiveNothing)
{
        test_bus_begin();
        test_child *child = test_spawn_role("listenToSecret", NULL);
        static everything all = {0};

        CHECK_STREQ(test_child_read_line(child), "ready");
        register_everything(&all, SECRET);
        CHECK_EQ(notify_set_state(all.plain, 7), NOTIFY_STATUS_OK);
        CHECK_EQ(notify_post(SECRET), NOTIFY_STATUS_OK);
        check_one_delivery(&all, 0);
        CHECK_EQ(notify_post("fence"), NOTIFY_STATUS_OK);
        CHECK_STREQ(test_child_ask(child, "tell"), "0 0 0");
        CHECK_EQ(test_child_wait(child), 0);
}

TEST_MAIN()
