/* The directories that decide where a path leads. */
#include "notify/file-route.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As many as the kernel follows. */
#define MAX_LINKS 40

/* Where a walk stands. Paths that grow longer than the kernel takes end it. */
typedef struct walk {
        dn__file_route *route;
        int n_links;
        char directory[PATH_MAX]; /* "" is the root */
        char rest[PATH_MAX];      /* what is still to be looked up, from there */
} walk;

static const char *directory_of(const walk *walk)
{
        return walk->directory[0] ? walk->directory : "/";
}

/* Takes the next name out of the rest; false at the end, and where a name is too long for one. */
static bool next_name(walk *walk, char ret_name[NAME_MAX + 1])
{
        size_t n_slashes = strspn(walk->rest, "/");
        size_t n = strcspn(walk->rest + n_slashes, "/");

        if (n == 0 || n > NAME_MAX)
                return false;
        memcpy(ret_name, walk->rest + n_slashes, n);
        ret_name[n] = '\0';
        memmove(walk->rest, walk->rest + n_slashes + n, strlen(walk->rest + n_slashes + n) + 1);
        return true;
}

static int reserve_step(dn__file_route *route)
{
        size_t n = route->n_allocated ? 2 * route->n_allocated : 8;
        dn__file_step *steps;

        if (route->n_steps < route->n_allocated)
                return 0;
        steps = reallocarray(route->steps, n, sizeof(*steps));
        if (!steps)
                return -ENOMEM;
        route->steps = steps;
        route->n_allocated = n;
        return 0;
}

static int add_step(walk *walk, const char *name)
{
        dn__file_step step = { 0 };
        struct stat status;
        int r = reserve_step(walk->route);

        if (r < 0)
                return r;
        /* One that has just gone has no number, and so is none that was there before. */
        if (lstat(directory_of(walk), &status) == 0) {
                step.device = status.st_dev;
                step.inode = status.st_ino;
        }
        step.directory = strdup(directory_of(walk));
        step.name = strdup(name);
        if (!step.directory || !step.name) {
                free(step.directory);
                free(step.name);
                return -ENOMEM;
        }
        walk->route->steps[walk->route->n_steps++] = step;
        return 0;
}

/* Puts what a link says in front of the rest. Returns false where that leads nowhere. */
static bool follow(walk *walk, const char *link)
{
        char target[PATH_MAX];
        ssize_t n = readlink(link, target, sizeof(target));
        size_t n_rest = strlen(walk->rest);

        if (n <= 0 || (size_t)n + n_rest >= sizeof(walk->rest) || ++walk->n_links > MAX_LINKS)
                return false;
        memmove(walk->rest + n, walk->rest, n_rest + 1);
        memcpy(walk->rest, target, (size_t)n);
        if (target[0] == '/')
                walk->directory[0] = '\0';
        return true;
}

static void leave_directory(walk *walk)
{
        char *slash = strrchr(walk->directory, '/');

        if (slash)
                *slash = '\0';
}

/* Returns 1 if the walk goes on, 0 at its end, or -ENOMEM. */
static int look_up(walk *walk, const char *name)
{
        size_t n = strlen(walk->directory), n_name = strlen(name);
        char path[PATH_MAX];
        struct stat status;
        int r = add_step(walk, name);

        if (r < 0)
                return r;
        if (n + 1 + n_name >= sizeof(path))
                return 0;
        memcpy(path, walk->directory, n);
        path[n] = '/';
        memcpy(path + n + 1, name, n_name + 1);
        if (lstat(path, &status) < 0)
                return 0;
        if (S_ISLNK(status.st_mode))
                return follow(walk, path);
        memcpy(walk->directory, path, n + 1 + n_name + 1);
        return S_ISDIR(status.st_mode);
}

int dn__file_route_init(dn__file_route *route, const char *path)
{
        walk walk = { .route = route };
        char name[NAME_MAX + 1];
        int r = 1;

        *route = (dn__file_route){ 0 };
        if (strlen(path) >= sizeof(walk.rest))
                return 0;
        strcpy(walk.rest, path);
        while (r > 0 && next_name(&walk, name)) {
                if (strcmp(name, ".") == 0)
                        continue;
                if (strcmp(name, "..") == 0)
                        leave_directory(&walk);
                else
                        r = look_up(&walk, name);
        }
        if (r < 0)
                dn__file_route_deinit(route);
        return r < 0 ? r : 0;
}

void dn__file_route_deinit(dn__file_route *route)
{
        for (size_t i = 0; i < route->n_steps; i++) {
                free(route->steps[i].directory);
                free(route->steps[i].name);
        }
        free(route->steps);
        *route = (dn__file_route){ 0 };
}

static bool is_same_step(const dn__file_step *a, const dn__file_step *b)
{
        return a->device == b->device && a->inode == b->inode && strcmp(a->name, b->name) == 0 &&
               strcmp(a->directory, b->directory) == 0;
}

bool dn__file_route_is_same(const dn__file_route *a, const dn__file_route *b)
{
        if (a->n_steps != b->n_steps)
                return false;
        for (size_t i = 0; i < a->n_steps; i++)
                if (!is_same_step(&a->steps[i], &b->steps[i]))
                        return false;
        return true;
}
