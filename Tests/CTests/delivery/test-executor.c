/* Where callbacks run. */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "delivery/hub.h"
#include "executors.h"
#include "roles.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

static char thread_name[32];
static _Atomic bool named;

/* The host's crash handler must also see faults in callbacks. */
static bool is_fault(int signal)
{
        return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
               signal == SIGTRAP || signal == SIGSYS;
}

static void note_thread(const dn_event *event, void *context)
{
        sigset_t blocked;

        pthread_getname_np(pthread_self(), thread_name, sizeof thread_name);
        pthread_sigmask(SIG_SETMASK, NULL, &blocked);
        for (int signal = 1; signal < 32; signal++) /* higher ones belong to libc */
                if (signal != SIGKILL && signal != SIGSTOP)
                        CHECK_EQ(sigismember(&blocked, signal), !is_fault(signal));
        named = true;
}

static void check_thread_name(const char *name, const dn_executor *executor, const char *expected)
{
        named = false;
        observe_ok(dn_center_darwin(), name, &(dn_handler){.invoke = note_thread}, executor);
        post_ok(dn_center_darwin(), name);
        WAIT_UNTIL(named);
        CHECK_STREQ(thread_name, expected);
}

TEST(defaultIsTheDeliveryThreadWithAllSignalsButFaultsBlocked)
{
        const dn_executor *executor = dn_executor_inline();

        test_bus_begin();
        check_thread_name("N", NULL, "dn-delivery");
        check_thread_name("M", executor, "dn-direct");
}

/* The work may run on a loop that ends with the center. */
TEST_ON_BUS(aCenterStaysOpenWhileAnExecutorHasItsWork)
{
        static tally seen;
        const dn_executor executor = {.enqueue = keep_work};
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        unsigned n_before = test_peer_n_connections(peer, getpid());
        dn_center *center = open_center(test_bus_address(bus));
        dn_observer *observer = observe_ok(center, "N", TALLY_HANDLER(&seen), &executor);

        post_ok(center, "N");
        WAIT_UNTIL(is_kept);
        tally_drop(observer);
        dn_center_unref(center);
        test_let_pass_ms(200);
        CHECK_EQ(test_peer_n_connections(peer, getpid()), n_before + 1);
        run_kept_work();
        WAIT_UNTIL_EQ(test_peer_n_connections(peer, getpid()), n_before);
        CHECK_EQ(seen.n_calls, 0);
}

static void post_another(const dn_event *event, void *context)
{
        note_thread(event, context);
        if (strcmp(event->name, "a") == 0)
                CHECK_EQ(dn_center_post(event->center, "b", NULL, NULL, 0), 0);
}

TEST_ON_BUS(inlineIsTheServiceThreadForTheDistributedCenter)
{
        test_bus_begin();
        dn_center *center = dn_center_distributed();
        const dn_executor *executor = dn_executor_inline();
        static tally seen = { 0 };

        tally_observe_on(center, "b", &seen, executor);
        observe_ok(center, "a", &(dn_handler){ .invoke = post_another }, executor);
        CHECK_EQ(dn_center_post(center, "a", NULL, NULL, 0), 0);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        CHECK_STREQ(thread_name, "dn-service");
}

/* Until then the thread that runs the handlers is the one that others wake. */
TEST(aSecondExecutorIsServedWhileAHandlerOfTheFirstBlocks)
{
        const dn_executor *inline_executor = dn_executor_inline();
        static tally blocked = {.blocks = true}, quick = {0};

        test_bus_begin();
        tally_observe(dn_center_darwin(), "slow", &blocked);
        post_elsewhere("slow", 1, "return");
        WAIT_UNTIL_EQ(blocked.n_calls, 1);
        tally_observe_on(dn_center_darwin(), "quick", &quick, inline_executor);
        for (unsigned i = 1; i <= 5; i++) {
                post_elsewhere("quick", 1, "return");
                WAIT_UNTIL_EQ(quick.n_posts, i);
        }
        post_elsewhere("slow", 3, "return");
        blocked.blocks = false;
        WAIT_UNTIL_EQ(blocked.n_posts, 4);
}

