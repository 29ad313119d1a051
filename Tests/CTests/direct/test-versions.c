/* Two versions of the table side by side: programs with an old and a new library on one bus. The
 * other version of this program has a library with another table. */
#include <dirent.h>

#include "roles.h"
#include "table/layout.h"

/* Arguments: names. Observes them, then answers each index of a name with the number of its posts,
 * and posts each name that it reads. */
ROLE(member)
{
        static tally seen[ROLE_MAX_NAMES];
        char line[64], *end;

        for (int i = 0; i < n_args; i++)
                tally_observe(dn_center_darwin(), args[i], &seen[i]);
        printf("ready\n");
        while (fgets(line, sizeof line, stdin)) {
                unsigned long index = strtoul(line, &end, 10);
                line[strcspn(line, "\n")] = '\0';
                if (end == line) {
                        post_ok(dn_center_darwin(), line);
                        printf("posted\n");
                } else {
                        printf("%llu\n", (unsigned long long)seen[index].n_posts);
                }
        }
        return 0;
}

enum { OWN, OTHER };

/* Observes "A" and "B". */
static test_child *spawn_member(int version)
{
        char path[4096];
        ssize_t n_bytes = readlink("/proc/self/exe", path, sizeof path - 8);

        CHECK(n_bytes > 0);
        strcpy(path + n_bytes, version == OWN ? "" : "-other");
        const char *const argv[] = {path, "--role", "member", "A", "B", NULL};
        test_child *child = test_spawn_program(argv);
        CHECK_STREQ(test_child_read_line(child), "ready");
        return child;
}

static void post_by(test_child *member, const char *name)
{
        CHECK_STREQ(test_child_ask(member, name), "posted");
}

static uint64_t posts_of(test_child *member, const char *name)
{
        return strtoull(test_child_ask(member, *name == 'A' ? "0" : "1"), NULL, 10);
}

static unsigned n_tables(int version)
{
        char path[300], prefix[16];
        struct dirent *entry;
        unsigned n = 0;

        snprintf(path, sizeof path, "%s/darwin-notify", getenv("XDG_RUNTIME_DIR"));
        snprintf(prefix, sizeof prefix, "table%d-", version == OWN ? DN__SHM_VERSION : 1);
        DIR *stream = opendir(path);
        while (stream && (entry = readdir(stream)))
                n += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
        if (stream)
                closedir(stream);
        return n;
}

static void remove_own_table(void)
{
        char path[512];
        DIR *stream;

        snprintf(path, sizeof path, "%s/darwin-notify", getenv("XDG_RUNTIME_DIR"));
        stream = opendir(path);
        CHECK(stream != NULL);
        for (struct dirent *entry; (entry = readdir(stream));) {
                snprintf(path, sizeof path, "table%d-", DN__SHM_VERSION);
                if (strncmp(entry->d_name, path, strlen(path)) == 0)
                        CHECK_EQ(unlinkat(dirfd(stream), entry->d_name, 0), 0);
        }
        closedir(stream);
}

#define N_MEMBERS 4
#define N_ROUNDS 20

/* Each hears the posts of its own version through the table, all others over the bus. */
TEST_ON_BUS(processesWithDifferentVersionsOfTheTableHearOneAnotherOnce)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        test_child *members[N_MEMBERS];

        test_peer_watch(peer, TEST_WIRE_RULE);
        for (int i = 0; i < N_MEMBERS; i++)
                members[i] = spawn_member(i % 2 ? OTHER : OWN);
        CHECK_EQ(n_tables(OWN), 1);
        CHECK_EQ(n_tables(OTHER), 1);
        for (uint64_t round = 1; round <= N_ROUNDS; round++) {
                post_by(members[0], "A");
                post_by(members[1], "A");
                post_by(members[round % N_MEMBERS], "B");
                for (int i = 0; i < N_MEMBERS; i++) {
                        WAIT_UNTIL_EQ(posts_of(members[i], "A"), 2 * round);
                        WAIT_UNTIL_EQ(posts_of(members[i], "B"), round);
                }
        }
        fence_bus(peer);
        for (int i = 0; i < N_MEMBERS; i++) {
                CHECK_EQ(posts_of(members[i], "A"), 2 * N_ROUNDS);
                CHECK_EQ(posts_of(members[i], "B"), N_ROUNDS);
                CHECK_EQ(test_child_wait(members[i]), 0);
        }
}

TEST_ON_BUS(anObserverOfAPrefixHearsThePostsOfBothVersionsOnce)
{
        test_bus *bus = test_bus_begin();
        test_peer *peer = test_peer_open(test_bus_address(bus));
        static tally seen;
        test_child *own = spawn_member(OWN), *other = spawn_member(OTHER);

        test_peer_watch(peer, TEST_WIRE_RULE);
        await_bus(dn_center_darwin());
        dn_observer *observer = tally_observe_prefix("A", &seen);
        for (int i = 0; i < N_ROUNDS; i++) {
                post_by(own, "A");
                post_by(other, "A");
        }
        WAIT_UNTIL_EQ(seen.n_posts, 2 * N_ROUNDS);
        fence_bus(peer);
        CHECK_EQ(seen.n_posts, 2 * N_ROUNDS);
        tally_drop(observer);
        CHECK_EQ(test_child_wait(own), 0);
        CHECK_EQ(test_child_wait(other), 0);
}

/* A process that creates a table removes those that nobody uses, of any version. */
TEST_NO_BUS(aVersionLeavesTheTableOfTheOtherAlone)
{
        setenv("DARWIN_NOTIFY_BUS", "none", 1);
        test_child *other = spawn_member(OTHER), *same = spawn_member(OTHER);
        test_child *own = spawn_member(OWN);

        CHECK_EQ(n_tables(OWN), 1);
        CHECK_EQ(n_tables(OTHER), 1);
        CHECK_EQ(test_child_wait(own), 0);
        CHECK_EQ(n_tables(OTHER), 1);
        post_by(other, "A");
        WAIT_UNTIL_EQ(posts_of(same, "A"), 1);
        test_child_kill(other);
        test_child_kill(same);
        CHECK_EQ(n_tables(OTHER), 1);
        remove_own_table();
        own = spawn_member(OWN);
        CHECK_EQ(n_tables(OTHER), 0);
        CHECK_EQ(test_child_wait(own), 0);
}

TEST_MAIN()
