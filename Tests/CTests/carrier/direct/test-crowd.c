/* Many posts between many processes that are killed at random: what is heard is what was posted. */
#include <darwinnotify/inspect.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "roles.h"
#include "tally.h"
#include "test-bus.h"
#include "test-child.h"

#define N_POSTERS 4
#define N_RECEIVERS 4
#define N_NAMES 8
#define N_SPARED 2     /* of the receivers: they register first and are not killed */
#define N_POSTS 100000 /* in all, without a bus; a broker takes longer */
#define N_POSTS_ON_BUS 10000
#define N_KILLS 40

/* In a file that all processes of the test map. */
typedef struct score {
        uint64_t n_posts; /* to be made */
        _Atomic uint64_t n_begun[N_NAMES]; /* before each post */
        _Atomic uint64_t n_returned[N_NAMES]; /* after it */
        struct {
                uint64_t n_returned[N_NAMES]; /* before the registration */
                _Atomic uint64_t n_begun[N_NAMES];  /* after it */
                _Atomic uint64_t n_heard[N_NAMES];
        } receivers[N_RECEIVERS];
} score;

static score *map_score(void)
{
        char path[200];
        int fd;

        snprintf(path, sizeof path, "%s/score", getenv("SCORE_DIRECTORY"));
        fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        CHECK(fd >= 0 && ftruncate(fd, sizeof(score)) == 0);
        score *mapped = mmap(NULL, sizeof(score), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        CHECK(mapped != MAP_FAILED);
        close(fd);
        return mapped;
}

static uint64_t sum(const _Atomic uint64_t *numbers)
{
        uint64_t total = 0;

        for (size_t i = 0; i < N_NAMES; i++)
                total += numbers[i];
        return total;
}

static void name_of(size_t i, char ret_name[16])
{
        snprintf(ret_name, 16, "crowd.%zu", i);
}

static void post_once(score *score, size_t i)
{
        char name[16];

        name_of(i, name);
        score->n_begun[i]++;
        post_soon(dn_center_darwin(), name);
        score->n_returned[i]++;
}

/* Posts names in turn until all posts are made. */
ROLE(postInTurn)
{
        score *score = map_score();

        for (size_t i = (size_t)getpid(); sum(score->n_begun) < score->n_posts; i++)
                post_once(score, i % N_NAMES);
        return 0;
}

static void hear(const dn_event *event, void *context)
{
        *(_Atomic uint64_t *)context += event->n_posts;
}

/* Arguments: index. Registers for all names, says so, then counts. */
ROLE(hearAll)
{
        size_t index = (size_t)atoi(args[0]);
        score *score = map_score();
        char name[16];

        for (size_t i = 0; i < N_NAMES; i++) {
                dn_handler handler = {.invoke = hear,
                                      .context = (void *)&score->receivers[index].n_heard[i]};
                score->receivers[index].n_heard[i] = 0;
                score->receivers[index].n_returned[i] = score->n_returned[i];
                name_of(i, name);
                int r = dn_center_observe(dn_center_darwin(), name, handler, NULL, NULL);
                CHECK(r == 0 || dn_is_offline(r));
                score->receivers[index].n_begun[i] = score->n_begun[i];
        }
        printf("ready\n");
        for (;;)
                pause();
}

static test_child *spawn_receiver(size_t index)
{
        char text[8];

        snprintf(text, sizeof text, "%zu", index);
        test_child *child = test_spawn_role("hearAll", text, NULL);
        CHECK_STREQ(test_child_read_line(child), "ready");
        return child;
}

/* Kills posters and receivers at random; another takes the place of each. */
static void kill_some(score *score, test_child **posters, test_child **receivers)
{
        unsigned seed = 7;

        for (int i = 0; i < N_KILLS && sum(score->n_begun) < score->n_posts; i++) {
                size_t victim = (size_t)rand_r(&seed) % (N_POSTERS + N_RECEIVERS - N_SPARED);
                uint64_t n_before = sum(score->n_begun);
                if (victim < N_POSTERS) {
                        test_child_kill(posters[victim]);
                        posters[victim] = test_spawn_role("postInTurn", NULL);
                } else {
                        victim += N_SPARED - N_POSTERS;
                        test_child_kill(receivers[victim]);
                        receivers[victim] = spawn_receiver(victim);
                }
                WAIT_UNTIL(sum(score->n_begun) > n_before || n_before >= score->n_posts);
        }
}

static int note_generation(const dn_name_record *record, void *context)
{
        uint64_t *generations = context;
        size_t i;

        if (sscanf(record->name, "crowd.%zu", &i) == 1 && i < N_NAMES)
                generations[i] = record->generation;
        return 0;
}

/* A receiver that was there all the time has heard exactly what the table has counted. Of another
 * one it is known but roughly what it can have heard: posters were killed in the middle. */
static void check_receiver(const score *score, size_t index, const uint64_t *first)
{
        uint64_t last[N_NAMES] = {0};

        CHECK_EQ(dn_list_names(NULL, note_generation, last), 0);
        for (size_t i = 0; i < N_NAMES; i++) {
                const _Atomic uint64_t *heard = &score->receivers[index].n_heard[i];
                uint64_t n_begun = score->receivers[index].n_begun[i];
                if (index < N_SPARED)
                        WAIT_UNTIL_EQ(*heard, last[i] - first[i]);
                WAIT_UNTIL(n_begun + *heard >= score->n_returned[i]);
                CHECK(*heard <= score->n_begun[i] - score->receivers[index].n_returned[i]);
        }
}

TEST(aCrowdHearsWhatWasPostedThoughSomeAreKilled)
{
        test_bus *bus = test_bus_begin();
        test_child *posters[N_POSTERS], *receivers[N_RECEIVERS];
        uint64_t first[N_NAMES] = {0};

        setenv("SCORE_DIRECTORY", test_bus_directory(bus), 1);
        score *score = map_score();
        score->n_posts = test_bus_is_none(bus) ? N_POSTS : N_POSTS_ON_BUS;
        for (size_t i = 0; i < N_RECEIVERS; i++)
                receivers[i] = spawn_receiver(i);
        CHECK_EQ(dn_list_names(NULL, note_generation, first), 0);
        for (size_t i = 0; i < N_POSTERS; i++)
                posters[i] = test_spawn_role("postInTurn", NULL);
        kill_some(score, posters, receivers);
        for (size_t i = 0; i < N_POSTERS; i++)
                CHECK_EQ(test_child_wait(posters[i]), 0);
        /* The last post of each name brings along those of posters that were killed. */
        for (size_t i = 0; i < N_NAMES; i++)
                post_once(score, i);
        CHECK(sum(score->n_begun) - sum(score->n_returned) <= N_KILLS);
        for (size_t i = 0; i < N_RECEIVERS; i++)
                check_receiver(score, i, first);
        for (size_t i = 0; i < N_RECEIVERS; i++)
                test_child_kill(receivers[i]);
        test_bus_stop(bus);
}

TEST_MAIN()
