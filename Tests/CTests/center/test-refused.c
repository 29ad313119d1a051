/* A kernel that refuses threads, or what the processes of a user wake each other with. */
#include <darwinnotify/darwinnotify.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "member.h"
#include "tally.h"

/* --- threads ---------------------------------------------------------------------------------- */

static bool refuses_threads;

/* Overrides libc's. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
        int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

        *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
        CHECK(create);
        return refuses_threads ? EAGAIN : create(thread, attributes, run, argument);
}

/* A registration reports it; a post after one needs no further thread. */
TEST(threadsAreMadeWhenANameIsRegistered)
{
        static tally refused, seen;

        SKIP_IF(TEST_HAS_SANITIZER, "a sanitizer has a pthread_create() of its own");
        test_bus_begin();
        test_child *other = spawn_member("y");
        refuses_threads = true;
        CHECK_EQ(dn_center_observe(dn_center_darwin(), "x", TALLY_HANDLER(&refused), NULL, NULL),
                 -EAGAIN);
        CHECK_EQ(refused.n_destroyed, 1);
        refuses_threads = false;
        tally_observe(dn_center_darwin(), "x", &seen);
        refuses_threads = true;
        post_ok(dn_center_darwin(), "x");
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        post_by(other, "x");
        WAIT_UNTIL_EQ(seen.n_calls, 2);
        end_member(other);
}

TEST_ON_BUS(aPostThatIsLostForLackOfAThreadIsReportedByAFlush)
{
        SKIP_IF(TEST_HAS_SANITIZER, "a sanitizer has a pthread_create() of its own");
        test_bus_begin();
        refuses_threads = true;
        CHECK_EQ(dn_center_post(dn_center_darwin(), "x", NULL, NULL, 0), -EAGAIN);
        refuses_threads = false;
        CHECK_EQ(dn_flush(0), -EAGAIN);
        CHECK_EQ(dn_flush(0), 0);
}

static void ignore_work(void *argument)
{
}

TEST_NO_BUS(workForWhichThereIsNoThreadIsRefused)
{
        dn_center *center = open_center("none");

        SKIP_IF(TEST_HAS_SANITIZER, "a sanitizer has a pthread_create() of its own");
        refuses_threads = true;
        CHECK_EQ(dn_center_enqueue(center, ignore_work, NULL), -EAGAIN);
        refuses_threads = false;
        CHECK_EQ(dn_center_enqueue(center, ignore_work, NULL), 0);
        CHECK_EQ(dn_shutdown(), 0); /* the refused work does not count */
        dn_center_unref(center);
}

/* --- shared futexes --------------------------------------------------------------------------- */

static void refuse_shared_futexes(void)
{
        struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 2),
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
                BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, FUTEX_PRIVATE_FLAG, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        };
        struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

        CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
                _exit(TEST_STATUS_SKIPPED);
}

static void ignore_owner(const dn_owner *owner, void *context)
{
}

static void ignore_outcome(const dn_outcome *outcome, void *context)
{
}

static void check_calls_without_bus(void)
{
        static const dn_call_handler call_handler = {.ended = ignore_outcome};
        static const dn_owner_handler owner_handler = {.invoke = ignore_owner};
        const dn_call_plan plan = {.service = "org.example.None", .kind = "org.example.None.Ask"};

        CHECK_EQ(dn_call_begin(dn_center_darwin(), &plan, &call_handler, NULL, NULL), -ENOTCONN);
        CHECK_EQ(dn_center_observe_owner(dn_center_darwin(), "org.example.None", &owner_handler,
                                         NULL, NULL),
                 0);
}

ROLE(useWithoutSharedFutexes)
{
        static tally seen;

        refuse_shared_futexes();
        CHECK_EQ(dn_center_observe(dn_center_darwin(), "x", TALLY_HANDLER(&seen), NULL, NULL),
                 DN_NOT_CONNECTED);
        CHECK_EQ(dn_center_post(dn_center_darwin(), "x", NULL, NULL, 0), DN_NOT_CONNECTED);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        CHECK_EQ(statistic(DN_STATISTIC_NAMES_UNCOUNTED), 1);
        check_calls_without_bus();
        return 0;
}

TEST_NO_BUS(withoutSharedFutexesNobodyElseIsReached)
{
        int status = test_child_wait(test_spawn_role("useWithoutSharedFutexes", NULL));

        SKIP_IF(status == TEST_STATUS_SKIPPED, "this kernel has no seccomp");
        CHECK_EQ(status, 0);
}

