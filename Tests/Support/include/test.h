/* The vocabulary of a test case.
 *
 *     TEST(postThenExitIsDelivered) { ... }   on every ground: a bus, and no bus at all
 *     TEST_ON_BUS(signalIsReadable) { ... }   on a bus only: it looks at what is on the bus
 *     TEST_NO_BUS(nullNameIsRefused) { ... }  once, starting no bus
 *     ROLE(post) { ... return 0; }            in its own process
 *     TEST_MAIN()                             at the end of the file
 *
 * Without arguments the program lists its cases; with a name it runs that case in its own process:
 * status 0 means passed, 77 skipped, anything else failed. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#define TEST_STATUS_SKIPPED 77

/* As in <darwinnotify/base.h>: 0 if the library was built without D-Bus. */
#ifndef DN_HAS_BUS
#define DN_HAS_BUS 1
#endif

/* 1 if the compiler says so: some measurements are meaningless under a sanitizer. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define TEST_HAS_THREAD_SANITIZER 1
#else
#define TEST_HAS_THREAD_SANITIZER 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define TEST_HAS_SANITIZER 1
#else
#define TEST_HAS_SANITIZER TEST_HAS_THREAD_SANITIZER
#endif

/* The environments that a case runs in. */
typedef enum test_ground {
        TEST_GROUND_ONCE = 0,    /* the case starts what it needs */
        TEST_GROUND_BROKERS = 1, /* each installed broker */
        TEST_GROUND_NONE = 2,    /* processes that share the absence of a bus */
} test_ground;

typedef struct test_case {
        const char *name;
        unsigned grounds;
        void (*run)(void);
        struct test_case *next;
} test_case;

typedef struct test_role {
        const char *name;
        int (*run)(int n_args, char **args);
        struct test_role *next;
} test_role;

void test_register_case(test_case *new_case);
void test_register_role(test_role *role);
int test_main(int argc, char **argv);

#define TEST(case_name) TEST_CASE_(case_name, TEST_GROUND_BROKERS | TEST_GROUND_NONE)
#if DN_HAS_BUS
#define TEST_ON_BUS(case_name) TEST_CASE_(case_name, TEST_GROUND_BROKERS)
#else
#define TEST_ON_BUS(case_name) __attribute__((unused)) static void case_##case_name(void)
#endif
#define TEST_NO_BUS(case_name) TEST_CASE_(case_name, TEST_GROUND_ONCE)

