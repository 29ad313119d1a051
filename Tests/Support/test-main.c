/* The command line of a test program. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"

static test_case *first_case;
static test_role *first_role;

void test_register_case(test_case *new_case)
{
        test_case **end = &first_case;

        while (*end)
                end = &(*end)->next;
        *end = new_case;
}

void test_register_role(test_role *role)
{
        role->next = first_role;
        first_role = role;
}

static int run_role(const char *name, int n_args, char **args)
{
        for (test_role *role = first_role; role; role = role->next)
                if (strcmp(role->name, name) == 0)
                        return role->run(n_args, args);
        fprintf(stderr, "no such role: %s\n", name);
        return 2;
}

/* The session of the user who runs the tests must be out of reach. */
static void leave_session(void)
{
        setenv("DBUS_SESSION_BUS_ADDRESS", "disabled:", 1);
        setenv("XDG_RUNTIME_DIR", test_directory(), 1);
        unsetenv("DARWIN_NOTIFY_BUS");
}

#ifdef SWIFT_PACKAGE
/* The runner of the Swift tests has no place for what comes before all of them. It starts all at
 * once by default, and they starve each other: a task that yields continues after hundreds of
 * others. */
__attribute__((constructor)) static void prepare_swift_tests(void)
{
        char n_at_once[16];

        test_directory_leave_shared();
        leave_session();
        snprintf(n_at_once, sizeof n_at_once, "%ld", 2 * sysconf(_SC_NPROCESSORS_ONLN));
        setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", n_at_once, 0);
}
#endif

int test_main(int argc, char **argv)
{
        setvbuf(stdout, NULL, _IOLBF, 0);
        if (argc >= 3 && strcmp(argv[1], "--role") == 0)
                return run_role(argv[2], argc - 3, argv + 3);

        for (test_case *c = first_case; c; c = c->next) {
                if (argc < 2)
                        printf("%s %u\n", c->name, c->grounds);
                else if (strcmp(c->name, argv[1]) == 0) {
                        leave_session();
                        c->run();
                        return 0;
                }
        }
        if (argc < 2)
                return 0;
        fprintf(stderr, "no such case: %s\n", argv[1]);
        return 2;
}
