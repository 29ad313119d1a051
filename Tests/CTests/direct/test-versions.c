/* Two versions of the table side by side: programs with an old and a new library on one bus. The
 * other version of this program has a library with another table. */
#include "member.h"
#include "table-file.h"
#include "table/layout.h"

enum { OWN, OTHER };

/* Observes "A". */
static test_child *spawn_version(int version)
{
        char path[4096];
        ssize_t n_bytes = readlink("/proc/self/exe", path, sizeof path - 8);

        CHECK(n_bytes > 0);
        strcpy(path + n_bytes, version == OWN ? "" : "-other");
        const char *const argv[] = {path, "--role", "member", "A", "0", NULL};
        return test_child_await(test_spawn_program(argv), "0");
}

/* Returns the number of tables of a version, and removes them if `removes` is set. */
static unsigned find_tables(int version, bool removes)
{
        DIR *stream = opendir(table_directory());
        struct dirent *entry;
        const char *prefix = FORMAT("table%d-", version == OWN ? DN__SHM_VERSION : 1);
        unsigned n = 0;

        while (stream && (entry = readdir(stream))) {
                if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
                        continue;
                n++;
                if (removes)
                        CHECK_EQ(unlinkat(dirfd(stream), entry->d_name, 0), 0);
        }
        if (stream)
                closedir(stream);
        return n;
}

static unsigned n_tables(int version)
{
        return find_tables(version, false);
}

#define N_MEMBERS 4
#define N_ROUNDS 20

/* Each process hears the posts of its own version through the table and all others over the bus.
 * The same is true of an observer of a prefix. */
TEST_ON_BUS(processesWithDifferentVersionsOfTheTableHearOneAnotherOnce)
{
        test_peer *peer = test_peer_begin();
        test_child *members[N_MEMBERS];
        static tally prefix;

        for (int i = 0; i < N_MEMBERS; i++)
                members[i] = spawn_version(i % 2 ? OTHER : OWN);
        CHECK_EQ(n_tables(OWN), 1);
        CHECK_EQ(n_tables(OTHER), 1);
        await_bus(dn_center_darwin());
        tally_observe_prefix("A", &prefix);
        for (uint64_t round = 1; round <= N_ROUNDS; round++) {
                post_by(members[0], "A");
                post_by(members[1], "A");
                post_by(members[round % N_MEMBERS], "A");
                for (int i = 0; i < N_MEMBERS; i++)
                        WAIT_UNTIL_EQ(posts_of(members[i]), 3 * round);
                WAIT_UNTIL_EQ(prefix.n_posts, 3 * round);
        }
        fence_bus(peer);
        CHECK_EQ(prefix.n_posts, 3 * N_ROUNDS);
        for (int i = 0; i < N_MEMBERS; i++) {
                CHECK_EQ(posts_of(members[i]), 3 * N_ROUNDS);
                end_member(members[i]);
        }
}

/* A process that creates a table removes unused tables of any version. */
TEST_NO_BUS(aVersionLeavesTheTableOfTheOtherAlone)
{
        setenv("DARWIN_NOTIFY_BUS", "none", 1);
        test_child *other = spawn_version(OTHER), *same = spawn_version(OTHER);
        test_child *own = spawn_version(OWN);

        CHECK_EQ(n_tables(OWN), 1);
        CHECK_EQ(n_tables(OTHER), 1);
        end_member(own);
        CHECK_EQ(n_tables(OTHER), 1);
        post_by(other, "A");
        WAIT_UNTIL_EQ(posts_of(same), 1);
        test_child_kill(other);
        test_child_kill(same);
        CHECK_EQ(n_tables(OTHER), 1);
        CHECK_EQ(find_tables(OWN, true), 1);
        end_member(spawn_version(OWN));
        CHECK_EQ(n_tables(OTHER), 0);
}

TEST_MAIN()
