/* Starts processes that do not outlive this one.
 *
 * The signal that a child gets when its parent ends is sent when the *thread* that started it ends,
 * so one thread that never ends starts all of them: a test may run on a thread that ends a moment
 * later. */
#include "test-spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

/* On the stack of its caller, which waits for it. */
typedef struct request {
        const test_spawn_plan *plan;
        pid_t pid;
        int error;
        bool is_done;
} request;

static struct {
        pthread_mutex_t lock;
        pthread_cond_t changed;
        struct request *next; /* the thread's next job */
        pid_t owner; /* a forked child does not have this thread and starts its own */
} spawner = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Copies each descriptor to where setting up the others cannot overwrite it. */
static void fds_copy(const test_spawn_plan *plan, int copies[TEST_SPAWN_MAX_FDS])
{
        for (size_t i = 0; i < plan->n_fds; i++) {
                int null = plan->fds[i] < 0 ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;

                copies[i] = fcntl(null < 0 ? plan->fds[i] : null, F_DUPFD_CLOEXEC, 64);
                if (copies[i] < 0)
                        test_broken("no descriptor for %s: %s", plan->argv[0], strerror(errno));
                if (null >= 0)
                        close(null);
        }
}

static void add_close_from(posix_spawn_file_actions_t *actions, int fd)
{
#ifdef __GLIBC__
        posix_spawn_file_actions_addclosefrom_np(actions, fd);
#else
        for (; fd < 1024; fd++)
                posix_spawn_file_actions_addclose(actions, fd);
#endif
}

static int spawn_with(const test_spawn_plan *plan, const char *const *argv, pid_t *pid)
{
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        int copies[TEST_SPAWN_MAX_FDS], r;
        sigset_t none, pipe;

        sigemptyset(&none);
        sigemptyset(&pipe);
        sigaddset(&pipe, SIGPIPE);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &pipe);

        fds_copy(plan, copies);
        posix_spawn_file_actions_init(&actions);
        for (size_t i = 0; i < plan->n_fds; i++)
                posix_spawn_file_actions_adddup2(&actions, copies[i], (int)i);
        add_close_from(&actions, (int)plan->n_fds);

        r = posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)argv,
                         plan->environment ? (char *const *)plan->environment : environ);
        for (size_t i = 0; i < plan->n_fds; i++)
                close(copies[i]);
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
        return r;
}

/* posix_spawn() and setpriv instead of fork() and prctl(): the thread sanitizer aborts some
 * children that are forked while many threads run. */
static int spawn(const test_spawn_plan *plan, pid_t *pid)
{
        static const char *const prefix[] = {"setpriv", "--pdeathsig", "KILL", "--"};
        size_t n_prefix = sizeof(prefix) / sizeof(*prefix), n_words = 0;

        while (plan->argv[n_words])
                n_words++;

        const char *argv[n_prefix + n_words + 1];
        memcpy(argv, prefix, sizeof(prefix));
        memcpy(argv + n_prefix, plan->argv, (n_words + 1) * sizeof(*argv));
        return spawn_with(plan, argv, pid);
}

static void *spawner_main(void *argument)
{
        (void)argument;
        pthread_mutex_lock(&spawner.lock);
        for (;;) {
                while (!spawner.next)
                        pthread_cond_wait(&spawner.changed, &spawner.lock);
                spawner.next->error = spawn(spawner.next->plan, &spawner.next->pid);
                spawner.next->is_done = true;
                spawner.next = NULL;
                pthread_cond_broadcast(&spawner.changed);
        }
        return NULL;
}

static void spawner_need(void)
{
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        sigset_t all, before;
        pthread_t thread;

        pthread_mutex_lock(&lock);
        if (spawner.owner != getpid()) {
                pthread_mutex_init(&spawner.lock, NULL);
                pthread_cond_init(&spawner.changed, NULL);
                spawner.next = NULL;
                spawner.owner = getpid();
                sigfillset(&all);
                pthread_sigmask(SIG_SETMASK, &all, &before);
                if (pthread_create(&thread, NULL, spawner_main, NULL) != 0)
                        test_broken("no thread to spawn with");
                pthread_detach(thread);
                pthread_sigmask(SIG_SETMASK, &before, NULL);
        }
        pthread_mutex_unlock(&lock);
}

pid_t test_spawn(const test_spawn_plan *plan)
{
        request request = {.plan = plan};

        spawner_need();
        pthread_mutex_lock(&spawner.lock);
        while (spawner.next)
                pthread_cond_wait(&spawner.changed, &spawner.lock);
        spawner.next = &request;
        pthread_cond_broadcast(&spawner.changed);
        while (!request.is_done)
                pthread_cond_wait(&spawner.changed, &spawner.lock);
        pthread_mutex_unlock(&spawner.lock);
        if (request.error)
                test_broken("cannot start %s: %s", plan->argv[0], strerror(request.error));
        return request.pid;
}

int test_reap(pid_t pid)
{
        uint64_t deadline = test_deadline_us();

        for (;;) {
                int status;
                pid_t r = waitpid(pid, &status, WNOHANG);
                if (r == pid)
                        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
                if (r < 0 && errno != EINTR)
                        test_broken("waitpid: %s", strerror(errno));
                if (test_now_us() > deadline)
                        return -1;
                test_breathe();
        }
}

void test_kill_and_reap(pid_t pid)
{
        kill(pid, SIGKILL);
        if (test_reap(pid) < 0)
                test_broken("process %d does not die", (int)pid);
}

void test_stop_process(pid_t pid)
{
        int status;

        kill(pid, SIGSTOP);
        if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
                test_broken("process %d ended instead of stopping", (int)pid);
}
