/* Calls amid kills of services and of the bus: each ends once, with its own reply or an error. */
#include "requests.h"

#define N_STEPS 20
#define N_AT_ONCE 50

typedef struct shot {
        outcome seen;
        char text[32];
        dn_call *call;
        bool has_begun;
} shot;

/* Half of them are never answered. */
static void begin_all(shot *shots, int step)
{
        for (int i = 0; i < N_AT_ONCE; i++) {
                shot *shot = &shots[i];
                const char *kind = i % 2 ? KIND("Hold") : KIND("Echo");

                snprintf(shot->text, sizeof shot->text, "%d of %d", i, step);
                int r = ask_begin(SERVICE, kind, shot->text, i % 3 ? FOREVER : 50000, &shot->seen,
                                  &shot->call);
                CHECK(r == 0 || r == -ENOTCONN);
                shot->has_begun = r == 0;
        }
}

static unsigned n_open(shot *shots)
{
        unsigned n = 0;

        for (int i = 0; i < N_AT_ONCE; i++)
                n += shots[i].has_begun && shots[i].seen.n_ends == 0;
        return n;
}

static void check_all(shot *shots)
{
        for (int i = 0; i < N_AT_ONCE; i++) {
                shot *shot = &shots[i];

                if (!shot->has_begun)
                        continue;
                CHECK_EQ(shot->seen.n_ends, 1);
                if (shot->seen.error == 0)
                        CHECK_STREQ(dn_dict_get_string(shot->seen.reply, DN_REPLY_VALUE),
                                    shot->text);
                dn_dict_unref(shot->seen.reply);
                dn_call_unref(shot->call);
        }
}

static void step(test_bus *bus, test_child **service, shot *shots, int number)
{
        begin_all(shots, number);
        switch (number % 4) {
        case 0:
                *service = test_child_kill(*service);
                break;
        case 1:
                test_bus_kill(bus);
                break;
        case 2:
                test_child_pause(*service);
                break;
        default:
                WAIT_UNTIL(served_number(*service, "begun") > 0);
        }
        for (int i = 0; i < N_AT_ONCE; i++)
                if (shots[i].has_begun && (number % 4 > 1))
                        dn_call_cancel(shots[i].call);
        WAIT_UNTIL_EQ(n_open(shots), 0);
        if (number % 4 == 0)
                *service = spawn_service();
        else if (number % 4 == 1)
                test_bus_start_again(bus);
        else if (number % 4 == 2)
                test_child_resume(*service);
}

TEST_ON_BUS(everyCallEndsOnceWhateverIsKilled)
{
        test_bus *bus = test_bus_begin();
        test_child *service = spawn_service();
        static shot shots[N_AT_ONCE];
        unsigned n_fds = 0;

        for (int i = 0; i < N_STEPS; i++) {
                WAIT_UNTIL_EQ(served_number(service, "owns"), 1);
                outcome ready;
                WAIT_UNTIL(ask_begin(SERVICE, KIND("Nothing"), NULL, FOREVER, &ready, NULL) == 0);
                (void)outcome_wait(&ready);
                dn_dict_unref(ready.reply);
                if (i == 4)
                        n_fds = test_n_fds();
                step(bus, &service, shots, i);
                check_all(shots);
        }
        check_echo("still well");
        WAIT_UNTIL_EQ(test_n_fds(), n_fds);
        CHECK_EQ(test_child_wait(service), 0);
        CHECK_EQ(dn_shutdown(), 0);
}

TEST_MAIN()
