/* MQTT by libmosquitto, quality of service 0: a name is a topic.
 *
 * The network loop is the library's thread, as its manual has it; it matches nothing by itself: the
 * one callback looks up who observes the topic. TCP_NODELAY is set on both sides, without which a
 * post can wait 40 ms; the broker may drop messages for a slow reader. */
#include <bench.h>
#include <mosquitto.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>


static struct mosquitto *client;
static sem_t answered;

static void on_message(struct mosquitto *c, void *context, const struct mosquitto_message *m)
{
        (void)c, (void)context;
        bench_table_call(m->topic);
}

static void on_connect(struct mosquitto *c, void *context, int status)
{
        (void)c, (void)context, (void)status;
        sem_post(&answered);
}

static void on_subscribe(struct mosquitto *c, void *context, int id, int n, const int *granted)
{
        (void)c, (void)context, (void)id, (void)n, (void)granted;
        sem_post(&answered);
}

static int open_client(void)
{
        const char *port = getenv("BENCH_PORT");

        sem_init(&answered, 0, 0);
        mosquitto_lib_init();
        client = mosquitto_new(NULL, true, NULL);
        mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1);
        mosquitto_message_callback_set(client, on_message);
        mosquitto_connect_callback_set(client, on_connect);
        mosquitto_subscribe_callback_set(client, on_subscribe);
        if (!port || mosquitto_connect(client, "127.0.0.1", atoi(port), 600) ||
            mosquitto_loop_start(client))
                return -1;
        return sem_wait(&answered);
}

static int observe(const char *name, bench_heard heard, void *context)
{
        if (!bench_table_add(name, heard, context))
                return 0;
        if (mosquitto_subscribe(client, NULL, name, 0))
                return -1;
        return sem_wait(&answered);
}

static int post(const char *name)
{
        return mosquitto_publish(client, NULL, name, 0, NULL, 0, false) ? -1 : 0;
}

/* Returns when the library's thread has written everything. */
static int flush(void)
{
        while (mosquitto_want_write(client))
                usleep(100);
        return 0;
}

static int pace(void)
{
        static unsigned n_posted;

        return ++n_posted % 64 == 0 ? flush() : 0;
}

int main(int argc, char **argv)
{
        static const bench_peer peer = {.open = open_client, .observe = observe, .post = post,
                                        .pace = pace, .flush = flush};

        return bench_main(argc, argv, &peer);
}
