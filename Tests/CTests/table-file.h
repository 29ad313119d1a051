/* The file of a table that a test removes while processes use it. */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test-bus.h"
#include "test-child.h"
#include "test.h"

static inline const char *table_directory(void)
{
        static char path[256];

        snprintf(path, sizeof path, "%s/darwin-notify", getenv("XDG_RUNTIME_DIR"));
        return path;
}

/* Returns the number of the table's file, which the next one does not have; 0: there is none. */
static inline ino_t table_path(char ret_path[512])
{
        DIR *stream = opendir(table_directory());
        struct dirent *entry;
        ino_t number = 0;

        while (stream && (entry = readdir(stream))) {
                if (strncmp(entry->d_name, "table", 5) != 0)
                        continue;
                snprintf(ret_path, 512, "%s/%s", table_directory(), entry->d_name);
                number = entry->d_ino;
        }
        if (stream)
                closedir(stream);
        return number;
}

static inline bool is_there(void)
{
        char path[512];

        return table_path(path) != 0;
}

/* Returns whether a process has the table that is there now. */
static inline bool has_table(test_child *child)
{
        char path[512];
        ino_t inode = table_path(path);
        const char *number = FORMAT(" %lu ", (unsigned long)inode);

        return inode && test_n_mappings_of(test_child_pid(child), number) > 0;
}

static inline void remove_table(void)
{
        char path[512];

        CHECK(table_path(path) != 0);
        CHECK_EQ(unlink(path), 0);
}