/* Posts until it is ordered to stop. */
ROLE(flood)
{
        while (dn_center_post(dn_center_darwin(), args[0], NULL, NULL, 0) >= 0)
                continue;
        return 1;
}

/* The word that others ring goes from one thread to the other amid rings. */
TEST_NO_BUS(noPostIsMissedWhileTheWordChangesThreads)
{
        const dn_executor *inline_executor = dn_executor_inline();

        test_bus_use_none();
        test_spawn_role("flood", "F", NULL);
        test_child *poster = test_spawn_role("testPeer", NULL);
        for (int i = 0; i < (TEST_HAS_SANITIZER ? 20 : 100); i++) {
                tally of_flood = {0}, of_default = {0}, of_inline = {0};
                dn_center *center = open_center("none");
                dn_observer *observers[] = {
                        tally_observe(center, "F", &of_flood),
                        tally_observe(center, "D", &of_default),
                        tally_observe_on(center, "I", &of_inline, inline_executor),
                };
                CHECK_STREQ(test_child_ask(poster, "D"), "posted");
                CHECK_STREQ(test_child_ask(poster, "I"), "posted");
                WAIT_UNTIL_EQ(of_default.n_posts, 1);
                WAIT_UNTIL_EQ(of_inline.n_posts, 1);
                for (int j = 0; j < 3; j++)
                        tally_drop(observers[j]);
                WAIT_UNTIL(of_flood.n_destroyed && of_default.n_destroyed && of_inline.n_destroyed);
                dn_center_unref(center);
        }
}

/* An executor of the host, which runs nothing until it is asked to. */
static dn_loop *host;
static _Atomic unsigned n_enqueued;
static _Atomic bool refuses;

static int host_enqueue(void *context, dn_work_fn work, void *argument)
{
        const dn_executor *executor = dn_loop_executor(host);

        if (refuses)
                return -ENOMEM;
        CHECK_EQ(executor->enqueue(executor->context, work, argument), 0);
        n_enqueued++;
        return 0;
}

static dn_executor begin_host(void)
{
        test_bus_begin();
        host = new_loop();
        return (dn_executor){
                .enqueue = host_enqueue,
                .retain = retain_executor,
                .release = release_executor,
        };
}

TEST(executorValueIsReleasedForEachObserverAfterItsLastWork)
{
        static tally seen[5] = {0};
        dn_executor executor = begin_host();
        const char *const names[] = {"N", "N", "N", "M", "M"};
        dn_observer *observers[5];

        for (int i = 0; i < 5; i++)
                observers[i] = tally_observe_on(dn_center_darwin(), names[i], &seen[i], &executor);
        memset(&executor, 0xff, sizeof executor); /* it was only borrowed by the calls */
        post_ok(dn_center_darwin(), "N");
        WAIT_UNTIL(n_enqueued > 0);
        for (int i = 0; i < 5; i++)
                tally_drop(observers[i]);
        CHECK(n_executors_retained > 0); /* for the work still waiting */
        while (dn_loop_process(host) > 0)
                ;
        WAIT_UNTIL_EQ(n_executors_retained, 0);
        for (int i = 0; i < 5; i++) {
                CHECK_EQ(seen[i].n_calls, 0);
                CHECK_EQ(seen[i].n_destroyed, 1);
        }
}

