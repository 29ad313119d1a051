/* Times requests of one process to another: sd-bus with a vtable, and this library, by turns.
 *
 *     request-calls smoke|quick|full
 *
 * The bus is that of the session. Prints the median time of a round trip in microseconds, and how
 * many calls a second are answered if 1 000 are in flight; medians of turns, since where the
 * processes happen to run counts for more than what is compared. */
#include <darwinnotify/darwinnotify.h>
#include <semaphore.h>
#include <systemd/sd-bus.h>

#include "figures.h"

#define KIND "org.example.Bench.Echo"
#define PATH "/org/example/Bench/Sd"
#define SD_NAME "org.example.Bench.Sd"
#define DN_NAME "org.example.Bench.Dn"

/* --- Services ------------------------------------------------------------------------------- */

/* Reads all arguments, as the library does. */
static int sd_echo(sd_bus_message *message, void *context, sd_bus_error *error)
{
        const char *key, *text = "";

        (void)context;
        (void)error;
        must(sd_bus_message_enter_container(message, 'a', "{sv}"), "a{sv}");
        while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
                must(sd_bus_message_read(message, "s", &key), "key");
                must(sd_bus_message_read(message, "v", "s", &text), "value");
                must(sd_bus_message_exit_container(message), "entry");
        }
        return sd_bus_reply_method_return(message, "v", "s", text);
}

static const sd_bus_vtable vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("Echo", "a{sv}", "v", sd_echo, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static void serve_sd(int ready)
{
        sd_bus *bus = NULL;

        must(sd_bus_open_user(&bus), "open");
        must(sd_bus_add_object_vtable(bus, NULL, PATH, "org.example.Bench", vtable, NULL),
             "vtable");
        must(sd_bus_request_name(bus, SD_NAME, 0), "name");
        must((int)write(ready, "r", 1), "write");
        for (int r;;) {
                r = sd_bus_process(bus, NULL);
                must(r, "process");
                if (r == 0)
                        must(sd_bus_wait(bus, UINT64_MAX), "wait");
        }
}

static void dn_echo(dn_request *request, const dn_request_info *info, void *context)
{
        dn_dict_builder *builder = dn_dict_builder_new();
        dn_dict *reply;

        (void)context;
        dn_dict_builder_set_string(builder, DN_REPLY_VALUE,
                                   dn_dict_get_string(info->arguments, "text"));
        must(dn_dict_builder_finish(builder, &reply), "reply");
        (void)dn_request_answer(request, reply);
        dn_dict_unref(reply);
}

static void serve_dn(int ready)
{
        dn_service_handler handler = { .invoke = dn_echo };
        dn_service_plan plan = { .name = DN_NAME, .kinds = (const char *const[]){ KIND, NULL } };
        const dn_executor *executor = dn_executor_inline();
        dn_service *service;

        must(dn_service_open(dn_center_darwin(), &plan, &handler, executor, &service), "service");
        must((int)write(ready, "r", 1), "write");
        for (;;)
                pause();
}

/* --- Callers -------------------------------------------------------------------------------- */

static sd_bus *bus;
static sem_t done;
static unsigned n_done;

static sd_bus_message *make(void)
{
        sd_bus_message *call;

        must(sd_bus_message_new_method_call(bus, &call, SD_NAME, PATH, "org.example.Bench", "Echo"),
             "call");
        must(sd_bus_message_append(call, "a{sv}", 1, "text", "s", "blue"), "append");
        return call;
}

static void sd_one(void)
{
        sd_bus_message *call = make(), *reply = NULL;
        const char *text;

        must(sd_bus_call(bus, call, 0, NULL, &reply), "sd_bus_call");
        must(sd_bus_message_read(reply, "v", "s", &text), "read");
        sd_bus_message_unref(call);
        sd_bus_message_unref(reply);
}

static int sd_ended(sd_bus_message *reply, void *context, sd_bus_error *error)
{
        const char *text;

        (void)context;
        (void)error;
        must(sd_bus_message_read(reply, "v", "s", &text), "read");
        n_done++;
        return 0;
}

static void sd_many(void)
{
        n_done = 0;
        for (unsigned i = 0; i < n_calls; i++) {
                sd_bus_message *call = make();

                must(sd_bus_call_async(bus, NULL, call, sd_ended, NULL, 0), "call_async");
                sd_bus_message_unref(call);
        }
        while (n_done < n_calls)
                if (sd_bus_process(bus, NULL) == 0)
                        (void)sd_bus_wait(bus, UINT64_MAX);
}

/* Wakes the main thread after the last. */
static void dn_ended(const dn_outcome *outcome, void *context)
{
        (void)context;
        must(outcome->error, "outcome");
        if (--n_done == 0)
                sem_post(&done);
}

static void dn_begin(void)
{
        dn_dict_builder *builder = dn_dict_builder_new();
        dn_dict *arguments;
        dn_call_handler handler = { .ended = dn_ended };
        const dn_executor *executor = dn_executor_inline();

        dn_dict_builder_set_string(builder, "text", "blue");
        must(dn_dict_builder_finish(builder, &arguments), "arguments");
        dn_call_plan plan = { .service = DN_NAME, .kind = KIND, .arguments = arguments,
                              .timeout_us = 25000000 };
        must(dn_call_begin(dn_center_darwin(), &plan, &handler, executor, NULL), "begin");
        dn_dict_unref(arguments);
}

static void dn_one(void)
{
        n_done = 1;
        dn_begin();
        sem_wait(&done);
}

static void dn_many(void)
{
        n_done = n_calls;
        for (unsigned i = 0; i < n_calls; i++)
                dn_begin();
        sem_wait(&done);
}

/* --- By turns ------------------------------------------------------------------------------- */

static double time_sd_one(void)
{
        return time_one(sd_one);
}

static double time_dn_one(void)
{
        return time_one(dn_one);
}

static double time_sd_many(void)
{
        return time_many(sd_many);
}

static double time_dn_many(void)
{
        return time_many(dn_many);
}

static const struct {
        const char *figure, *contender;
        double (*measure)(void);
} figures[] = {
        { "request", "sd_bus_call", time_sd_one },
        { "request", "dn_call", time_dn_one },
        { "requests_flood", "sd_bus_call", time_sd_many },
        { "requests_flood", "dn_call", time_dn_many },
};

#define N_FIGURES (sizeof(figures) / sizeof(figures[0]))
#define N_TURNS 15

int main(int argc, char **argv)
{
        static double values[N_FIGURES][N_TURNS];

        read_mode(argc, argv);
        start(serve_sd);
        start(serve_dn);
        sem_init(&done, 0, 0);
        must(sd_bus_open_user(&bus), "open");
        for (unsigned turn = 0; turn < N_TURNS; turn++)
                for (size_t i = 0; i < N_FIGURES; i++)
                        values[i][turn] = figures[i].measure();
        for (size_t i = 0; i < N_FIGURES; i++)
                print(figures[i].figure, figures[i].contender, median(values[i], N_TURNS));
        return 0;
}
