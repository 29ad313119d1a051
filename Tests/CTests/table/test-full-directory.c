/* A runtime directory whose file system is too small for the shared table. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "member.h"
#include "roles.h"
#include "tally.h"
#include "test-bus.h"

#define PAGE_BYTES 4096
#define N_PAGES 80
#define N_NAMES 200

static char mounted[300];

static void unmount(void)
{
        umount2(mounted, MNT_DETACH);
}

/* Mounts, visible only here, a directory that this process and its children use. */
static void prepare(void)
{
        snprintf(mounted, sizeof mounted, "%s/small", test_directory());
        CHECK_EQ(mkdir(mounted, 0700), 0);
        test_mounts_unshare();
}

static void mount_small(unsigned n_bytes)
{
        const char *options = FORMAT("size=%u,mode=0700", n_bytes);

        if (mount("tmpfs", mounted, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0) {
                const char *reason = FORMAT("cannot mount a tmpfs: %s", strerror(errno));
                rmdir(mounted);
                SKIP(reason);
        }
        setenv("XDG_RUNTIME_DIR", mounted, 1);
}

/* Fills that many pages. */
static void fill(unsigned n_pages)
{
        static const char page[PAGE_BYTES] = "full";
        int fd = open(FORMAT("%s/filler", mounted), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

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

ROLE(postMany)
{
        for (unsigned i = 0; i < N_NAMES; i++)
                post_ok(dn_center_darwin(), numbered("many", i));
        return dn_flush(TEST_DEADLINE_US) < 0;
}

TEST_ON_BUS(directoryThatFillsUpLaterFallsBackToTheBus)
{
        static tally seen[N_NAMES] = {0};

        prepare();
        test_bus *bus = begin_elsewhere();
        test_peer *peer = test_peer_open_watching(bus);

        mount_small(400 << 10);
        atexit(unmount);
        tally_observe_all("many", seen, N_NAMES);
        check_each_hears_one("postMany", seen, N_NAMES, peer);
}

/* --- Without a bus --------------------------------------------------------------------------- */

static void remove_filler(void)
{
        CHECK_EQ(unlink(FORMAT("%s/filler", mounted)), 0);
}

/* With the table or without; says nothing of how the registration went. */
static test_child *spawn_patient(void)
{
        test_child *child = test_spawn_role("member", "N", "1", NULL);

        CHECK(test_child_read_line(child) != NULL);
        return child;
}

/* Both were there before there was room, and nobody does anything after that. Each may be notified
 * once more than was posted: it cannot know what it missed. */
static void check_meet(test_child *a, test_child *b)
{
        WAIT_UNTIL(ask(a, "tables") == 1 && ask(a, "uncounted") == 0);
        WAIT_UNTIL(ask(b, "tables") == 1 && ask(b, "uncounted") == 0);
        uint64_t of_a = posts_of(a), of_b = posts_of(b);
        post_elsewhere("N", 3, "return");
        WAIT_UNTIL(posts_of(a) >= of_a + 3);
        WAIT_UNTIL(posts_of(b) >= of_b + 3);
}

TEST_NO_BUS(processesMeetInTheTableOnceTheirDirectoryHasRoom)
{
        test_bus *none = test_bus_start("none", NULL);

        prepare();
        test_bus_use(none);
        for (unsigned n_filled = 0; n_filled <= N_PAGES; n_filled += n_filled < 60 ? 20 : 4) {
                mount_small(N_PAGES * PAGE_BYTES);
                fill(n_filled);
                test_child *a = spawn_patient(), *b = spawn_patient();
                remove_filler();
                check_meet(a, b);
                end_member(a);
                end_member(b);
                unmount();
        }
}

TEST_MAIN()
