/* The files of the resolver. */
#include "namespaces.h"
#include "stage.h"

#define DNS "com.apple.system.SystemConfiguration.dns_configuration"

TEST(otherServersAreHeard)
{
        enter_namespaces(0);
        stage stage = stage_begin();
        cover_etc();
        cover("/run");
        write_file("/etc/resolv.conf", "nameserver 127.0.0.53\n");
        agent_start(&stage);
        int dns = stage_hear(&stage, DNS);
        int old = stage_hear(&stage, "com.apple.system.config.network_change.dns");
        int change = stage_hear(&stage, "com.apple.system.config.network_change");

        write_file("/etc/new", "nameserver 127.0.0.1\n");
        CHECK_EQ(rename("/etc/new", "/etc/resolv.conf"), 0);
        stage_expect(&stage, dns);
        stage_expect(&stage, old);
        stage_expect(&stage, change);

        write_file("/etc/new", "nameserver 127.0.0.1\n");
        CHECK_EQ(rename("/etc/new", "/etc/resolv.conf"), 0);
        write_file("/etc/hosts", "127.0.0.1 here\n");
        stage_expect_nothing(&stage);

        /* The stub in /etc stays as it is. */
        CHECK_EQ(mkdir("/run/systemd", 0755), 0);
        CHECK_EQ(mkdir("/run/systemd/resolve", 0755), 0);
        write_file("/run/systemd/resolve/resolv.conf", "nameserver 10.0.0.1\n");
        stage_expect(&stage, dns);
        stage_expect(&stage, old);
        stage_expect(&stage, change);
}

TEST_MAIN()
