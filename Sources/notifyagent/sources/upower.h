/* Common parts of the sources that ask UPower. */
#pragma once

#define UPOWER_NAME "org.freedesktop.UPower"
#define UPOWER_PATH "/org/freedesktop/UPower"
#define UPOWER_RULE                                                                                \
        "path='" UPOWER_PATH "',interface='org.freedesktop.DBus.Properties',"                      \
        "member='PropertiesChanged'"
