/* The rules by which processes stay in one table (center/table.c), in every order of their steps.
 *
 * A model of two observers and a poster; another program removes the file, makes the better
 * directory available, or marks the table without reason. When nobody can do anything any more,
 * each observer that had registered before a post began must have been notified since, and both
 * must be in the same table. Rules that are left out one at a time show that each is needed.
 *
 * Two things lose a post without a bus, and no rule forbids them: the removed file is put back at
 * its path after another process has posted without a table; or a better directory appears while
 * two processes make tables, and its table is removed again. */
#include <stdint.h>
#include <string.h>

#include "test.h"

enum { N_OBSERVERS = 2, POSTER = 2, N_ACTORS = 3, N_TABLES = 5, N_DIRECTORIES = 2, NONE = -1 };

/* The next step of an actor. */
enum {
        IDLE,
        READ_MARK, /* looking: */
        READ_FIRST,
        READ_SECOND,
        TAKE_BACK,
        MAKE,
        ENTER,
        MARK, /* moving: */
        RING_ALL,
        HOLD,
        NOTIFY,
        RETURN, /* of an observer: from its registration */
        WAKE,
        READ_WOKEN_MARK,
        COUNT, /* of the poster: */
        IS_MARKED,
        COUNT_AGAIN,
        RING_HOLDERS,
};

/* The rules that can be left out. */
enum {
        ONCE_MORE = 1,   /* an observer that moves is notified */
        AGAIN = 2,       /* a poster that finds a mark counts again */
        MIN_AGE = 4,     /* no registration returns before its table has an age */
        TIMER = 8,       /* an observer looks without any reason */
        ALWAYS = 16,     /* a poster without a table looks before each post */
};

typedef struct actor {
        int8_t table, found, counted;
        uint8_t step, next; /* `next`: after a look */
        uint8_t mark_read, mark_seen, n_seen;
        uint8_t known;  /* the tables that existed when the last look began, one bit each */
        uint8_t rung;   /* in these tables */
        uint8_t n_left; /* posts, or looks without any reason */
        bool has_returned;
} actor;

typedef struct world {
        actor actors[N_ACTORS];
        int8_t directories[N_DIRECTORIES];
        uint8_t n_tables, n_usable; /* the last `n_usable` directories */
        uint8_t marks[N_TABLES], counts[N_TABLES], holders[N_TABLES];
        uint8_t registered;       /* the tables in which a registration has returned */
        uint8_t pending;          /* observers that must be notified */
        uint8_t n_removals, n_wrong_marks;
} world;

static unsigned left_out;
static size_t n_losses;

static bool applies(unsigned rule)
{
        return !(left_out & rule);
}

/* Forgets what can no longer make a difference. */
static void normalize(world *world)
{
        for (unsigned i = 0; i < N_ACTORS; i++) {
                actor *actor = &world->actors[i];

                if (i != POSTER)
                        actor->known = 0;
                actor->rung &= actor->table == NONE ? 0 : (uint8_t)(1U << actor->table);
                if (actor->step == IDLE) {
                        actor->found = NONE;
                        actor->mark_read = actor->next = 0;
                }
        }
}

#include "worlds.h"

static void set_mark(uint8_t *mark)
{
        *mark += *mark % 2 ? 2 : 1;
}

/* --- Steps ------------------------------------------------------------------------------------ */

static bool is_linked(const world *world, int table)
{
        return world->directories[0] == table || world->directories[1] == table;
}

static void begin_look(world *world, actor *actor, uint8_t next)
{
        actor->next = next;
        actor->step = READ_MARK;
        actor->known = (uint8_t)((1U << world->n_tables) - 1);
}

static void have_found(actor *actor, bool is_observer)
{
        if (actor->found == NONE)
                actor->step = is_observer ? MAKE : actor->next;
        else
                actor->step = actor->found == actor->table ? TAKE_BACK : ENTER;
}

static void make(world *world, actor *actor)
{
        int8_t *directory = &world->directories[N_DIRECTORIES - world->n_usable];

        if (*directory == NONE) {
                CHECK(world->n_tables < N_TABLES);
                *directory = (int8_t)world->n_tables++;
        }
        actor->found = *directory;
        actor->step = ENTER;
}

static void enter(world *world, actor *actor, bool is_observer)
{
        if (is_observer && !is_linked(world, actor->found))
                begin_look(world, actor, actor->next);
        else if (actor->table != NONE)
                actor->step = MARK;
        else
                actor->step = HOLD;
}

