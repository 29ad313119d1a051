/* The queue of work. */
#include "util/queue.h"

#include "test.h"

static void nothing(void *argument)
{
        (void)argument;
}

TEST_NO_BUS(worksStayInOrderWhileTheQueueGrows)
{
        static char arguments[5000];
        dn__queue queue = { 0 };
        size_t n_out = 0;
        dn__work work;

        for (size_t i = 0; i < sizeof(arguments); i++) {
                CHECK_EQ(dn__queue_push(&queue, (dn__work){ nothing, &arguments[i] }), 0);
                /* Every third one is taken out at once, so that the ring wraps before it grows. */
                if (i % 3)
                        continue;
                CHECK(dn__queue_pop(&queue, &work));
                CHECK(work.argument == &arguments[n_out++]);
        }
        while (dn__queue_pop(&queue, &work))
                CHECK(work.argument == &arguments[n_out++]);
        CHECK_EQ(n_out, sizeof(arguments));
        dn__queue_deinit(&queue);
}

TEST_MAIN()
