/* Posts waiting until their senders are known. */
#include "bus/peers.h"

#include "test.h"
#include "util/clock.h"

static void add(dn__waiting *waiting, const char *name, dn__peer *peer)
{
        char sender[] = ":1.1";
        dn__post post = { .origin.sender = sender };

        CHECK_EQ(dn__name_init(&post.name, name, DN__REACH_BEYOND), 0);
        CHECK_EQ(dn__waiting_add(waiting, &post, peer), 0);
        sender[1] = 'x'; /* what waits is a copy */
}

static void take_first(dn__waiting *waiting, const char *name)
{
        dn__waiting_post *first = dn__waiting_first(waiting);

        CHECK(first);
        CHECK_STREQ(first->post.name.text, name);
        CHECK_STREQ(first->post.origin.sender, ":1.1");
        dn__waiting_take(waiting, first);
        dn__waiting_post_free(first);
}

TEST_NO_BUS(onlyTheFirstPostDecidesHowLongToWait)
{
        /* The pointer is never followed: it only says that a question is pending. */
        dn__peer peer = { .call = (sd_bus_slot *)&peer, .until_us = 42 };
        dn__waiting waiting;

        dn__list_init(&peer.link);
        dn__list_append(&peer.link, &(dn__link){ 0 }); /* remembered: not freed with its posts */
        dn__waiting_init(&waiting);
        add(&waiting, "asks", &peer);
        add(&waiting, "behind", NULL);
        CHECK_EQ(peer.n_posts, 1);
        CHECK_EQ(dn__waiting_get_until(&waiting), 42);
        peer.call = NULL;
        CHECK_EQ(dn__waiting_get_until(&waiting), 0);
        take_first(&waiting, "asks");
        CHECK_EQ(peer.n_posts, 0);
        take_first(&waiting, "behind");
        dn__waiting_deinit(&waiting);
}

TEST_MAIN()
