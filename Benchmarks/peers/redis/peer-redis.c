/* Redis publish/subscribe by hiredis, over its Unix socket: a name is a channel.
 *
 * A connection that subscribes cannot publish, so that each process has two. PUBLISH is answered;
 * the answers are read one batch later (pipelining). hiredis matches nothing by itself. The
 * server disconnects a reader that lags 32 MB behind. */
#include <bench.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 64

static redisContext *poster, *reader;
static unsigned n_unanswered;

static int open_server(void)
{
        const char *address = getenv("BENCH_ADDRESS");

        poster = redisConnectUnix(address ? address : "");
        reader = redisConnectUnix(address ? address : "");
        return poster && !poster->err && reader && !reader->err ? 0 : -1;
}

static int observe(const char *name, bench_heard heard, void *context)
{
        if (!bench_table_add(name, heard, context))
                return 0;
        redisReply *reply = redisCommand(reader, "SUBSCRIBE %s", name);
        if (!reply)
                return -1;
        freeReplyObject(reply);
        return 0;
}

static int flush(void)
{
        for (; n_unanswered > 0; n_unanswered--) {
                void *reply;

                if (redisGetReply(poster, &reply) != REDIS_OK)
                        return -1;
                freeReplyObject(reply);
        }
        return 0;
}

static int post(const char *name)
{
        int is_done = 0;

        if (n_unanswered == BATCH && flush() < 0)
                return -1;
        redisAppendCommand(poster, "PUBLISH %s %s", name, "");
        n_unanswered++;
        while (!is_done)
                if (redisBufferWrite(poster, &is_done) != REDIS_OK)
                        return -1;
        return 0;
}

static int handle_replies(void)
{
        void *item = NULL;

        for (;;) {
                if (redisGetReplyFromReader(reader, &item) != REDIS_OK)
                        return -1;
                if (!item)
                        return 0;
                redisReply *reply = item;
                if (reply->elements == 3 && strcmp(reply->element[0]->str, "message") == 0)
                        bench_table_call(reply->element[1]->str);
                freeReplyObject(reply);
        }
}

static int process(int timeout_ms)
{
        struct pollfd wait = {.fd = reader->fd, .events = POLLIN};

        if (poll(&wait, 1, timeout_ms) <= 0)
                return 0;
        return redisBufferRead(reader) == REDIS_OK ? handle_replies() : -1;
}

int main(int argc, char **argv)
{
        static const bench_peer peer = {.open = open_server, .observe = observe, .post = post,
                                        .process = process, .flush = flush};

        return bench_main(argc, argv, &peer);
}
