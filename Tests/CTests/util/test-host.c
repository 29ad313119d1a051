/* Functions of the host, of every kind, that end their thread, exit, or come when the process
 * exits. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "host-kinds.h"
#include "util/host.h"

static const kind *kind_named(const char *name)
{
        for (size_t i = 0; i < N_KINDS; i++)
                if (strcmp(kinds[i].name, name) == 0)
                        return &kinds[i];
        return NULL;
}

/* Arguments: a kind and a deed. */
ROLE(lead)
{
        const kind *kind = kind_named(args[0]);

        dup2(STDOUT_FILENO, STDERR_FILENO);
        deed = (unsigned)atoi(args[1]);
        kind->lead();
        WAIT_UNTIL(n_called > 0);
        return 0;
}

static void check_each(unsigned chosen_deed, int status, const char *line)
{
        test_bus *bus = test_bus_begin();

        for (size_t i = 0; i < N_KINDS; i++) {
                test_child *child;
                const char *said;

                if ((kinds[i].needs_bus && test_bus_is_none(bus)) ||
                    (kinds[i].is_alone && chosen_deed == CALL_EVERYTHING))
                        continue;
                child = test_spawn_role("lead", kinds[i].name, FORMAT("%u", chosen_deed), NULL);
                said = line ? test_child_read_line(child) : NULL;
                if (line && !(said && strstr(said, line)))
                        test_fail(__FILE__, __LINE__, "%s: no line", kinds[i].name);
                int found = test_child_wait(child);
                if (found != status)
                        test_fail(__FILE__, __LINE__, "%s: status %d", kinds[i].name, found);
        }
        test_bus_stop(bus);
}

TEST(functionsOfEachKindThatEndTheirThreadAbort)
{
        check_each(END_THREAD, 128 + SIGABRT, "a callback terminated its thread");
}

TEST(functionsOfEachKindMayExit)
{
        check_each(EXIT, 7, NULL);
}

TEST(functionsOfEachKindMayCallAnyFunction)
{
        check_each(CALL_EVERYTHING, 0, NULL);
}

/* --- When the process exits ------------------------------------------------------------------- */

static const kind *late_kind;

/* After the library's exit handler. */
static void lead_late(void)
{
        bool is_called = late_kind->lateness == CALLED;

        has_exited = true;
        n_called = 0;
        late_kind->lead();
        if (is_called)
                WAIT_UNTIL(n_called > 0);
        else
                test_let_pass_ms(50); /* nothing is certain to come */
        _exit((n_called > 0) == is_called ? 0 : 1);
}

ROLE(leadLate)
{
        late_kind = kind_named(args[0]);
        CHECK_EQ(atexit(lead_late), 0);
        deed = NOTE;
        late_kind->lead();
        WAIT_UNTIL(n_called > 0);
        return 0;
}

TEST(handlersOfNoKindStartOnceExitHasBegun)
{
        test_bus *bus = test_bus_begin();

        for (size_t i = 0; i < N_KINDS; i++) {
                if (kinds[i].needs_bus && test_bus_is_none(bus))
                        continue;
                int status = test_child_wait(test_spawn_role("leadLate", kinds[i].name, NULL));
                if (status != 0)
                        test_fail(__FILE__, __LINE__, "%s: status %d", kinds[i].name, status);
        }
        test_bus_stop(bus);
}

static _Atomic bool is_running, is_exiting;
static uint64_t exit_us;

/* Still runs when the exit has begun to wait for it. */
static void run_on(void *unused)
{
        is_running = true;
        WAIT_UNTIL(is_exiting);
        test_let_pass_ms(20);
}

static void *call_host(void *unused)
{
        dn__host_call(run_on, unused);
        return unused;
}

static void note_exit(void)
{
        exit_us = test_now_us();
        is_exiting = true;
}

/* After the library's exit handler, which waits for a second at most. */
static void judge_exit(void)
{
        _exit(test_now_us() - exit_us < 900000 ? 0 : 1);
}

ROLE(exitMeanwhile)
{
        CHECK_EQ(atexit(judge_exit), 0);
        dn__host_expect_exit();
        CHECK_EQ(atexit(note_exit), 0);
        CHECK_EQ(pthread_detach(test_start_thread(call_host, NULL)), 0); /* exit() does not wait */
        WAIT_UNTIL(is_running);
        return 0;
}

/* A busy machine may take the time away. */
TEST_NO_BUS(exitWaitsForAHandlerOnlyUntilItReturns)
{
        WAIT_UNTIL_EQ(test_child_wait(test_spawn_role("exitMeanwhile", NULL)), 0);
}

TEST_MAIN()