static void switch_tables(world *world, unsigned i)
{
        actor *actor = &world->actors[i];

        actor->table = actor->found;
        actor->n_seen = world->counts[actor->table];
        actor->mark_seen = 0;
        if (i < N_OBSERVERS)
                actor->rung |= (uint8_t)(1U << actor->table); /* checks everything */
        if (applies(ONCE_MORE))
                world->pending &= (uint8_t)~(1U << i);
        actor->step = actor->next;
}

/* Holders that are no longer in the table do not hear it. */
static void ring(world *world, int table, uint8_t holders)
{
        for (unsigned i = 0; i < N_OBSERVERS; i++)
                if (holders >> i & 1)
                        world->actors[i].rung |= (uint8_t)(1U << table);
}

static void step_look(world *world, unsigned i)
{
        actor *actor = &world->actors[i];
        bool is_observer = i < N_OBSERVERS;

        switch (actor->step) {
        case READ_MARK:
                actor->mark_read = actor->table == NONE ? 0 : world->marks[actor->table];
                actor->step = READ_FIRST;
                break;
        case READ_FIRST:
        case READ_SECOND:
                actor->found = world->directories[actor->step - READ_FIRST];
                if (actor->found == NONE && actor->step == READ_FIRST)
                        actor->step = READ_SECOND;
                else
                        have_found(actor, is_observer);
                break;
        case TAKE_BACK:
                if (actor->mark_read % 2 && world->marks[actor->table] == actor->mark_read)
                        world->marks[actor->table]++;
                actor->step = actor->next;
                break;
        case MAKE:
                make(world, actor);
                break;
        default:
                enter(world, actor, is_observer);
        }
}

static void step_move(world *world, unsigned i)
{
        actor *actor = &world->actors[i];

        switch (actor->step) {
        case MARK:
                set_mark(&world->marks[actor->table]);
                actor->step = RING_ALL;
                break;
        case RING_ALL:
                ring(world, actor->table, UINT8_MAX);
                actor->step = HOLD;
                break;
        case HOLD:
                if (i < N_OBSERVERS)
                        world->holders[actor->found] |= (uint8_t)(1U << i);
                actor->step = NOTIFY;
                break;
        default:
                switch_tables(world, i);
        }
}

static void step_observer(world *world, unsigned i)
{
        actor *actor = &world->actors[i];
        uint8_t mark;

        switch (actor->step) {
        case RETURN:
                actor->has_returned = true;
                world->registered |= (uint8_t)(1U << actor->table);
                actor->step = IDLE;
                break;
        case WAKE:
                if (world->counts[actor->table] > actor->n_seen)
                        world->pending &= (uint8_t)~(1U << i);
                actor->n_seen = world->counts[actor->table];
                actor->step = READ_WOKEN_MARK;
                break;
        default:
                mark = world->marks[actor->table];
                actor->step = IDLE;
                if (mark % 2 && mark != actor->mark_seen)
                        begin_look(world, actor, IDLE);
                actor->mark_seen = mark;
        }
}

static void count(world *world, actor *actor)
{
        if (world->holders[actor->table])
                world->counts[actor->table]++;
        actor->counted = actor->table;
}

static void step_poster(world *world)
{
        actor *actor = &world->actors[POSTER];

        switch (actor->step) {
        case COUNT:
                actor->step = actor->table == NONE ? IDLE : IS_MARKED;
                if (actor->table != NONE)
                        count(world, actor);
                break;
        case IS_MARKED:
                actor->step = RING_HOLDERS;
                if (world->marks[actor->table] % 2 && applies(AGAIN))
                        begin_look(world, actor, COUNT_AGAIN);
                break;
        case COUNT_AGAIN:
                if (actor->counted != actor->table)
                        count(world, actor);
                actor->step = RING_HOLDERS;
                break;
        default:
                ring(world, actor->counted, world->holders[actor->counted]);
                actor->step = IDLE;
                actor->counted = NONE;
        }
}

static void step(world world, unsigned i)
{
        uint8_t step = world.actors[i].step;

        if (step >= READ_MARK && step <= ENTER)
                step_look(&world, i);
        else if (step >= MARK && step <= NOTIFY)
                step_move(&world, i);
        else if (i == POSTER)
                step_poster(&world);
        else
                step_observer(&world, i);
        reach(&world);
}

/* --- What may begin --------------------------------------------------------------------------- */

/* It may skip the look if it has a table and its last look was a short time ago. Then no table in
 * which a registration has returned is younger than that. */
