/* A plugin that contains the static library is loaded and unloaded, also beside the shared one. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <darwinnotify/darwinnotify.h>

#include "test-bus.h"
#include "test.h"

/* --- counting allocations --------------------------------------------------------------------- */

/* The C library's allocator, under names that cannot be replaced. What it says of itself includes
 * caches of threads that have ended. */
extern void *__libc_malloc(size_t n_bytes);
extern void *__libc_calloc(size_t n, size_t n_bytes);
extern void *__libc_realloc(void *memory, size_t n_bytes);
extern void *__libc_memalign(size_t alignment, size_t n_bytes);
extern void __libc_free(void *memory);

static _Atomic long n_allocations;

#if !TEST_HAS_SANITIZER
static void *counted(void *memory)
{
        n_allocations += memory != NULL;
        return memory;
}

void *malloc(size_t n_bytes)
{
        return counted(__libc_malloc(n_bytes));
}

void *calloc(size_t n, size_t n_bytes)
{
        return counted(__libc_calloc(n, n_bytes));
}

void *realloc(void *memory, size_t n_bytes)
{
        return memory ? __libc_realloc(memory, n_bytes) : malloc(n_bytes);
}

void *aligned_alloc(size_t alignment, size_t n_bytes)
{
        return counted(__libc_memalign(alignment, n_bytes));
}

int posix_memalign(void **ret_memory, size_t alignment, size_t n_bytes)
{
        *ret_memory = aligned_alloc(alignment, n_bytes);
        return *ret_memory ? 0 : ENOMEM;
}

void free(void *memory)
{
        n_allocations -= memory != NULL;
        __libc_free(memory);
}
#endif

/* --- the plugin ------------------------------------------------------------------------------- */

/* The first rounds load what stays, such as libsystemd. */
enum { N_FIRST_ROUNDS = 5, N_ROUNDS = 100 };

/* What the process has. */
typedef struct sizes {
        unsigned n_fds;
        unsigned n_threads;
        unsigned n_mappings;
        long n_allocations;
} sizes;

static sizes measure(void)
{
        return (sizes){test_n_fds(), test_n_threads(), test_n_mappings_of(getpid(), ""),
                       n_allocations};
}

/* Finds a file beside the test programs. */
static void find_built(const char *name, char ret_path[PATH_MAX])
{
        ssize_t n_bytes = readlink("/proc/self/exe", ret_path, PATH_MAX - 32);
        char *end;

        CHECK(n_bytes > 0);
        ret_path[n_bytes] = '\0';
        end = strstr(ret_path, "/tests/library/");
        CHECK(end);
        (void)sprintf(end, "/%s", name);
}

static void load_use_and_unload(const char *path)
{
        void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        int (*use)(void);

        if (!plugin)
                test_broken("%s", dlerror());
        *(void **)&use = dlsym(plugin, "plugin_use");
        CHECK(use);
        CHECK_EQ(use(), 0);
        CHECK_EQ(dlclose(plugin), 0);
        CHECK(!dlopen(path, RTLD_NOW | RTLD_NOLOAD));
}

TEST_ON_BUS(unloadedPluginLeavesNothing)
{
        test_bus_begin();
        char path[PATH_MAX];
        sizes before, after;

        SKIP_IF(TEST_HAS_SANITIZER, "a sanitizer keeps what an unloaded library had");
        find_built("plugin.so", path);
        for (int i = 0; i < N_FIRST_ROUNDS; i++)
                load_use_and_unload(path);
        WAIT_UNTIL_EQ(test_n_threads(), 2); /* the other one is of the test */
        before = measure();
        for (int i = 0; i < N_ROUNDS; i++)
                load_use_and_unload(path);
        WAIT_UNTIL_EQ(test_n_threads(), before.n_threads);
        after = measure();
        CHECK_EQ(after.n_fds, before.n_fds);
        CHECK_EQ(after.n_mappings, before.n_mappings);
        CHECK_EQ(after.n_allocations, before.n_allocations);
}

/* --- the shared library of its host ----------------------------------------------------------- */

static void *find_function(void *library, const char *name)
{
        void *function = dlsym(library, name);

        if (!function)
                test_broken("%s", dlerror());
        return function;
}

static void count(const dn_event *event, void *context)
{
        (*(_Atomic unsigned *)context)++;
}

/* This program has its own copy of the library: a host would not. */
TEST(pluginThatEndsItsLibraryDoesNotEndThatOfItsHost)
{
        static _Atomic unsigned n_calls;
        dn_center *(*darwin)(void);
        int (*observe)(dn_center *, const char *, const dn_handler *, const dn_executor *,
                       dn_observer **);
        int (*post)(dn_center *, const char *, const char *, const dn_dict *, uint32_t);
        char path[PATH_MAX];
        void *host;

        if (TEST_HAS_SANITIZER)
                SKIP("two copies of the library have two copies of a sanitizer's state");
        test_bus_begin();
        find_built("libdarwinnotify.so.1", path);
        host = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        *(void **)&darwin = find_function(host, "dn_center_darwin");
        *(void **)&observe = find_function(host, "dn_center_observe");
        *(void **)&post = find_function(host, "dn_center_post");
        dn_handler handler = {.invoke = count, .context = &n_calls};
        CHECK_EQ(observe(darwin(), "host", &handler, NULL, NULL), 0);
        find_built("plugin.so", path);
        load_use_and_unload(path);
        CHECK_EQ(post(darwin(), "host", NULL, NULL, 0), 0);
        WAIT_UNTIL_EQ(n_calls, 1);
}

TEST_MAIN()
