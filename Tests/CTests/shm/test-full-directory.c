/* A runtime directory whose file system is too small for the shared table. */
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "roles.h"
#include "tally.h"
#include "test-bus.h"

#define PAGE_BYTES 4096
#define N_PAGES 80
#define N_NAMES 200

static char place[300];

static void unmount(void)
{
        umount2(place, MNT_DETACH);
}

/* Mounts, visible only here, a directory that this process and its children use. */
static void prepare(void)
{
        snprintf(place, sizeof place, "%s/small", test_directory());
        CHECK_EQ(mkdir(place, 0700), 0);
        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                SKIP("mounting is not permitted");
}

static void mount_small(unsigned n_bytes)
{
        char options[64];

        snprintf(options, sizeof options, "size=%u,mode=0700", n_bytes);
        if (mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0) {
                rmdir(place);
                SKIP("mounting is not permitted");
        }
        setenv("XDG_RUNTIME_DIR", place, 1);
}

/* Fills that many pages. */
static void fill(unsigned n_pages)
{
        static const char page[PAGE_BYTES] = "full";
        char path[310];
        int fd;

        snprintf(path, sizeof path, "%s/filler", place);
        fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        CHECK(fd >= 0);
        for (unsigned i = 0; i < n_pages; i++)
                CHECK_EQ(write(fd, page, sizeof page), (ssize_t)sizeof page);
        close(fd);
}

/* The table is not next to its socket, whose directory others may read. */
static test_bus *begin_elsewhere(void)
{
        test_bus *bus = test_bus_begin();

        CHECK_EQ(chmod(test_bus_directory(bus), 0711), 0);
        return bus;
}

TEST_ON_BUS(fullDirectoryFallsBackToTheBus)
{
        prepare();
        test_bus *bus = begin_elsewhere();

        for (unsigned n_filled = 0; n_filled <= N_PAGES; n_filled += n_filled < 60 ? 20 : 1) {
                mount_small(N_PAGES * PAGE_BYTES);
                fill(n_filled);
                test_child *child = spawn_observer("N", "M");
                post_elsewhere("N", 1, "return");
                WAIT_UNTIL_EQ(child_posts(child, 0), 1);
                post_elsewhere("M", 3, "exit");
                WAIT_UNTIL_EQ(child_posts(child, 1), 3);
                CHECK_EQ(child_posts(child, 0), 1);
                CHECK_EQ(test_child_wait(child), 0);
                unmount();
        }
        test_bus_stop(bus);
}

ROLE(postMany)
{
        char name[32];

        for (int i = 0; i < N_NAMES; i++) {
                snprintf(name, sizeof name, "%d.of.many", i);
                post_ok(dn_center_darwin(), name);
        }
        return 0;
}

TEST_ON_BUS(directoryThatFillsUpLaterFallsBackToTheBus)
{
        static tally seen[N_NAMES] = {0};
        char name[32];

        prepare();
        test_bus *bus = begin_elsewhere();
        test_peer *peer = test_peer_open(test_bus_address(bus));

        mount_small(400 << 10);
        atexit(unmount);
        test_peer_watch(peer, TEST_WIRE_RULE);
        for (int i = 0; i < N_NAMES; i++) {
                snprintf(name, sizeof name, "%d.of.many", i);
                tally_observe(dn_center_darwin(), name, &seen[i]);
        }
        CHECK_EQ(test_child_wait(test_spawn_role("postMany", NULL)), 0);
        for (int i = 0; i < N_NAMES; i++)
                WAIT_UNTIL_EQ(seen[i].n_posts, 1);
        fence_bus(peer);
        for (int i = 0; i < N_NAMES; i++)
                CHECK_EQ(seen[i].n_posts, 1);
        test_peer_close(peer);
        test_bus_stop(bus);
}

TEST_MAIN()
