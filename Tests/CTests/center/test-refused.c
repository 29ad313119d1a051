/* A kernel that refuses threads, or what the processes of a user wake each other with. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "roles.h"
#include "tally.h"

/* --- threads ---------------------------------------------------------------------------------- */

static void limit_threads(rlim_t n)
{
        struct rlimit limit;

        CHECK_EQ(getrlimit(RLIMIT_NPROC, &limit), 0);
        limit.rlim_cur = n < limit.rlim_max ? n : limit.rlim_max;
        CHECK_EQ(setrlimit(RLIMIT_NPROC, &limit), 0);
}

/* A registration reports it; a post after one needs no further thread. */
ROLE(observeWithoutThreads)
{
        static tally refused, seen;

        (void)args, (void)n_args;
        if (geteuid() == 0)
                CHECK_EQ(setreuid(65534, 65534), 0); /* root has no limit */
        limit_threads(0);
        CHECK_EQ(dn_center_observe(dn_center_darwin(), "x", tally_handler(&refused), NULL, NULL),
                 -EAGAIN);
        CHECK_EQ(refused.n_destroyed, 1);
        limit_threads(RLIM_INFINITY);
        CHECK_EQ(dn_center_observe(dn_center_darwin(), "x", tally_handler(&seen), NULL, NULL), 0);
        limit_threads(0);
        post_ok(dn_center_darwin(), "x");
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        return 0;
}

TEST_NO_BUS(threadsAreMadeWhenANameIsRegistered)
{
        if (TEST_HAS_SANITIZER)
                SKIP("a leak checker needs a process of its own");
        CHECK_EQ(test_child_wait(test_spawn_role("observeWithoutThreads", NULL)), 0);
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

        (void)args, (void)n_args;
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

        if (status == TEST_STATUS_SKIPPED)
                SKIP("this kernel has no seccomp");
        CHECK_EQ(status, 0);
}

TEST_MAIN()
