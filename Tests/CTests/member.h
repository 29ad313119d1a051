/* A process that holds a name, and posts, on the orders of a test. */
#pragma once

#include <darwinnotify/darwinnotify.h>
#include <stdio.h>
#include <stdlib.h>

#include "delivery/hub.h"
#include "notify-tally.h"
#include "test-child.h"

/* From now on the last look was long ago. */
static inline long long forget_look(dn_center *center)
{
        dn__hub *hub = dn__hub_find(center);

        if (hub)
                atomic_store(&hub->member.look_ms, 0);
        return 0;
}

static inline long long obey_member(const char *line, int token, const tally *seen)
{
        if (strncmp(line, "post ", 5) == 0)
                return dn_center_post(dn_center_darwin(), line + 5, NULL, NULL, 0);
        if (strncmp(line, "set ", 4) == 0)
                return notify_set_state(token, strtoull(line + 4, NULL, 10));
        if (strcmp(line, "get") == 0)
                return (long long)get_state(token);
        if (strcmp(line, "check") == 0)
                return is_changed(token);
        if (strcmp(line, "later") == 0)
                return forget_look(dn_center_darwin());
        if (strcmp(line, "tables") == 0)
                return (long long)statistic(DN_STATISTIC_TABLES);
        if (strcmp(line, "uncounted") == 0)
                return (long long)statistic(DN_STATISTIC_NAMES_UNCOUNTED);
        return (long long)seen->n_posts;
}

/* Arguments: a name and the expected result (0: waits for a late bus). Observes the name, prints
 * the result, then answers each line with a number: "post NAME" posts, "posts" says how many were
 * heard, "set N" and "get" are for the state, "check" says whether it was posted, "later" lets it
 * forget when it last looked for its table, "tables" and "uncounted" are statistics. */
ROLE(member)
{
        static tally seen;
        dn_observer *observer = NULL;
        uint64_t began_us = test_now_us();
        int r = dn_center_observe(dn_center_darwin(), args[0], TALLY_HANDLER(&seen), NULL,
                                  &observer);
        int token = NOTIFY_TOKEN_INVALID;
        char line[64];

        if (atoi(args[1]) == 0)
                r = settle_name(dn_center_darwin(), args[0], r, began_us);
        if (notify_register_check(args[0], &token) == NOTIFY_STATUS_OK)
                (void)is_changed(token);
        printf("%d\n", r);
        while (fgets(line, sizeof line, stdin)) {
                line[strcspn(line, "\n")] = '\0';
                printf("%lld\n", obey_member(line, token, &seen));
        }
        return 0;
}

static inline test_child *spawn_member_with(const char *name, int result)
{
        char expected[16];

        snprintf(expected, sizeof expected, "%d", result);
        test_child *child = test_spawn_role("member", name, expected, NULL);

        CHECK_EQ(atoi(test_child_read_line(child)), result);
        return child;
}

static inline test_child *spawn_member(const char *name)
{
        return spawn_member_with(name, 0);
}

static inline long long ask(test_child *member, const char *question)
{
        return strtoll(test_child_ask(member, question), NULL, 10);
}

static inline uint64_t posts_of(test_child *member)
{
        return (uint64_t)ask(member, "posts");
}

static inline void look_later(test_child *member)
{
        CHECK_EQ(ask(member, "later"), 0);
}

static inline void post_by(test_child *member, const char *name)
{
        CHECK_EQ(ask(member, FORMAT("post %s", name)), 0);
}

static inline void end_member(test_child *member)
{
        CHECK_EQ(test_child_wait(member), 0);
}
