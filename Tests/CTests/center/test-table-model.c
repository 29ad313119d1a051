/* The rules by which processes stay in one table (center/table.c), in every order of their steps.
 *
 * A model of two observers and a poster, each on a bus or not. Another program removes the file or
 * sets the table stale without reason; processes lose the bus and find it, and are killed. When
 * nobody can do anything any more, each observer must have been notified since the beginning of
 * each post that it is owed:
 *
 *   - over the bus: if both it and the poster were there all the time;
 *   - through the table: if both had looked since the file last changed, or the poster looks now as
 *     it last did so 5 seconds ago or has no table.
 *
 * Observers that have looked since must be in one table, where they see the same counts and states.
 * Rules that are left out one at a time show that each is needed. */
#include "table-model-bus.h"

/* --- What may begin --------------------------------------------------------------------------- */

static void begin_post(world world)
{
        actor *poster = &world.actors[POSTER];
        bool has_nothing = poster->table == NONE;
        bool looks = (poster->is_old && applies(DUE)) || (has_nothing && applies(ALWAYS));

        poster->n_left--;
        for (unsigned i = 0; i < N_OBSERVERS; i++) {
                const actor *observer = &world.actors[i];

                if (observer->has_returned && !observer->is_stale &&
                    (!poster->is_stale || poster->is_old || has_nothing))
                        world.owed_by_table |= (uint8_t)(1U << i);
                if (poster->is_on_bus && observer->is_on_bus && observer->has_returned &&
                    observer->rule >= NARROW)
                        world.owed_by_bus |= (uint8_t)(1U << i);
        }
        poster->step = COUNT;
        if (looks)
                begin_look(poster, COUNT);
        reach(&world);
}

/* Five seconds pass: those without a bus have looked. */
static void pass_span(world world)
{
        for (unsigned i = 0; i < N_OBSERVERS; i++) {
                actor *actor = &world.actors[i];

                if (!actor->has_returned || actor->is_on_bus)
                        continue;
                if (actor->is_stale && applies(TIMER))
                        return;
                actor->is_stale = false;
        }
        world.n_spans--;
        world.actors[POSTER].is_old = true;
        reach(&world);
}

static bool is_rung(const actor *actor)
{
        return actor->table != NONE && actor->rung >> actor->table & 1;
}

static void wake(world world, unsigned i)
{
        world.actors[i].rung = 0;
        world.actors[i].step = WAKE;
        reach(&world);
}

static void look(world world, unsigned i)
{
        actor *actor = &world.actors[i];

        actor->n_left -= !actor->has_returned;
        begin_look(actor, IDLE);
        reach(&world);
}

static void die(world world, unsigned i)
{
        actor *actor = &world.actors[i];

        world.n_kills--;
        if (i == POSTER && actor->step != IDLE)
                world.owed_by_table = world.owed_by_bus = 0;
        memset(actor, 0, sizeof(*actor));
        actor->table = actor->found = actor->counted = actor->named = NONE;
        actor->is_stale = true;
        world.owed_by_bus &= (uint8_t)~(1U << i);
        world.owed_by_table &= (uint8_t)~(1U << i);
        reach(&world);
}

static void disturb(const world *before)
{
        world world = *before;

        if (world.n_removals && world.file != NONE) {
                world.n_removals--;
                world.file = NONE;
                file_changes(&world);
                reach(&world);
        }
        world = *before;
        if (world.n_wrong_stale && world.n_tables) {
                world.n_wrong_stale--;
                set_stale(&world.stale[world.n_tables - 1]);
                reach(&world);
        }
        for (unsigned i = 0; before->n_kills && i < N_ACTORS; i++)
                die(*before, i);
}

/* --- The end ---------------------------------------------------------------------------------- */

/* Also, those that have looked must be in one table: then they see the same states. */
static void check_end(const world *world)
{
        const actor *a = &world->actors[0], *b = &world->actors[1];

        n_losses += world->owed_by_bus != 0 || world->owed_by_table != 0 ||
                    (!a->is_stale && !b->is_stale && a->table != b->table);
}