/* --- any other call --------------------------------------------------------------------------- */

static void refuse_call(int number, int error)
{
        struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

        CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
                _exit(TEST_STATUS_SKIPPED);
}

static void check_listed(const char *function, int r)
{
        static const int listed[] = { EINVAL, EACCES, ENOMEM, EAGAIN, EMFILE, ENFILE, ENOBUFS,
                                      ETIMEDOUT, ENOTCONN };

        for (size_t i = 0; i < sizeof(listed) / sizeof(*listed); i++)
                if (r >= 0 || r == -listed[i])
                        return;
        test_fail(__FILE__, __LINE__, "%s() returned %d", function, r);
}

static int ignore_name(const dn_name_record *record, void *context)
{
        return 0;
}

static int ignore_post(const dn_post_record *record, void *context)
{
        return 0;
}

static void ignore_request(dn_request *request, const dn_request_info *info, void *context)
{
        (void)dn_request_refuse(request, "org.example.Error", "no", NULL);
}

/* Arguments: the number of the system call, the errno. */
ROLE(useWithoutTheCall)
{
        static tally seen[3];
        static const dn_watcher watcher = {.post = ignore_post};
        static const dn_call_handler call_handler = {.ended = ignore_outcome};
        static const dn_service_handler service_handler = {.invoke = ignore_request};
        static const dn_owner_handler owner_handler = {.invoke = ignore_owner};
        dn_call_plan call = {.service = "org.example.None", .kind = "org.example.None.Ask"};
        dn_service_plan service = {.name = "org.example.Some"};
        dn_center *darwin = dn_center_darwin(), *other = NULL;
        dn_loop *loop = NULL;
        dn_watch *watch = NULL;

        refuse_call(atoi(args[0]), atoi(args[1]));
        check_listed("post", dn_center_post(darwin, "x", NULL, NULL, 0));
        check_listed("observe",
                     dn_center_observe(darwin, "x", TALLY_HANDLER(&seen[0]), NULL, NULL));
        check_listed("observe_prefix",
                     dn_center_observe_prefix(darwin, "x", TALLY_HANDLER(&seen[1]), NULL, NULL));
        check_listed("post", dn_center_post(darwin, "x", NULL, NULL, 0));
        check_listed("post", dn_center_post(dn_center_distributed(), "x", NULL, NULL, 0));
        check_listed("open", dn_center_open(NULL, &other));
        check_listed("loop_new", dn_loop_new(&loop));
        check_listed("list_names", dn_list_names(NULL, ignore_name, NULL));
        check_listed("watch_open", dn_watch_open(NULL, NULL, &watcher, &watch));
        check_listed("watch_process", watch ? dn_watch_process(watch) : 0);
        check_listed("observe_owner", dn_center_observe_owner(darwin, service.name, &owner_handler,
                                                              NULL, NULL));
        check_listed("call_begin", dn_call_begin(darwin, &call, &call_handler, NULL, NULL));
        check_listed("service_open",
                     dn_service_open(darwin, &service, &service_handler, NULL, NULL));
        check_listed("flush", dn_flush(1000000));
        _exit(0);
}

TEST(allErrorsAreListedWhateverASandboxRefuses)
{
        static const int calls[] = {
                SYS_pipe2, SYS_socketpair, SYS_eventfd2, SYS_clone3, SYS_clone, SYS_socket,
                SYS_connect, SYS_epoll_create1, SYS_memfd_create, SYS_openat, SYS_ftruncate,
                SYS_fallocate, SYS_linkat, SYS_madvise, SYS_fcntl, SYS_getsockopt, SYS_sendmsg,
                SYS_recvmsg, SYS_ppoll, SYS_getrandom,
        };
        static const int errors[] = { EPERM, ENOSYS };

        test_bus_begin();
        for (size_t i = 0; i < 2 * sizeof(calls) / sizeof(*calls); i++) {
                const char *number = FORMAT("%d", calls[i / 2]);
                const char *error = FORMAT("%d", errors[i % 2]);
                int status = test_child_wait(test_spawn_role("useWithoutTheCall", number, error,
                                                             NULL));

                SKIP_IF(status == TEST_STATUS_SKIPPED, "this kernel has no seccomp");
                if (status != 0)
                        test_fail(__FILE__, __LINE__, "system call %s, error %s: status %d", number,
                                  error, status);
        }
}

TEST_MAIN()
