/* What changes in the network is heard by a watcher in another process. */
#include "namespaces.h"
#include "stage.h"

#define CHANGE "com.apple.system.config.network_change"
#define NWI "com.apple.system.SystemConfiguration.nwi"

static void ip(const char *arguments)
{
        const char *command = FORMAT("PATH=$PATH:/usr/sbin:/sbin; ip %s", arguments);

        CHECK_EQ(test_run_program((const char *[]){"sh", "-c", command, NULL}, NULL, 0), 0);
}

static void need_ip(void)
{
        const char *const look[] = {"sh", "-c", "PATH=$PATH:/usr/sbin:/sbin; command -v ip", NULL};

        SKIP_IF(test_run_program(look, NULL, 0) != 0, "ip is not installed (iproute2)");
}

/* Not each kernel has dummies. */
static const char *find_kind(void)
{
        static const char *const kinds[] = {"dummy", "bridge", "ifb"};

        for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
                const char *command = FORMAT("PATH=$PATH:/usr/sbin:/sbin; "
                                             "ip link add probe type %s 2>&1 && ip link del probe",
                                             kinds[i]);

                if (test_run_program((const char *[]){"sh", "-c", command, NULL}, NULL, 0) == 0)
                        return kinds[i];
        }
        SKIP("this kernel can make none of the links that are tried");
}

TEST(aLinkIsHeardWithin150Ms)
{
        enter_namespaces(CLONE_NEWNET);
        need_ip();
        const char *kind = find_kind();
        stage stage = stage_begin();
        agent_start(&stage);
        int nwi = stage_hear(&stage, NWI);
        int old = stage_hear(&stage, "com.apple.system.config.network_change.nwi");
        int change = stage_hear(&stage, CHANGE);
        uint64_t shortest_us = UINT64_MAX;

        for (int i = 0; i < 5; i++) {
                uint64_t began_us = test_now_us();

                ip(i % 2 ? "link del wire" : FORMAT("link add wire type %s", kind));
                stage_expect(&stage, nwi);
                stage_expect(&stage, old);
                stage_expect(&stage, change);
                if (test_now_us() - began_us < shortest_us)
                        shortest_us = test_now_us() - began_us;
                test_let_pass_ms(120);
        }
        /* The time of the program that changes it is included. */
        CHECK(shortest_us < 150000 * test_slowness());
}

TEST(addressesAndRoutesAreHeard)
{
        enter_namespaces(CLONE_NEWNET);
        need_ip();
        stage stage = stage_begin();
        agent_start(&stage);
        int nwi = stage_hear(&stage, NWI);

        ip("link set lo up");
        stage_expect(&stage, nwi);
        test_let_pass_ms(300);
        while (stage_next(&stage, 0))
                ; /* the addresses of lo come with it */
        ip("address add 10.1.2.3/24 dev lo");
        stage_expect(&stage, nwi);
        stage_expect_nothing(&stage);
        ip("address change 10.1.2.3/24 dev lo preferred_lft 0"); /* deprecated */
        stage_expect(&stage, nwi);
        stage_expect_nothing(&stage);
        ip("route add 10.9.0.0/16 dev lo");
        stage_expect(&stage, nwi);
}

TEST(whatIsRepeatedIsNoNews)
{
        enter_namespaces(CLONE_NEWNET);
        need_ip();
        ip("link set lo up");
        ip("address add 10.1.2.3/24 dev lo valid_lft 1000 preferred_lft 1000");
        stage stage = stage_begin();
        agent_start(&stage);
        int nwi = stage_hear(&stage, NWI);

        for (int i = 0; i < 5; i++)
                ip("address change 10.1.2.3/24 dev lo valid_lft 2000 preferred_lft 2000");
        stage_expect_nothing(&stage);
        ip("address del 10.1.2.3/24 dev lo");
        stage_expect(&stage, nwi);
}

TEST(manyChangesAreHeardAtMostEvery100Ms)
{
        enter_namespaces(CLONE_NEWNET);
        need_ip();
        ip("link set lo up");
        stage stage = stage_begin();
        agent_start(&stage);
        int change = stage_hear(&stage, CHANGE), n = 0;
        uint64_t began_us = test_now_us();

        ip("-batch - <<END\n"
           "$(seq -f 'address add 10.1.2.%g/24 dev lo' 1 200)\n"
           "END");
        stage_expect(&stage, change);
        while (stage_next(&stage, 300) == change)
                n++;
        CHECK((uint64_t)n <= (test_now_us() - began_us) / 100000);
}

TEST_MAIN()
