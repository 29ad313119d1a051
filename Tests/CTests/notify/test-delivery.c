/* Which posts a token is notified of, and in which order. */
#include "notify-tally.h"
#include "roles.h"

#define N "delivery"

TEST(registrationDeliversNoEarlierPost)
{
        test_peer *peer = test_peer_begin();
        test_child *poster = test_spawn_role("testPeer", NULL);
        /* It makes the table count the posts; otherwise signals that are late would count. */
        spawn_observer(N, NULL);

        for (int i = 0; i < 20; i++) {
                tally seen = {0};
                post(N);
                let_post(poster, N);
                int token = add_callback(N, &seen);
                CHECK_EQ(notify_set_state(token, (uint64_t)i), NOTIFY_STATUS_OK);
                CHECK(is_changed(token));
                CHECK_EQ(notify_set_state(token, 7), NOTIFY_STATUS_OK);
                CHECK(!is_changed(token));
                fence_bus(peer);
                CHECK_EQ(seen.n_calls, 0);
                cancel(token);
                WAIT_UNTIL_EQ(seen.n_destroyed, 1);
        }
        test_child_wait(poster);
}

/* ---- order ----------------------------------------------------------------------------------- */

static char order[4096];
static _Atomic int n_order;

static void note_order(int token, void *context)
{
        int at = n_order; /* gcc does not treat an atomic index as an index */

        order[at] = *(const char *)context;
        n_order++;
}

static void add_noting(const char *name, const char *mark)
{
        dn_token_handler handler = {.invoke = note_order, .context = (void *)mark};
        int token;

        CHECK_EQ(dn_notify_register_callback(name, &handler, NULL, &token), NOTIFY_STATUS_OK);
}

/* Posts of another process that arrive together, by the table and over the bus, have no order. */
static void check_each(const char *round)
{
        int n_marks = (int)strlen(round);

        WAIT_UNTIL_EQ(n_order, n_marks);
        for (int i = 0; i < n_marks; i++)
                CHECK(memchr(order, round[i], (size_t)n_marks));
        n_order = 0;
}

static void check_order(int n_rounds, const char *round)
{
        int n_marks = (int)strlen(round);

        WAIT_UNTIL_EQ(n_order, n_rounds * n_marks);
        for (int i = 0; i < n_rounds * n_marks; i++)
                CHECK_EQ(order[i], round[i % n_marks]);
        n_order = 0;
}

TEST(postsOfOneProcessKeepTheirOrder)
{
        test_bus_begin();
        test_child *poster = test_spawn_role("testPeer", NULL);

        add_noting("C", "c");
        add_noting("A", "a");
        add_noting("B", "b");
        for (int i = 0; i < 100; i++) {
                let_post(poster, "A");
                let_post(poster, "B");
                let_post(poster, "C");
                check_each("abc");
        }
        for (int i = 0; i < 5; i++) {
                post("A");
                post("B");
                post("C");
        }
        check_order(5, "abc");
        test_child_wait(poster);
}

TEST_MAIN()
