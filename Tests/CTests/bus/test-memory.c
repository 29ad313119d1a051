/* Out of memory in what the D-Bus carrier keeps: posts that wait, numbers, who sends. */
#include "bus/connection.h"
#include "bus/numbers.h"
#include "bus/peers.h"
#include "bus/pending.h"
#include "bus/rules.h"
#include "failing-allocator.h"

static int n_until_failure = -1; /* negative: none fails */
static bool has_failed;

static bool allocation_fails(void)
{
        if (n_until_failure < 0 || n_until_failure-- > 0)
                return false;
        has_failed = true;
        return true;
}

/* Repeats a use, failing its first, second, ... allocation, until it completes without a failure.
 * It returns whether it lacked memory. */
static void fail_each(bool (*use)(const dn__post *post))
{
        dn__post post = {.origin.sender = ":1.1", .body.number = 1};

        require_failing_allocator();
        CHECK_EQ(dn__name_init(&post.name, "com.example.x", DN__REACH_BEYOND), 0);
        for (int n = 0;; n++) {
                has_failed = false;
                n_until_failure = n;
                bool lacks_memory = use(&post);
                n_until_failure = -1;
                CHECK_EQ(lacks_memory, has_failed);
                if (!has_failed)
                        return;
        }
}

static bool number(const dn__post *post)
{
        dn__numbers numbers = {0};
        dn__link list = {&list, &list};
        bool lacks_memory = !dn__numbers_get_last(&numbers, &post->name);

        CHECK_EQ(dn__numbers_note(&numbers, post, &list), 0); /* without memory, no gap is seen */
        dn__numbers_deinit(&numbers);
        return lacks_memory || has_failed;
}

TEST_NO_BUS(aPostWhoseNumberCannotBeKeptHasNone)
{
        fail_each(number);
}

static bool keep_rule(const dn__post *post)
{
        dn__connection connection = {.wire = &dn__wire_darwin};
        dn__rules rules;
        dn__rule *rule;
        int r;

        dn__rules_init(&rules, &connection);
        r = dn__rules_add(&rules, &post->name, true, &rule);
        CHECK_EQ(rules.by_interface.n_entries, r == 0);
        if (r == 0)
                dn__rules_remove(&rules, rule);
        dn__map_deinit(&rules.by_interface);
        return r == -ENOMEM;
}

TEST_NO_BUS(aNameWhoseRuleCannotBeKeptHasNone)
{
        fail_each(keep_rule);
}

static bool keep_pending(const dn__post *post)
{
        dn__pending pending;
        int r;

        dn__pending_init(&pending);
        r = dn__pending_add(&pending, post);
        CHECK_EQ(pending.n_posts, r == 0);
        CHECK_EQ(pending.by_name.n_entries, r == 0);
        dn__pending_deinit(&pending);
        return r == -ENOMEM;
}

TEST_NO_BUS(aPostThatCannotWaitForTheBusIsReported)
{
        fail_each(keep_pending);
}

static bool keep_waiting(const dn__post *post)
{
        dn__waiting waiting;
        int r;

        dn__waiting_init(&waiting);
        r = dn__waiting_add(&waiting, post, NULL);
        CHECK_EQ(waiting.n_posts, r == 0);
        dn__waiting_deinit(&waiting);
        return r == -ENOMEM;
}

TEST_NO_BUS(aPostThatCannotWaitForItsSenderIsReported)
{
        fail_each(keep_waiting);
}

/* The connection is broken, so nobody is asked. */
static bool look_for_peer(const dn__post *post)
{
        dn__connection connection = {.is_broken = true};
        dn__peers peers;

        dn__peers_init(&peers, &connection, DN__PEER_USER);
        CHECK(!dn__peers_get(&peers, post->origin.sender));
        CHECK_EQ(peers.by_name.n_entries, 0);
        dn__peers_deinit(&peers);
        return has_failed;
}

TEST_NO_BUS(aSenderThatCannotBeKeptIsUnknown)
{
        fail_each(look_for_peer);
}

TEST_MAIN()
