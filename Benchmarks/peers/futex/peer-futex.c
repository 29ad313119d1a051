/* A word in shared memory and a futex: the least that waking another process costs.
 *
 * There is nothing else: each name is a file with one word, which counts the posts. */
#include <bench.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct observer {
        _Atomic uint32_t *word;
        bench_heard heard;
        void *context;
} observer;

static int open_nothing(void)
{
        return 0;
}

static int map_word(const char *name, _Atomic uint32_t **ret_word)
{
        const char *folder = getenv("XDG_RUNTIME_DIR");
        char path[512];
        int fd;

        snprintf(path, sizeof path, "%s/%s", folder ? folder : "/dev/shm", name);
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0 || ftruncate(fd, sizeof **ret_word) < 0)
                return -1;
        *ret_word = mmap(NULL, sizeof **ret_word, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
        return *ret_word == MAP_FAILED ? -1 : 0;
}

static void *wait_for_posts(void *argument)
{
        const observer *o = argument;
        uint32_t heard = 0, posted;

        for (;;) {
                while ((posted = atomic_load(o->word)) == heard)
                        syscall(SYS_futex, o->word, FUTEX_WAIT, heard, NULL, NULL, 0);
                o->heard(o->context, posted - heard);
                heard = posted;
        }
        return NULL;
}

static int observe(const char *name, bench_heard heard, void *context)
{
        observer *o = malloc(sizeof *o);
        pthread_t thread;

        *o = (observer){.heard = heard, .context = context};
        if (map_word(name, &o->word) < 0)
                return -1;
        return -pthread_create(&thread, NULL, wait_for_posts, o);
}

static int post(const char *name)
{
        static _Atomic uint32_t *word; /* a poster has one name */

        if (!word && map_word(name, &word) < 0)
                return -1;
        atomic_fetch_add(word, 1);
        return (int)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

int main(int argc, char **argv)
{
        static const bench_peer peer = {.open = open_nothing, .observe = observe, .post = post};

        return bench_main(argc, argv, &peer);
}
