/* Drop-ins are found as systemd finds them. */
#include "starts/drop-ins.h"
#include "starts/systemd.h"

static void write_drop_in(const systemd *systemd, const char *folder, const char *name)
{
        const char *path = FORMAT("%s/%s", systemd->home, folder);

        CHECK_EQ(test_run_program((const char *[]){"mkdir", "-p", path, NULL}, NULL, 0), 0);
        write_text(FORMAT("%s/%s", path, name), "[Unit]\nDescription=more\n");
}

static char **get_list(const char *path, const char *interface, const char *property)
{
        sd_bus *bus = systemd_connect();
        char **list = NULL;

        CHECK(sd_bus_get_property_strv(bus, SYSTEMD, path, interface, property, NULL, &list) >= 0);
        sd_bus_flush_close_unref(bus);
        return list;
}

static void append(const char *path, void *context)
{
        char *paths = context;

        snprintf(paths + strlen(paths), 16384 - strlen(paths), "%s\n", path);
}

static void free_list(char **list)
{
        for (char **at = list; at && *at; at++)
                free(*at);
        free(list);
}

/* Compares what both find for a unit; returns how many there are. */
static int compare(const char *unit)
{
        char expected[16384] = "", found[16384] = "", *path;
        int n = 0;

        CHECK(sd_bus_path_encode(SYSTEMD_PATH "/unit", unit, &path) >= 0);
        char **drop_ins = get_list(path, SYSTEMD ".Unit", "DropInPaths");
        char **folders = get_list(SYSTEMD_PATH, SYSTEMD_INTERFACE, "UnitPath");
        for (char **at = drop_ins; at && *at; at++, n++)
                append(*at, expected);
        drop_ins_each(folders, unit, append, found);
        CHECK_STREQ(found, expected);
        free_list(drop_ins);
        free_list(folders);
        free(path);
        return n;
}

TEST_NO_BUS(dropInsAreThoseOfSystemd)
{
        systemd systemd = systemd_prepare();
        static const char *const folders[] = {
                ".config/systemd/user/a-b-c.service.d",      ".config/systemd/user/a-b-.service.d",
                ".config/systemd/user/a-.service.d",         ".config/systemd/user/service.d",
                ".local/share/systemd/user/a-b-c.service.d", ".local/share/systemd/user/service.d",
                ".config/systemd/user.control/a-.service.d",
        };

        for (int i = 0; i < 7; i++) {
                write_drop_in(&systemd, folders[i], FORMAT("%d.conf", 9 - i));
                write_drop_in(&systemd, folders[i], "same.conf");
                write_drop_in(&systemd, folders[i], ".hidden.conf");
                write_drop_in(&systemd, folders[i], "other.txt");
        }
        write_section(&systemd, "a-b-c.service", "Matching=a");
        write_section(&systemd, "a-.service", "Matching=a");
        write_section(&systemd, "b.service", "Matching=a");
        systemd_begin(&systemd);

        CHECK_EQ(compare("a-b-c.service"), 8);
        CHECK_EQ(compare("b.service"), 3);
        (void)compare("a-.service");
        (void)compare("dbus.socket");
}

TEST_MAIN()