#define TEST_CASE_(case_name, case_grounds)                                                        \
        static void case_##case_name(void);                                                        \
        __attribute__((constructor)) static void register_case_##case_name(void)                   \
        {                                                                                          \
                static test_case self = {#case_name, case_grounds, case_##case_name, NULL};        \
                test_register_case(&self);                                                         \
        }                                                                                          \
        static void case_##case_name(void)

#define ROLE(role_name)                                                                            \
        static int role_##role_name(int n_args, char **args);                                      \
        __attribute__((constructor)) static void register_role_##role_name(void)                   \
        {                                                                                          \
                static test_role self = {#role_name, role_##role_name, NULL};                      \
                test_register_role(&self);                                                         \
        }                                                                                          \
        static int role_##role_name(int n_args __attribute__((unused)),                            \
                                    char **args __attribute__((unused)))

/* Required in every test program; the support library has no main(), so that other programs can
 * link it. */
#define TEST_MAIN()                                                                                \
        int main(int argc, char **argv)                                                            \
        {                                                                                          \
                return test_main(argc, argv);                                                      \
        }

#define CHECK(condition)                                                                           \
        ((condition) ? (void)0 : test_fail(__FILE__, __LINE__, "CHECK(%s)", #condition))

#define CHECK_EQ(seen, expected)                                                                   \
        test_check_equal(__FILE__, __LINE__, #seen, (long long)(seen), #expected,                  \
                         (long long)(expected))

#define CHECK_STREQ(seen, expected)                                                                \
        test_check_same_text(__FILE__, __LINE__, #seen, (seen), #expected, (expected))

#define SKIP(reason) test_skip(reason)
#define SKIP_IF(condition, reason) ((condition) ? test_skip(reason) : (void)0)

/* A formatted text of at most 511 bytes, valid until the end of the enclosing block. */
#define FORMAT(...) test_format((char[512]){0}, __VA_ARGS__)

/* Polls until the condition holds; fails the case at the deadline. */
#define WAIT_UNTIL(condition)                                                                      \
        do {                                                                                       \
                uint64_t wait_deadline_ = test_deadline_us();                                      \
                while (!(condition)) {                                                             \
                        if (test_now_us() > wait_deadline_)                                        \
                                test_fail(__FILE__, __LINE__, "WAIT_UNTIL(%s)", #condition);       \
                        test_breathe();                                                            \
                }                                                                                  \
        } while (0)

/* As WAIT_UNTIL, for a number: on failure prints the last value seen. */
#define WAIT_UNTIL_EQ(seen, expected)                                                              \
        do {                                                                                       \
                uint64_t wait_deadline_ = test_deadline_us();                                      \
                long long wait_seen_;                                                              \
                while ((wait_seen_ = (long long)(seen)) != (long long)(expected)) {                \
                        if (test_now_us() > wait_deadline_)                                        \
                                test_fail(__FILE__, __LINE__, "WAIT_UNTIL_EQ(%s, %s): saw %lld",   \
                                          #seen, #expected, wait_seen_);                           \
                        test_breathe();                                                            \
                }                                                                                  \
        } while (0)

/* Fails the case: prints a message, cleans up, ends the process. Any thread may call it. */
__attribute__((noreturn, format(printf, 3, 4))) void test_fail(const char *file, int line,
                                                               const char *format, ...);
__attribute__((noreturn)) void test_skip(const char *reason);
/* Reports that the harness itself is broken, then aborts. */
__attribute__((noreturn, format(printf, 1, 2))) void test_broken(const char *format, ...);

__attribute__((format(printf, 2, 3))) const char *test_format(char text[512], const char *format,
                                                              ...);

void test_check_equal(const char *file, int line, const char *seen_text, long long seen,
                      const char *expected_text, long long expected);
void test_check_same_text(const char *file, int line, const char *seen_text, const char *seen,
                          const char *expected_text, const char *expected);

/* CLOCK_MONOTONIC. */
uint64_t test_now_us(void);
/* How long to wait for what is certain to come: machines may stand still for many seconds. */
#define TEST_DEADLINE_US (60000000 * (uint64_t)test_slowness())
/* Returns the deadline for something that begins now. */
uint64_t test_deadline_us(void);
/* The factor from DN_TEST_SLOW, 1 or more, for sanitizers, valgrind and busy machines. */
unsigned test_slowness(void);
/* A call that takes longer waits for something that does not come: the library gives up after a
 * second, and the rest allows for a machine that stands still. */
#define TEST_STUCK_US (20000000 * (uint64_t)test_slowness())
/* Pauses between two checks of a condition. */
void test_breathe(void);
/* Lets time pass during a measurement; never use it to wait for something. */
void test_let_pass_ms(unsigned ms);

/* Like pthread_create(), but fails the case on an error. */
pthread_t test_start_thread(void *(*run)(void *), void *argument);

/* A private directory (0700) for the case, removed when the process ends. */
const char *test_directory(void);
void test_remove_tree(const char *directory);
/* From now on, only this process and its children see what it mounts. Returns false, or skips the
 * case, if mounting is not permitted. An ordinary user can mount until test_mounts_done(). */
bool test_mounts_try_unshare(void);
void test_mounts_unshare(void);
void test_mounts_done(void);
/* Mounts an empty directory there, in the same way. `options` are those of a tmpfs. */
void test_directory_cover(const char *path, const char *options);

/* Gives this process, and those it starts, empty directories instead of the ones that the user's
 * programs share. Without the privilege to mount, it uses the real ones. */
void test_directory_leave_shared(void);

/* Kernel statistics of this process. */
unsigned test_n_fds(void);
unsigned test_n_threads(void);
uint64_t test_resident_bytes(void);
/* Context switches so far of all threads except the calling one, and how many of them were not
 * forced by other work of the machine: each time a thread fell asleep. */
uint64_t test_n_switches_of_others(void);
uint64_t test_n_sleeps_of_others(void);
/* Returns whether all threads except the calling one have slept for 20 ms. */
bool test_others_rest(void);
/* As fork(). Under a sanitizer it waits until the other threads are idle: the sanitizer's allocator
 * has locks, and one held by a thread at that moment stays locked in the child. */
pid_t test_fork(void);
/* CPU time so far of the whole process. */
uint64_t test_cpu_us(void);
/* Count the descriptors of any process, and its mappings whose line in /proc contains a text. */
unsigned test_n_fds_of(pid_t pid);
unsigned test_n_mappings_of(pid_t pid, const char *text);
