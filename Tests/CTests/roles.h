/* Helpers shared by many tests: other processes that observe or post, a silent bus. */
#pragma once

#include <darwinnotify/darwinnotify.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tally.h"
#include "test-bus.h"
#include "test-child.h"
#include "test.h"

#define ROLE_MAX_NAMES 32

/* Arguments: names. Says "ready", then answers each index of a name with "CALLS POSTS". */
ROLE(observe)
{
        static tally tallies[ROLE_MAX_NAMES];
        char line[64];

        for (int i = 0; i < n_args; i++) {
                int r = dn_center_observe(dn_center_darwin(), args[i], TALLY_HANDLER(&tallies[i]),
                                          NULL, NULL);
                if (r < 0)
                        return 1;
        }
        printf("ready\n");
        while (fgets(line, sizeof line, stdin)) {
                tally *asked = &tallies[atoi(line)];
                printf("%llu %llu\n", (unsigned long long)asked->n_calls,
                       (unsigned long long)asked->n_posts);
        }
        return 0;
}

/* Arguments: name, count, how to exit: "return", "exit" or "_exit" (which flushes first). */
ROLE(post)
{
        unsigned long n = strtoul(args[1], NULL, 10);

        CHECK_EQ(n_args, 3);
        for (unsigned long i = 0; i < n; i++) {
                int r = dn_center_post(dn_center_darwin(), args[0], NULL, NULL, 0);
                if (r < 0)
                        return 1;
        }
        if (strcmp(args[2], "_exit") == 0) {
                int r = dn_flush(TEST_DEADLINE_US);
                _exit(r < 0 ? 1 : 0);
        }
        if (strcmp(args[2], "exit") == 0)
                exit(0);
        return 0;
}

static inline test_child *spawn_observer(const char *name, const char *second_name)
{
        return test_child_await(test_spawn_role("observe", name, second_name, NULL), "ready");
}

static inline uint64_t child_calls(test_child *child, unsigned index)
{
        return strtoull(test_child_ask(child, FORMAT("%u", index)), NULL, 10);
}

static inline uint64_t child_posts(test_child *child, unsigned index)
{
        char *second;

        strtoull(test_child_ask(child, FORMAT("%u", index)), &second, 10);
        return strtoull(second, NULL, 10);
}

/* Posts from another process; returns when that has exited. */
static inline void post_elsewhere(const char *name, unsigned long n, const char *way_out)
{
        test_child *poster = test_spawn_role("post", name, FORMAT("%lu", n), way_out, NULL);

        CHECK_EQ(test_child_wait(poster), 0);
}

/* Runs a role that posts each tally's name once: each must hear that and nothing else. */
static inline void check_each_hears_one(const char *role, tally *seen, size_t n, test_peer *peer)
{
        CHECK_EQ(test_child_wait(test_spawn_role(role, NULL)), 0);
        for (size_t i = 0; i < n; i++)
                WAIT_UNTIL(seen[i].n_calls > 0);
        fence_bus(peer);
        for (size_t i = 0; i < n; i++)
                CHECK_EQ(seen[i].n_calls, 1);
}

/* A bus for a test that forks, and a peer that watches it. */
static inline test_peer *begin_to_fork(test_bus **ret_bus)
{
        SKIP_IF(TEST_HAS_THREAD_SANITIZER, "this sanitizer allows no threads in a forked child");
        *ret_bus = test_bus_begin();
        return test_peer_open_watching(*ret_bus);
}

/* Where there is a bus. */
static inline void check_one_connection(test_peer *peer, pid_t pid)
{
        if (test_peer_is_on_bus(peer))
                WAIT_UNTIL_EQ(test_peer_n_connections(peer, pid), 1);
}

/* Makes this process's bus one that accepts connections but never answers. Returns its socket,
 * which the caller closes. */
static inline int use_silent_bus(void)
{
        struct sockaddr_un silent = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        snprintf(silent.sun_path, sizeof silent.sun_path, "%s/silent", test_directory());
        CHECK_EQ(bind(fd, (struct sockaddr *)&silent, sizeof silent), 0);
        CHECK_EQ(listen(fd, 100), 0);
        setenv("DBUS_SESSION_BUS_ADDRESS", FORMAT("unix:path=%s", silent.sun_path), 1);
        return fd;
}
