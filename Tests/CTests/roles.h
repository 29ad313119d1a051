/* The other processes that most tests need: one that observes, one that posts. */
#ifndef DN_ROLES_H
#define DN_ROLES_H

#include <darwinnotify/darwinnotify.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tally.h"
#include "test-child.h"
#include "test.h"

#define ROLE_MAX_NAMES 32

/* Arguments: names. Says "ready", then answers the number of a name with "CALLS POSTS". */
ROLE(observe)
{
        static tally tallies[ROLE_MAX_NAMES];
        char line[64];

        for (int i = 0; i < n_args; i++) {
                dn_handler handler = tally_handler(&tallies[i]);
                int r = dn_center_observe(dn_center_darwin(), args[i], handler, NULL, NULL);
                if (r < 0 && !dn_is_offline(r))
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

/* Arguments: name, how often, the way out: "return", "exit" or "_exit" (which flushes first). */
ROLE(post)
{
        unsigned long n = strtoul(args[1], NULL, 10);

        CHECK_EQ(n_args, 3);
        for (unsigned long i = 0; i < n; i++) {
                int r = dn_center_post(dn_center_darwin(), args[0], NULL, NULL, 0);
                if (r < 0 && !dn_is_offline(r))
                        return 1;
        }
        if (strcmp(args[2], "_exit") == 0) {
                int r = dn_flush(5000000);
                _exit(r < 0 ? 1 : 0);
        }
        if (strcmp(args[2], "exit") == 0)
                exit(0);
        return 0;
}

static inline test_child *spawn_observer(const char *name, const char *second_name)
{
        test_child *child = test_spawn_role("observe", name, second_name, NULL);

        CHECK_STREQ(test_child_read_line(child), "ready");
        return child;
}

static inline uint64_t child_calls(test_child *child, unsigned index)
{
        char question[16];

        snprintf(question, sizeof question, "%u", index);
        return strtoull(test_child_ask(child, question), NULL, 10);
}

static inline uint64_t child_posts(test_child *child, unsigned index)
{
        char question[16], *second;

        snprintf(question, sizeof question, "%u", index);
        strtoull(test_child_ask(child, question), &second, 10);
        return strtoull(second, NULL, 10);
}

/* Posts from another process; returns when that has ended. */
static inline void post_elsewhere(const char *name, unsigned long n, const char *way_out)
{
        char count[24];

        snprintf(count, sizeof count, "%lu", n);
        CHECK_EQ(test_child_wait(test_spawn_role("post", name, count, way_out, NULL)), 0);
}

#endif