TEST(executorThatRefusesWorkIsSurvived)
{
        dn_executor executor = begin_host();
        static tally refused = {0}, other = {0};
        dn_observer *observer = tally_observe_on(dn_center_darwin(), "N", &refused, &executor);

        refuses = true;
        tally_observe(dn_center_darwin(), "N", &other);
        post_ok(dn_center_darwin(), "N");
        WAIT_UNTIL_EQ(other.n_calls, 1);
        CHECK_EQ(refused.n_calls, 0);

        refuses = false;
        post_ok(dn_center_darwin(), "N");
        WAIT_UNTIL(n_enqueued > 0);
        dn_loop_process(host);
        CHECK(refused.n_calls >= 1);
        tally_drop(observer);
        dn_loop_process(host);
        WAIT_UNTIL_EQ(n_executors_retained, 0);
}

TEST(setExecutorMovesLaterObserversOnly)
{
        dn_center *center = dn_center_darwin();
        dn_executor executor = begin_host();
        static tally before = {0}, moved = {0}, named = {0}, back = {0};
        dn_observer *observer;

        CHECK_EQ(dn_center_add_observer(center, &before, tally_callback, "N", NULL, 0), 0);
        CHECK_EQ(dn_center_set_executor(center, &executor), 0);
        CHECK_EQ(dn_center_add_observer(center, &moved, tally_callback, "N", NULL, 0), 0);
        observer = tally_observe(center, "N", &named);
        CHECK_EQ(dn_center_set_executor(center, NULL), 0);
        CHECK_EQ(dn_center_add_observer(center, &back, tally_callback, "N", NULL, 0), 0);
        post_ok(center, "N");
        WAIT_UNTIL_EQ(before.n_calls, 1);
        WAIT_UNTIL_EQ(back.n_calls, 1);
        WAIT_UNTIL(n_enqueued > 0);
        CHECK_EQ(moved.n_calls + named.n_calls, 0);
        dn_loop_process(host);
        CHECK_EQ(moved.n_calls, 1);
        CHECK_EQ(named.n_calls, 1);
        tally_drop(observer);
        CHECK_EQ(dn_center_remove_every_observer(center, &moved), 0);
        dn_loop_process(host);
        WAIT_UNTIL_EQ(n_executors_retained, 0);
}

TEST(hostsInlineValueIsReleasedOnce)
{
        test_bus_begin();
        dn_executor executor = *dn_executor_inline();
        static tally seen, value;

        executor.context = &value;
        executor.release = tally_destroy;
        dn_observer *observer = tally_observe_on(dn_center_darwin(), "N", &seen, &executor);
        post_ok(dn_center_darwin(), "N");
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        CHECK_EQ(value.n_destroyed, 0);
        tally_drop(observer);
        WAIT_UNTIL_EQ(seen.n_destroyed, 1);
        WAIT_UNTIL_EQ(value.n_destroyed, 1);
        fence_executor();
        CHECK_EQ(value.n_destroyed, 1);
}

static void crash(const dn_event *event, void *context)
{
        char *page = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        CHECK(page != MAP_FAILED);
        *(volatile char *)page = 1;
}

static void leave(int signal)
{
        _exit(0);
}

/* Argument: "inline", or anything else for the delivery thread. */
ROLE(crashInCallback)
{
        const dn_executor *executor = strcmp(args[0], "inline") == 0
                                              ? dn_executor_inline()
                                              : dn_executor_delivery_thread();
        struct sigaction action = {.sa_handler = leave};

        CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
        observe_ok(dn_center_darwin(), "self.x", &(dn_handler){.invoke = crash}, executor);
        post_ok(dn_center_darwin(), "self.x");
        WAIT_UNTIL(false);
        return 1;
}

TEST_NO_BUS(faultInACallbackReachesTheHostsHandler)
{
        CHECK_EQ(test_child_wait(test_spawn_role("crashInCallback", "delivery", NULL)), 0);
        CHECK_EQ(test_child_wait(test_spawn_role("crashInCallback", "inline", NULL)), 0);
}

#if DN_HAS_BUS
static void note_dropped(const dn_event *event, void *context)
{
        atomic_fetch_add((_Atomic uint64_t *)context, event->n_dropped);
}

