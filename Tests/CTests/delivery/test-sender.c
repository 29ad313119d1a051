/* What an observer learns about the process that posted. */
#include <unistd.h>

#include "record.h"
#include "roles.h"
#include "test-bus.h"
#include "test-peer.h"

#define NAME "com.example.changed"

/* The senders of the calls, one line for each: "own", the name of a connection, or "-"; then " xN"
 * for N posts. */
typedef struct senders {
        char text[4096];
        _Atomic unsigned n_calls;
        _Atomic bool blocks; /* while set, a call does not return */
} senders;

static void note(const dn_event *event, void *context)
{
        const dn_sender *sender = event->sender;
        senders *seen = context;
        size_t n_bytes = strlen(seen->text);

        if (sender && sender->is_own) {
                CHECK(!sender->name);
                CHECK_EQ(sender->process, getpid());
                CHECK_EQ(sender->user, geteuid());
        } else if (sender) {
                CHECK_EQ(sender->process, 0);
                CHECK_EQ(sender->user, UINT32_MAX);
        }
        snprintf(seen->text + n_bytes, sizeof seen->text - n_bytes, "%s",
                 !sender ? "-" : sender->is_own ? "own" : sender->name);
        if (event->n_posts > 1)
                strcat(seen->text, FORMAT(" x%u", (unsigned)event->n_posts));
        strcat(seen->text, "\n");
        seen->n_calls++;
        WAIT_UNTIL(!seen->blocks);
}

static void observe(dn_center *center, const dn_filter *filter, senders *seen)
{
        dn_handler handler = { .invoke = note, .context = seen };
        uint64_t began_us = test_now_us();
        int r = dn_center_observe_filtered(center, filter, &handler, NULL, NULL);

        CHECK_EQ(settle_observer(center, filter, r, began_us), 0);
}

static void expect(senders *seen, unsigned n_calls, const char *text)
{
        WAIT_UNTIL_EQ(seen->n_calls, n_calls);
        CHECK_STREQ(seen->text, text);
}

static void post(dn_center *center, const char *name)
{
        int r = dn_center_post(center, name, NULL, NULL, 0);

        CHECK(r == 0 || r == DN_NOT_CONNECTED);
}

TEST(anObserverOfANameKnowsThePostsOfItsProcess)
{
        test_bus_begin();
        dn_center *center = dn_center_darwin();
        static senders seen;

        observe(center, &(dn_filter){ .name = NAME }, &seen);
        post(center, NAME);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        post_elsewhere(NAME, 1, "_exit");
        WAIT_UNTIL_EQ(seen.n_calls, 2);
        post(center, NAME);
        expect(&seen, 3, "own\n-\nown\n");
}

TEST(mergedPostsHaveNoSender)
{
        enum { N = 30 };
        test_bus_begin();
        dn_center *center = dn_center_darwin();
        static senders seen;

        seen.blocks = true;
        observe(center, &(dn_filter){ .name = NAME }, &seen);
        post(center, NAME);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        for (int i = 0; i < N; i++)
                post(center, NAME);
        seen.blocks = false;
        WAIT_UNTIL_EQ(seen.n_calls, 17);
        CHECK(strstr(seen.text, "\nown\n- x15\n"));
        CHECK(!strstr(seen.text, "own x"));
}

TEST(anObserverOfAPrefixKnowsThePostsOfItsProcess)
{
        test_bus_begin();
        dn_center *center = dn_center_darwin();
        static senders seen;

        spawn_observer(NAME, NULL);
        observe(center, &(dn_filter){ .prefix = "com.example." }, &seen);
        post(center, NAME);
        WAIT_UNTIL_EQ(seen.n_calls, 1);
        post_elsewhere(NAME, 1, "_exit");
        WAIT_UNTIL_EQ(seen.n_calls, 2);
        post(center, NAME);
        post(center, "self.example");
        post(center, "com.example.unregistered");
        WAIT_UNTIL_EQ(seen.n_calls, 4);
        /* The thread that still looks for the post of the other may have found the next one. */
        CHECK(strcmp(seen.text, "own\n-\nown\nown\n") == 0 ||
              strcmp(seen.text, "own\n-\n-\nown\n") == 0);
}

TEST_ON_BUS(anObserverOfAPrefixKnowsTheConnectionOfAPostThatTheTableDoesNotCount)
{
        test_peer *peer = test_peer_begin();
        static senders seen;

        observe(dn_center_darwin(), &(dn_filter){ .prefix = "com.example." }, &seen);
        test_peer_post(peer, NAME);
        expect(&seen, 1, FORMAT("%s\n", test_peer_unique_name(peer)));
}

TEST_ON_BUS(distributedPostsHaveASender)
{
        test_bus *bus = test_bus_begin();
        dn_center *center = dn_center_distributed();
        dn_center *other = open_distributed(test_bus_address(bus));
        static senders seen, seen_by_other;
        char *line;

        observe(center, &(dn_filter){ .name = NAME }, &seen);
        observe(other, &(dn_filter){ .name = NAME }, &seen_by_other);
        post(center, NAME);
        expect(&seen, 1, "own\n");
        WAIT_UNTIL_EQ(seen_by_other.n_calls, 1);
        post(other, NAME);
        WAIT_UNTIL_EQ(seen.n_calls, 2);
        WAIT_UNTIL_EQ(seen_by_other.n_calls, 2);
        CHECK_EQ(strncmp(seen_by_other.text, ":1.", 3), 0);
        line = strchr(seen_by_other.text, '\n');
        CHECK_STREQ(line, "\nown\n");
        CHECK_EQ(strncmp(seen.text, "own\n:1.", 7), 0);
}

TEST_ON_BUS(postsThatASuspensionMergedHaveNoSender)
{
        test_bus_begin();
        dn_center *center = dn_center_distributed();
        static senders seen, all;

        observe(center, &(dn_filter){ .name = NAME }, &seen);
        observe(center, &(dn_filter){ .name = NAME, .behavior = DN_SUSPENSION_HOLD }, &all);
        CHECK_EQ(dn_center_set_suspended(center, true), 0);
        post(center, NAME);
        post(center, NAME);
        CHECK_EQ(dn_center_set_suspended(center, false), 0);
        expect(&all, 2, "own\nown\n");
        expect(&seen, 1, "- x2\n");
}

TEST_NO_BUS(allPostsOfTheLocalCenterAreOfTheProcess)
{
        static senders seen;
        dn_handler handler = { .invoke = note, .context = &seen };

        CHECK_EQ(dn_center_observe(dn_center_local(), NAME, &handler, NULL, NULL), 0);
        post(dn_center_local(), NAME);
        expect(&seen, 1, "own\n");
}

TEST_MAIN()