static bool is_at_rest(const world *world)
{
        for (unsigned i = 0; i < N_ACTORS; i++) {
                const actor *actor = &world->actors[i];

                if (actor->step != IDLE || is_rung(actor) || actor->inbox ||
                    actor->rule == ASKED || actor->rule == ASKED_WIDER ||
                    (i != POSTER && actor->has_answer))
                        return false;
                if (applies(TIMER) && actor->has_returned && !actor->is_on_bus && actor->is_stale)
                        return false; /* it will look */
        }
        return world->n_sent == 0 && world->actors[0].n_left == 0 &&
               world->actors[1].n_left == 0 && world->actors[POSTER].n_left == 0;
}

static void expand(const world *world)
{
        disturb(world);
        use_bus(world);
        if (world->n_spans)
                pass_span(*world);
        for (unsigned i = 0; i < N_ACTORS; i++) {
                const actor *actor = &world->actors[i];
                bool may_look = applies(TIMER) && !actor->is_on_bus && actor->is_stale;

                if (actor->step != IDLE) {
                        step(*world, i);
                        continue;
                }
                if (is_rung(actor))
                        wake(*world, i);
                if (actor->n_left && i == POSTER)
                        begin_post(*world);
                else if (i != POSTER && (actor->has_returned ? may_look : actor->n_left > 0))
                        look(*world, i);
        }
        if (is_at_rest(world))
                check_end(world);
}

/* Returns how many ends are wrong. */
static size_t try_all(world first, unsigned rules_left_out)
{
        left_out = rules_left_out;
        n_losses = 0;
        n_open = 0;
        forget_states();
        reach(&first);
        /* One wrong end is enough to show that a rule is needed. */
        while (n_open > 0 && !(left_out && n_losses)) {
                world world = stack[--n_open];

                expand(&world);
        }
        return n_losses;
}

/* --- Worlds ----------------------------------------------------------------------------------- */

/* Is in the first table, and native to it. */
static void be_there(world *world, unsigned i)
{
        actor *actor = &world->actors[i];

        world->file = actor->table = 0;
        world->n_tables = 1;
        if (actor->is_on_bus) {
                actor->named = 0;
                actor->is_native = true;
        }
        if (i == POSTER) {
                actor->is_old = actor->is_stale = false;
                actor->has_answer = actor->is_on_bus;
                return;
        }
        world->holders[0] |= (uint8_t)(1U << i);
        actor->n_left = 0;
        actor->has_returned = true;
        actor->rule = actor->is_on_bus ? NARROW : NO_RULE;
}

/* A bit of `there` for each process. */
typedef struct scenario {
        unsigned there;
        uint8_t n_removals, n_spans, n_kills, n_bus_changes, n_wrong_stale, n_posts;
        bool has_one; /* observer, not two */
} scenario;

static world make_world(const scenario *scenario, unsigned on_bus)
{
        world world;

        memset(&world, 0, sizeof(world));
        world.file = NONE;
        world.n_removals = scenario->n_removals;
        world.n_spans = scenario->n_spans;
        world.n_kills = scenario->n_kills;
        world.n_bus_changes = scenario->n_bus_changes;
        world.n_wrong_stale = scenario->n_wrong_stale;
        for (unsigned i = 0; i < N_ACTORS; i++) {
                actor *actor = &world.actors[i];

                actor->table = actor->found = actor->counted = actor->named = NONE;
                actor->n_left = 1;
                actor->is_on_bus = on_bus >> i & 1;
                actor->is_old = actor->is_stale = i == POSTER; /* it has never looked */
                if (scenario->there >> i & 1)
                        be_there(&world, i);
        }
        if (scenario->n_posts)
                world.actors[POSTER].n_left = scenario->n_posts;
        if (scenario->has_one) {
                world.actors[1].n_left = 0;
                world.actors[1].is_stale = true;
        }
        return world;
}

/* Returns how many ends are wrong, whichever processes are on the bus: of two observers that begin
 * alike, the second one only with the first. */
static size_t try_mixtures(scenario scenario, unsigned rules_left_out)
{
        bool are_alike = scenario.there % 4 == 0 || scenario.there % 4 == 3;
        size_t n = 0;

        for (unsigned on_bus = 0; on_bus < 1 << N_ACTORS && n == 0; on_bus++)
                if (on_bus % 4 != 2 || !are_alike || scenario.has_one)
                        n = try_all(make_world(&scenario, on_bus), rules_left_out);
        return n;
}

