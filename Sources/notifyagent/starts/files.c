/* The files of units, before the manager is asked about them. */
#include "starts/files.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "starts/section.h"

bool files_have_section(const char *path)
{
        section section = { 0 };
        bool is_found;

        (void)section_read(&section, path);
        is_found = section.is_found;
        section_deinit(&section);
        return is_found;
}

static bool is_there(char *const *folders, const char *name, int n_bytes, const char *type)
{
        char path[PATH_MAX];

        for (char *const *folder = folders; folder && *folder; folder++)
                if (snprintf(path, sizeof(path), "%s/%.*s%s.d", *folder, n_bytes, name, type) <
                            (int)sizeof(path) &&
                    access(path, F_OK) == 0)
                        return true;
        return false;
}

/* a-b.service has those of a-b.service.d, a-.service.d and service.d. */
bool files_have_drop_ins(char *const *folders, const char *name)
{
        const char *type = strrchr(name, '.');

        if (!type)
                return false;
        for (const char *dash = strchr(name, '-'); dash; dash = strchr(dash + 1, '-'))
                if (is_there(folders, name, (int)(dash - name + 1), type))
                        return true;
        return is_there(folders, name, (int)(type - name), type) ||
               is_there(folders, "", 0, type + 1);
}

const char *files_find_fault(const char *name, const char *state)
{
        static const char *const good[] = { "enabled", "enabled-runtime", "static", "generated",
                                            "linked",  "linked-runtime" };

        if (strstr(name, "@."))
                return "it is a template";
        for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
                if (strcmp(state, good[i]) == 0)
                        return "";
        return strncmp(state, "masked", 6) == 0 ? "it is masked" : "it is disabled";
}
