/* The descriptor of the bus's process that libsystemd 257 and later keeps with each connection. */
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

#define MAX_FDS 256

/* As in the later versions, with which there is one more for each connection. */
static _Atomic unsigned n_opened;

__attribute__((visibility("default"))) int sd_bus_start(sd_bus *bus);
int sd_bus_start(sd_bus *bus)
{
        int (*original)(sd_bus *bus) = (int (*)(sd_bus *))dlsym(RTLD_NEXT, "sd_bus_start");
        int r = original(bus);

        if (r >= 0 && syscall(SYS_pidfd_open, getppid(), 0) >= 0)
                n_opened++;
        return r;
}

TEST_ON_BUS(forkedChildKeepsNoDescriptorOfTheBussProcess)
{
        test_bus_begin();
        bool is_known[MAX_FDS];
        tally seen = {0};
        int hosts;
        pid_t pid;

        hosts = (int)syscall(SYS_pidfd_open, getppid(), 0);
        SKIP_IF(hosts < 0, "the kernel has no pidfd_open()");
        for (int fd = 0; fd < MAX_FDS; fd++)
                is_known[fd] = fcntl(fd, F_GETFD) >= 0;
        n_opened = 0; /* starting dbus-broker uses sd-bus itself */
        tally_observe(dn_center_darwin(), "name", &seen);
        tally_observe(dn_center_distributed(), "name", &seen);
        CHECK_EQ(n_opened, 2);
        pid = test_fork();
        if (pid == 0) {
                int n_kept = 0;

                for (int fd = 0; fd < MAX_FDS; fd++)
                        n_kept += is_known[fd] != (fcntl(fd, F_GETFD) >= 0);
                _exit(n_kept);
        }
        CHECK_EQ(test_wait_for(pid), 0);
        CHECK_EQ(close(hosts), 0);
}

TEST_MAIN()
