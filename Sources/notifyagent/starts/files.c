/* The files of the user's units.
 *
 * They are read without systemd: its ListUnitFiles compares each file with each link, which takes
 * seconds for 1 000 units. */
#include "starts/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file in a folder of units, or a link in a folder such as a unit's .wants. */
typedef struct entry {
        char *name;
        size_t folder;
        bool is_link; /* the unit is enabled */
} entry;

typedef struct list {
        char *const *folders;
        entry *entries;
        size_t n;
        int error; /* a negative errno if something could not be read, or 0 */
} list;

/* --- Reading folders ------------------------------------------------------------------------- */

/* What is missing or forbidden has no units, for systemd neither. Any other error may pass. */
static void note_error(list *list, int error)
{
        switch (error) {
        case 0:
        case ENOENT:
        case ENOTDIR:
        case EACCES:
        case ELOOP: return;
        default: list->error = -error;
        }
}

static void add_entry(list *list, size_t folder, const char *name, bool is_link)
{
        entry *grown = list->entries;

        if ((list->n & (list->n - 1)) == 0) /* full at each power of two */
                grown = reallocarray(list->entries, list->n ? 2 * list->n : 1, sizeof(*grown));
        if (grown) {
                list->entries = grown;
                grown[list->n] = (entry){ strdup(name), folder, is_link };
        }
        if (grown && grown[list->n].name)
                list->n++;
        else
                note_error(list, ENOMEM);
}

/* systemd ignores all other files. */
static bool is_name(const char *name)
{
        static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789:-_.\\@";

        return name[strspn(name, allowed)] == '\0';
}

static bool ends_in(const char *name, const char *const *ends, size_t n_ends)
{
        const char *dot = strrchr(name, '.');

        for (size_t i = 0; dot && dot != name && i < n_ends; i++)
                if (strcmp(dot, ends[i]) == 0)
                        return true;
        return false;
}

static DIR *open_folder(list *list, const char *path)
{
        DIR *directory = opendir(path);

        if (!directory)
                note_error(list, errno);
        return directory;
}

static struct dirent *read_next(list *list, DIR *directory)
{
        struct dirent *next;

        errno = 0;
        next = readdir(directory);
        if (!next)
                note_error(list, errno);
        return next;
}

static void read_links(list *list, size_t folder, const char *name)
{
        char path[PATH_MAX];
        DIR *directory;

        (void)snprintf(path, sizeof(path), "%s/%s", list->folders[folder], name);
        directory = open_folder(list, path);
        for (struct dirent *at; directory && (at = read_next(list, directory));)
                if (*at->d_name != '.')
                        add_entry(list, folder, at->d_name, true);
        if (directory)
                (void)closedir(directory);
}

static void read_folder(list *list, size_t folder)
{
        static const char *const links[] = { ".wants", ".requires", ".upholds" };
        static const char *const types[] = { ".service", ".socket", ".target", ".path",
                                             ".timer",   ".mount",  ".automount", ".slice" };
        DIR *directory = open_folder(list, list->folders[folder]);

        for (struct dirent *at; directory && (at = read_next(list, directory));)
                if (ends_in(at->d_name, links, sizeof(links) / sizeof(*links)))
                        read_links(list, folder, at->d_name);
                else if (ends_in(at->d_name, types, sizeof(types) / sizeof(*types)) &&
                         is_name(at->d_name))
                        add_entry(list, folder, at->d_name, false);
        if (directory)
                (void)closedir(directory);
}

/* --- Units ----------------------------------------------------------------------------------- */

/* Sorts by name. Of the same name, files come first, in the order of the folders, then links. */
static int compare_entries(const void *left, const void *right)
{
        const entry *a = left, *b = right;
        int r = strcmp(a->name, b->name);

        if (r == 0)
                r = a->is_link - b->is_link;
        return r ? r : (a->folder > b->folder) - (a->folder < b->folder);
}

static void format_entry_path(const list *list, const entry *entry, char ret_path[PATH_MAX])
{
        (void)snprintf(ret_path, PATH_MAX, "%s/%s", list->folders[entry->folder], entry->name);
}

/* An alias enables the unit that it points to. */
static void follow_aliases(list *list)
{
        char path[PATH_MAX], target[PATH_MAX];

        for (size_t i = 0, n = list->n; i < n; i++) {
                entry *entry = &list->entries[i];
                ssize_t n_bytes;
                const char *name;

                if (entry->is_link)
                        continue;
                format_entry_path(list, entry, path);
                n_bytes = readlink(path, target, sizeof(target) - 1);
                if (n_bytes <= 0)
                        continue;
                target[n_bytes] = '\0';
                name = strrchr(target, '/') ? strrchr(target, '/') + 1 : target;
                if (strcmp(target, "/dev/null") == 0 || strcmp(name, entry->name) == 0)
                        continue;
                add_entry(list, entry->folder, name, true);
                list->entries[i].is_link = true; /* not a unit of its own */
        }
}

/* An empty file masks a unit, as does a link to /dev/null. */
static bool is_mask(const char *path)
{
        struct stat about;

        return stat(path, &about) == 0 &&
               (S_ISCHR(about.st_mode) || (S_ISREG(about.st_mode) && about.st_size == 0));
}

/* Calls the function for the entries of one name. Returns the number of these entries. */
static size_t take_name(const list *list, size_t first,
                        void (*each)(const file *file, void *context), void *context)
{
        const entry *entry = &list->entries[first];
        file file = { .name = entry->name };
        size_t n = 1;

        format_entry_path(list, entry, file.path);
        file.is_masked = is_mask(file.path);
        for (; first + n < list->n && strcmp(entry[n].name, entry->name) == 0; n++) {
                file.is_enabled |= entry[n].is_link;
                if (n == 1 && file.is_masked && !entry[n].is_link)
                        format_entry_path(list, &entry[n], file.path); /* the file it hides */
        }
        if (!entry->is_link)
                each(&file, context);
        return n;
}

int files_each(char *const *folders, void (*each)(const file *file, void *context), void *context)
{
        list list = { .folders = folders };

        for (size_t i = 0; folders && folders[i]; i++)
                read_folder(&list, i);
        follow_aliases(&list);
        if (list.n)
                qsort(list.entries, list.n, sizeof(*list.entries), compare_entries);
        for (size_t i = 0; i < list.n && list.error == 0;)
                i += take_name(&list, i, each, context);
        for (size_t i = 0; i < list.n; i++)
                free(list.entries[i].name);
        free(list.entries);
        return list.error;
}