TEST(queuedPostsThatTheExecutorRefusedAreReported)
{
        static _Atomic uint64_t n_dropped;
        dn_executor executor = begin_host();
        dn_center *center = dn_center_distributed();
        dn_handler handler = { .invoke = note_dropped, .context = &n_dropped };
        dn_observer *observer = observe_ok(center, "self.x", &handler, &executor);

        refuses = true;
        for (int i = 0; i < 3; i++)
                CHECK_EQ(dn_center_post(center, "self.x", NULL, NULL, 0), 0);
        refuses = false;
        CHECK_EQ(dn_center_post(center, "self.x", NULL, NULL, 0), 0);
        CHECK_EQ(dn_loop_process(host), 1);
        CHECK_EQ(n_dropped, 3);
        tally_drop(observer);
}

static _Atomic uint64_t n_heard;

static void note_both(const dn_event *event, void *context)
{
        n_heard += event->n_posts;
        note_dropped(event, context);
}

static void post_large(size_t n_bytes)
{
        dn_dict_builder *builder = dn_dict_builder_new();
        void *bytes = calloc(1, n_bytes);

        dn_dict_builder_set_data(builder, "data", bytes, n_bytes);
        AUTO_DICT *user_info = finish(builder);
        CHECK_EQ(dn_center_post(dn_center_distributed(), "self.x", NULL, user_info, 0), 0);
        free(bytes);
}

/* 64 MiB may wait. The last post takes the room of the first two: one piece of work is too many. */
TEST(aLargePostMayTakeTheRoomOfTwo)
{
        static const size_t all[] = { 7, 7, 15, 15, 15, 15 };
        static _Atomic uint64_t n_dropped;
        dn_executor executor = begin_host();
        dn_handler handler = { .invoke = note_both, .context = &n_dropped };
        dn_observer *observer =
                observe_ok(dn_center_distributed(), "self.x", &handler, &executor);

        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                post_large(all[i] * 1024 * 1024);
        CHECK_EQ(dn_loop_process(host), 5);
        CHECK_EQ(n_heard, 4);
        CHECK_EQ(n_dropped, 2);
        tally_drop(observer);
}
#endif

static void do_nothing(void *argument)
{
}

TEST_NO_BUS(theInlineExecutorTakesNoWorkByItself)
{
        const dn_executor *executor = dn_executor_inline();

        CHECK_EQ(executor->enqueue(executor->context, do_nothing, NULL), -EINVAL);
}

/* --- Programs started from a callback --------------------------------------------------------- */

static _Atomic pid_t started;

static void start_program(const dn_event *event, void *context)
{
        char *const words[] = {"sleep", "1000", NULL};
        posix_spawnattr_t attributes;
        sigset_t none;
        pid_t pid;

        CHECK_EQ(posix_spawnattr_init(&attributes), 0);
        CHECK_EQ(sigemptyset(&none), 0);
        /* As observer.h and darwinnotify(7) say: */
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        CHECK_EQ(posix_spawnp(&pid, words[0], NULL, &attributes, words, environ), 0);
        CHECK_EQ(posix_spawnattr_destroy(&attributes), 0);
        started = pid;
}

static void check_that_its_program_can_be_ended(const dn_executor *executor)
{
        dn_handler handler = {.invoke = start_program};
        dn_observer *observer = observe_ok(dn_center_darwin(), "program", &handler, executor);
        int status = 0;

        started = 0;
        post_ok(dn_center_darwin(), "program");
        WAIT_UNTIL(started);
        dn_observer_cancel(observer);
        dn_observer_unref(observer);
        CHECK_EQ(kill(started, SIGTERM), 0);
        WAIT_UNTIL(waitpid(started, &status, WNOHANG) == started);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

TEST(programsThatCallbacksStartWithAnEmptySetOfSignalsCanBeEnded)
{
        test_bus_begin();
        check_that_its_program_can_be_ended(dn_executor_delivery_thread());
        check_that_its_program_can_be_ended(dn_executor_inline());
}

TEST_MAIN()
