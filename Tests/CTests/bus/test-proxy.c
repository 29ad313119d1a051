/* Programs in a sandbox, whose bus is a filtering xdg-dbus-proxy. */
#include <sys/stat.h>

#include "member.h"
#include "roles.h"

static char inside[300];

/* Starts a proxy; processes spawned from now on are behind it. They have a table of their own, as
 * in a sandbox. */
static void enter_sandbox(const test_bus *bus)
{
        char path[300];
        struct stat status;

        snprintf(inside, sizeof inside, "%s/inside", test_directory());
        snprintf(path, sizeof path, "%s/proxy", test_directory());
        CHECK_EQ(mkdir(inside, 0700), 0);
        (void)test_spawn_program((const char *[]){"xdg-dbus-proxy", test_bus_address(bus), path,
                                                  "--filter", NULL});
        WAIT_UNTIL(stat(path, &status) == 0);
        setenv("DBUS_SESSION_BUS_ADDRESS", FORMAT("unix:path=%s", path), 1);
        setenv("XDG_RUNTIME_DIR", inside, 1);
}

/* Returns the last part of its version, which begins with 0.1; skips if it is not installed. */
static int proxy_version(void)
{
        char text[64];
        int version;

        if (test_run_program((const char *[]){"xdg-dbus-proxy", "--version", NULL}, text,
                             sizeof text) != 0)
                SKIP("xdg-dbus-proxy is not installed");
        CHECK_EQ(sscanf(text, "xdg-dbus-proxy 0.1.%d", &version), 1);
        return version;
}

TEST_ON_BUS(aPostInASandboxIsHeardOutside)
{
        static tally seen;

        SKIP_IF(proxy_version() < 5, "xdg-dbus-proxy 0.1.4 misreads how sd-bus connects");
        test_bus *bus = test_bus_begin();
        tally_observe(dn_center_darwin(), "A", &seen);
        enter_sandbox(bus);
        post_elsewhere("A", 1, "return");
        WAIT_UNTIL_EQ(seen.n_posts, 1);
}

TEST_ON_BUS(processesOfOneSandboxHearEachOther)
{
        (void)proxy_version();
        enter_sandbox(test_bus_begin());
        test_child *a = spawn_member("A"), *b = spawn_member("B");
        post_by(a, "B");
        WAIT_UNTIL_EQ(posts_of(b), 1);
        post_by(b, "A");
        WAIT_UNTIL_EQ(posts_of(a), 1);
        end_member(a);
        end_member(b);
}

TEST_MAIN()
