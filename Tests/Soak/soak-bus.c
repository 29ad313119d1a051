/* A private bus that obeys its standard input and ends with it.
 *
 *     soak-bus daemon|broker|none     prints its address, its directory
 *
 * It answers each line of "kill", "start", "pause" and "resume" with "done". */
#include <stdio.h>
#include <string.h>

#include "test-bus.h"

static void obey(test_bus *bus, const char *order)
{
        if (strcmp(order, "kill\n") == 0)
                test_bus_kill(bus);
        else if (strcmp(order, "start\n") == 0)
                test_bus_start_again(bus);
        else if (strcmp(order, "pause\n") == 0)
                test_bus_pause(bus);
        else if (strcmp(order, "resume\n") == 0)
                test_bus_resume(bus);
}

int main(int argc, char **argv)
{
        char order[64];

        if (argc != 2) {
                fprintf(stderr, "usage: soak-bus daemon|broker|none\n");
                return 2;
        }
        setvbuf(stdout, NULL, _IOLBF, 0);
        test_bus *bus = test_bus_start(argv[1], NULL);
        printf("%s\n%s\n", test_bus_address(bus), test_bus_directory(bus));
        while (fgets(order, sizeof order, stdin)) {
                obey(bus, order);
                printf("done\n");
        }
        test_bus_stop(bus);
        return 0;
}
