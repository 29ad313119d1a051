/* A kernel that refuses threads, or what the processes of a user wake each other with. */
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
        CHECK_EQ(dn_center_observe(dn_center_darwin(), "x", tally_handler(&refused), NULL, NULL),
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

ROLE(useWithoutSharedFutexes)
{
        static tally seen;

        refuse_shared_futexes();
        CHECK_EQ(dn_center_observe(dn_center_darwin(), "x", tally_handler(&seen), NULL, NULL),
                 DN_NOT_CONNECTED);
        CHECK_EQ(dn_center_post(dn_center_darwin(), "x", NULL, NULL, 0), DN_NOT_CONNECTED);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        return 0;
}

TEST_NO_BUS(withoutSharedFutexesNobodyElseIsReached)
{
        int status = test_child_wait(test_spawn_role("useWithoutSharedFutexes", NULL));

        SKIP_IF(status == TEST_STATUS_SKIPPED, "this kernel has no seccomp");
        CHECK_EQ(status, 0);
}

TEST_MAIN()
