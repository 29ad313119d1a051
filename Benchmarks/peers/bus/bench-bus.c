/* Keeps a message broker alive for as long as its standard input is open.
 *
 *     bench-bus daemon|broker     a private D-Bus; prints its address, its directory, its pid
 *     bench-bus run COMMAND...    any program; prints nothing, nothing, its pid */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test-bus.h"
#include "test-spawn.h"

static void wait_for_end(void)
{
        char c;

        fflush(stdout);
        while (read(STDIN_FILENO, &c, 1) > 0)
                continue;
}

static int run_bus(const char *kind)
{
        test_bus *bus = test_bus_start(kind, NULL);

        printf("%s\n%s\n%d\n", test_bus_address(bus), test_bus_directory(bus), test_bus_pid(bus));
        wait_for_end();
        test_bus_stop(bus);
        return 0;
}

static int run_program(char **argv)
{
        test_spawn_plan plan = {
                .argv = (const char *const *)argv, .fds = {-1, STDERR_FILENO, STDERR_FILENO},
                .n_fds = 3};
        pid_t pid = test_spawn(&plan);

        printf("\n\n%d\n", pid);
        wait_for_end();
        test_kill_and_reap(pid);
        return 0;
}

int main(int argc, char **argv)
{
        if (argc == 2)
                return run_bus(argv[1]);
        if (argc > 2 && strcmp(argv[1], "run") == 0)
                return run_program(argv + 2);
        fprintf(stderr, "usage: bench-bus daemon|broker|run COMMAND...\n");
        return 2;
}