enum { NOBODY = 0, FIRST = 1, POSTER_ALONE = 4, FIRST_AND_POSTER = 5, EVERYBODY = 7 };

static const scenario register_first = { .there = NOBODY };
static const scenario post_twice = { .there = NOBODY, .n_posts = 2, .has_one = true };
static const scenario register_and_remove = { .there = FIRST, .n_removals = 1 };
static const scenario register_later = { .there = FIRST, .n_removals = 1, .n_spans = 1 };
static const scenario remove_and_register = { .there = FIRST_AND_POSTER, .n_removals = 1 };
static const scenario leave_the_poster = {
        .there = POSTER_ALONE, .n_removals = 1, .n_spans = 1, .has_one = true
};
static const scenario remove_once = { .there = EVERYBODY, .n_removals = 1, .n_spans = 1 };
static const scenario remove_twice = { .there = EVERYBODY, .n_removals = 2 };
static const scenario remove_and_kill = { .there = EVERYBODY, .n_removals = 1, .n_kills = 1 };
static const scenario register_and_kill = { .there = FIRST, .n_removals = 1, .n_kills = 1 };
static const scenario set_wrongly = { .there = EVERYBODY, .n_removals = 1, .n_wrong_stale = 1 };
static const scenario change_busses = { .there = EVERYBODY, .n_removals = 1, .n_bus_changes = 1 };

/* The first table is removed. One observer, which is not on the bus yet, finds the other one's when
 * it looks; then that is removed. */
static world find_the_bus_and_remove_again(void)
{
        world world = make_world(&change_busses, 6);
        actor *other = &world.actors[1];

        file_changes(&world);
        world.file = other->table = 1;
        world.n_tables = 2;
        world.holders[0] = 1;
        world.holders[1] = 2;
        other->is_stale = other->is_native = false;
        other->named = NONE;
        other->rule = WIDE;
        return world;
}

/* --- Tests ------------------------------------------------------------------------------------ */

TEST_NO_BUS(noPostIsLostWhileObserversRegister)
{
        CHECK_EQ(try_mixtures(register_first, 0), 0);
        CHECK_EQ(try_all(make_world(&post_twice, 0), 0), 0);
        CHECK_EQ(try_all(make_world(&register_later, 0), 0), 0);
        CHECK_EQ(try_mixtures(register_and_remove, 0), 0);
        CHECK_EQ(try_mixtures(remove_and_register, 0), 0);
}

TEST_NO_BUS(noPostIsLostWhenTheTableIsRemoved)
{
        CHECK_EQ(try_mixtures(remove_once, 0), 0);
        CHECK_EQ(try_mixtures(remove_twice, 0), 0);
        CHECK_EQ(try_mixtures(leave_the_poster, 0), 0);
}

TEST_NO_BUS(noPostIsLostWhenAProcessIsKilled)
{
        CHECK_EQ(try_mixtures(remove_and_kill, 0), 0);
        CHECK_EQ(try_mixtures(register_and_kill, 0), 0);
}

TEST_NO_BUS(noPostIsLostWhenAProcessLosesOrFindsTheBus)
{
        CHECK_EQ(try_mixtures(change_busses, 0), 0);
        CHECK_EQ(try_all(find_the_bus_and_remove_again(), 0), 0);
}

TEST_NO_BUS(aTableSetStaleByMistakeLosesNothing)
{
        CHECK_EQ(try_mixtures(set_wrongly, 0), 0);
}

static size_t try_without(unsigned rule)
{
        const scenario scenarios[] = {leave_the_poster, register_and_remove, remove_and_register,
                                      remove_once, remove_twice};
        size_t n = try_all(find_the_bus_and_remove_again(), rule) +
                   try_all(make_world(&post_twice, 0), rule) +
                   try_all(make_world(&register_later, 0), rule);

        for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios) && n == 0; i++)
                n = try_mixtures(scenarios[i], rule);
        return n;
}

TEST_NO_BUS(eachRuleIsNeeded)
{
        static const unsigned rules[] = {ONCE_MORE, AGAIN, TIMER, ALWAYS, DUE, CONNECTED};

        for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
                if (try_without(rules[i]) == 0)
                        test_fail(__FILE__, __LINE__, "rule %u is not needed", rules[i]);
}

TEST_MAIN()