static void begin_post(world world)
{
        actor *actor = &world.actors[POSTER];

        actor->n_left--;
        for (unsigned i = 0; i < N_OBSERVERS; i++)
                if (world.actors[i].has_returned)
                        world.pending |= (uint8_t)(1U << i);
        actor->step = COUNT;
        if ((actor->table != NONE || !applies(ALWAYS)) &&
            (!applies(MIN_AGE) || !(world.registered & ~actor->known)))
                reach(&world);
        begin_look(&world, actor, COUNT);
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

        actor->n_left--;
        begin_look(&world, actor, actor->has_returned ? IDLE : RETURN);
        reach(&world);
}

static void disturb(const world *before)
{
        for (int directory = 0; directory < N_DIRECTORIES; directory++) {
                world world = *before;

                if (!world.n_removals || world.directories[directory] == NONE)
                        continue;
                world.n_removals--;
                world.directories[directory] = NONE;
                reach(&world);
        }
        world world = *before;
        if (world.n_wrong_marks && world.n_tables) {
                world.n_wrong_marks--;
                set_mark(&world.marks[world.n_tables - 1]);
                reach(&world);
        }
        world = *before;
        if (world.n_usable < N_DIRECTORIES) {
                world.n_usable++;
                reach(&world);
        }
}

/* --- The end ---------------------------------------------------------------------------------- */

/* Nobody interrupts. */
static void run_look(world *world, unsigned i)
{
        begin_look(world, &world->actors[i], IDLE);
        while (world->actors[i].step != IDLE)
                (world->actors[i].step <= ENTER ? step_look : step_move)(world, i);
}

/* Each looks without any reason, as after 5 seconds. */
static void check_end(world world)
{
        for (unsigned i = 0; applies(TIMER) && i < N_OBSERVERS; i++)
                run_look(&world, i);
        n_losses += world.pending != 0 || world.actors[0].table != world.actors[1].table;
}

static bool is_at_rest(const world *world)
{
        for (unsigned i = 0; i < N_ACTORS; i++)
                if (world->actors[i].step != IDLE || is_rung(&world->actors[i]))
                        return false;
        return world->actors[0].has_returned && world->actors[1].has_returned &&
               world->actors[POSTER].n_left == 0;
}

static void expand(const world *world)
{
        disturb(world);
        for (unsigned i = 0; i < N_ACTORS; i++) {
                const actor *actor = &world->actors[i];

                if (actor->step != IDLE) {
                        step(*world, i);
                        continue;
                }
                if (is_rung(actor))
                        wake(*world, i);
                if (actor->n_left && i == POSTER)
                        begin_post(*world);
                else if (actor->n_left && (applies(TIMER) || !actor->has_returned))
                        look(*world, i);
        }
        if (is_at_rest(world))
                check_end(*world);
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

/* The first look of an observer registers it. */
static world world_with(uint8_t n_posts, uint8_t n_removals)
{
        world world;

        memset(&world, 0, sizeof(world));
        world.n_removals = n_removals;
        world.n_usable = N_DIRECTORIES;
        for (int i = 0; i < N_DIRECTORIES; i++)
                world.directories[i] = NONE;
        for (unsigned i = 0; i < N_ACTORS; i++) {
                world.actors[i].table = world.actors[i].found = world.actors[i].counted = NONE;
                world.actors[i].n_left = i == POSTER ? n_posts : i == 0 ? 2 : 1;
        }
        return world;
}

TEST_NO_BUS(noPostIsLostWhenTheTableIsRemoved)
{
        CHECK_EQ(try_all(world_with(2, 1), 0), 0);
}

TEST_NO_BUS(noPostIsLostWhenTwoTablesAreRemoved)
{
        CHECK_EQ(try_all(world_with(1, 2), 0), 0);
}

TEST_NO_BUS(noPostIsLostWhenABetterDirectoryAppears)
{
        world world = world_with(2, 0);

        world.n_usable = 1;
        CHECK_EQ(try_all(world, 0), 0);
}

TEST_NO_BUS(aWrongMarkLosesNothing)
{
        world world = world_with(1, 1);

        world.n_wrong_marks = 1;
        world.actors[0].n_left = 1;
        CHECK_EQ(try_all(world, 0), 0);
}

TEST_NO_BUS(eachRuleIsNeeded)
{
        static const unsigned rules[] = {ONCE_MORE, AGAIN, MIN_AGE, TIMER, ALWAYS};

        for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
                if (try_all(world_with(2, 1), rules[i]) == 0)
                        test_fail(__FILE__, __LINE__, "rule %u is not needed", rules[i]);
}

TEST_MAIN()
