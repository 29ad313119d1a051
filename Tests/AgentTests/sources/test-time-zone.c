/* The time zone. */
#include "mock.h"
#include "namespaces.h"
#include "stage.h"

#define ZONE "com.apple.system.timezone"

static void lead_to(const char *zone)
{
        CHECK_EQ(symlink(zone, "/etc/new"), 0);
        CHECK_EQ(rename("/etc/new", "/etc/localtime"), 0);
}

/* Not every system has those of tzdata. */
static void cover_etc_and_zones(void)
{
        cover_etc();
        write_file("/etc/Berlin", "TZif2 Berlin");
        write_file("/etc/Tokyo", "TZif2 Tokyo");
}

TEST(anotherTargetIsHeardAndNoOtherChange)
{
        enter_namespaces(0);
        stage stage = stage_begin();
        cover_etc_and_zones();
        lead_to("/etc/Berlin");
        agent_start(&stage);
        int zone = stage_hear(&stage, ZONE);

        lead_to("/etc/Tokyo");
        stage_expect(&stage, zone);
        lead_to("/etc/Tokyo");
        write_file("/etc/timezone", "Asia/Tokyo\n");
        write_file("/etc/localtime.bak", "");
        stage_expect_nothing(&stage);

        /* A file instead of a link, then none. */
        write_file("/etc/new", "TZif2");
        CHECK_EQ(rename("/etc/new", "/etc/localtime"), 0);
        stage_expect(&stage, zone);
        CHECK_EQ(unlink("/etc/localtime"), 0);
        stage_expect(&stage, zone);
}

TEST_ON_BUS(timedatedMakesItLook)
{
        enter_namespaces(0);
        stage stage = stage_begin();
        mock mock = mock_begin(&stage);
        mock_start(&mock, "timedated", "org.freedesktop.timedate1");
        cover_etc_and_zones();
        lead_to("/etc/Berlin");
        agent_start(&stage);
        heard heard = {0};
        mock_hear_distributed(&heard, "NSSystemTimeZoneDidChangeDistributedNotification");

        mock_call(&mock, "org.freedesktop.timedate1", "/org/freedesktop/timedate1",
                  "org.freedesktop.timedate1", "SetTimezone", "sb", "Asia/Tokyo", 0);
        lead_to("/etc/Tokyo");
        mock_call(&mock, "org.freedesktop.timedate1", "/org/freedesktop/timedate1",
                  "org.freedesktop.timedate1", "SetTimezone", "sb", "Asia/Tokyo", 0);
        WAIT_UNTIL_EQ(heard.n, 1);
}

TEST_MAIN()
