/* Starts processes that do not outlive this one.
 *
 * PR_SET_PDEATHSIG fires when the *thread* that forked ends, so one thread that never ends does all
 * the forking: a test may run on a thread that ends a moment later. */
#include "test-spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

/* On the stack of its caller, which waits for it. */
typedef struct request {
        const test_spawn_plan *plan;
        pid_t pid;
        bool is_done;
} request;

static struct {
        pthread_mutex_t lock;
        pthread_cond_t changed;
        struct request *next; /* the thread's next job */
        pid_t owner; /* a forked child does not have this thread and starts its own */
} spawner = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void child_arrange_fds(const test_spawn_plan *plan)
{
        int moved[TEST_SPAWN_MAX_FDS];

        for (size_t i = 0; i < plan->n_fds; i++) {
                int source = plan->fds[i] >= 0 ? plan->fds[i] : open("/dev/null", O_RDWR);
                moved[i] = fcntl(source, F_DUPFD_CLOEXEC, 64);
                if (moved[i] < 0)
                        _exit(126);
        }
        for (size_t i = 0; i < plan->n_fds; i++)
                if (dup2(moved[i], (int)i) < 0)
                        _exit(126);
        close_range((unsigned)plan->n_fds, ~0U, 0);
}

/* Only async-signal-safe calls from here on: other threads may hold any lock. */
__attribute__((noreturn)) static void child_run(const test_spawn_plan *plan, pid_t parent)
{
        sigset_t none;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
                _exit(126);
        signal(SIGPIPE, SIG_DFL);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        child_arrange_fds(plan);
        execvpe(plan->argv[0], (char *const *)plan->argv,
                plan->environment ? (char *const *)plan->environment : environ);
        _exit(127);
}

static void *spawner_main(void *argument)
{
        (void)argument;
        pthread_mutex_lock(&spawner.lock);
        for (;;) {
                while (!spawner.next)
                        pthread_cond_wait(&spawner.changed, &spawner.lock);
                pid_t parent = getpid();
                pid_t pid = fork();
                if (pid == 0)
                        child_run(spawner.next->plan, parent);
                spawner.next->pid = pid;
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
        if (request.pid < 0)
                test_broken("fork for %s: %s", plan->argv[0], strerror(errno));
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
