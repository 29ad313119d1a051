/* The rules by which processes stay in one table (center/table.c), in every order of their steps.
 *
 * A model of two observers and a poster, each on a bus or not; another program removes the file,
 * makes the better directory available, marks the table without reason, or takes a process off the
 * bus and back. When nobody can do anything any more, each observer must have been notified since
 * the beginning of each post that it is owed:
 *
 *   - on the bus: if both it and the poster were there all the time;
 *   - through the table: if both had looked since the file last changed, or the poster looks because
 *     it last did so 5 seconds ago or has no table.
 *
 * Rules that are left out one at a time show that each is needed. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

enum { N_OBSERVERS = 2, POSTER = 2, N_ACTORS = 3, N_TABLES = 5, N_DIRECTORIES = 1, NONE = -1 };
enum { MAX_SENT = 2, NO_TABLE = 7, NATIVE = 8 };

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
        WAKE, /* of an observer: */
        READ_WOKEN_MARK,
        COUNT, /* of the poster: */
        IS_MARKED,
        COUNT_AGAIN,
        RING_HOLDERS,
        SEND,
};

/* What the bus has of an observer's rule. It answers in order. */
enum {
        NO_RULE,
        ASKED,       /* for a rule that is narrow if the process is native */
        NARROW,      /* for the plain path */
        ASKED_WIDER, /* has the narrow one */
        WIDE,
};

/* The rules that can be left out. */
enum {
        ONCE_MORE = 1, /* an observer that moves is notified */
        AGAIN = 2,     /* a poster that finds a mark counts again */
        TIMER = 4,     /* an observer without a bus looks every 5 seconds */
        ALWAYS = 8,    /* a poster without a table looks before each post */
        DUE = 16,      /* a poster looks if its last look was 5 seconds ago */
        CONNECTED = 32, /* an observer looks when it has found a bus */
        CONFIRMED = 64, /* one that has moved is notified again when the bus has its wider rule */
};

typedef struct actor {
        int8_t table, found, counted;
        uint8_t step, next; /* `next`: after a look */
        uint8_t mark_read, mark_seen, n_seen;
        bool is_stale; /* has not looked since the file changed */
        bool is_old;   /* looked 5 seconds ago */
        bool is_on_bus, is_native, has_answer, has_moved;
        int8_t named; /* the table whose name the process has on the bus */
        uint8_t rule;
        uint8_t inbox; /* signals that have come, by the tables that counted them */
        uint8_t rung;   /* in these tables */
        uint8_t n_left; /* posts, or looks without any reason */
        bool has_returned;
} actor;

typedef struct world {
        actor actors[N_ACTORS];
        int8_t directories[N_DIRECTORIES];
        uint8_t n_tables, n_usable; /* the last `n_usable` directories */
        uint8_t marks[N_TABLES], counts[N_TABLES], holders[N_TABLES];
        uint8_t owed_by_bus, owed_by_table; /* observers that must be notified */
        uint8_t n_sent;                     /* signals that the bus has not read: */
        uint8_t sent[MAX_SENT];             /* a table, and NATIVE */
        uint8_t n_removals, n_wrong_marks, n_bus_changes, n_spans; /* still to come */
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

                actor->rung &= actor->table == NONE ? 0 : (uint8_t)(1U << actor->table);
                if (i == POSTER) {
                        actor->rule = actor->inbox = 0;
                        actor->has_moved = false;
                } else {
                        actor->is_old = false;
                }
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
        return world->directories[0] == table;
}

static void begin_look(world *world, actor *actor, uint8_t next)
{
        (void)world;
        actor->next = next;
        actor->step = READ_MARK;
        actor->is_stale = actor->is_old = false;
}

static void have_found(actor *actor, bool is_observer)
{
        if (actor->found == NONE)
                actor->step = is_observer ? MAKE : actor->next;
        else
                actor->step = actor->found == actor->table ? TAKE_BACK : ENTER;
}

/* Those that have looked before do not know, and a post that is being made may find nothing. */
static void file_changes(world *world)
{
        if (world->actors[POSTER].step != IDLE)
                world->owed_by_table = 0;
        for (unsigned i = 0; i < N_ACTORS; i++)
                world->actors[i].is_stale = true;
}

/* Those in the table of the maker see its mark; a poster without a table looks. */
static void file_is_made(world *world, const actor *maker)
{
        for (unsigned i = 0; i < N_ACTORS; i++) {
                actor *other = &world->actors[i];
                bool sees = maker->table != NONE ? other->table == maker->table
                                                 : i == POSTER && other->table == NONE;

                other->is_stale = other->is_stale || (other != maker && !sees);
        }
}

static void make(world *world, actor *actor)
{
        int8_t *directory = &world->directories[N_DIRECTORIES - world->n_usable];

        if (*directory == NONE) {
                CHECK(world->n_tables < N_TABLES);
                *directory = (int8_t)world->n_tables++;
                file_is_made(world, actor);
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

static void notify(world *world, unsigned i)
{
        world->owed_by_bus &= (uint8_t)~(1U << i);
        world->owed_by_table &= (uint8_t)~(1U << i);
}

/* Becomes a newcomer and asks for a rule that covers all paths. */
static void change_table_on_bus(world *world, actor *actor)
{
        (void)world;
        actor->is_native = false;
        if (actor->rule == NARROW)
                actor->rule = ASKED_WIDER;
        actor->has_moved = actor->is_on_bus;
}

static void have_registered(actor *actor)
{
        if (!actor->has_returned && actor->is_on_bus)
                actor->rule = ASKED;
        actor->has_returned = true;
}

static void switch_tables(world *world, unsigned i)
{
        actor *actor = &world->actors[i];
        bool moves = actor->table != NONE;

        actor->table = actor->found;
        actor->n_seen = world->counts[actor->table];
        actor->mark_seen = 0;
        if (moves)
                change_table_on_bus(world, actor);
        if (i < N_OBSERVERS)
                actor->rung |= (uint8_t)(1U << actor->table); /* checks everything */
        if (applies(ONCE_MORE))
                notify(world, i);
        if (i < N_OBSERVERS)
                have_registered(actor);
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
                if (actor->found == NONE && actor->step == READ_FIRST && N_DIRECTORIES > 1)
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

static void read_count(world *world, unsigned i)
{
        actor *actor = &world->actors[i];

        if (world->counts[actor->table] > actor->n_seen)
                notify(world, i);
        actor->n_seen = world->counts[actor->table];
}

static void step_observer(world *world, unsigned i)
{
        actor *actor = &world->actors[i];
        uint8_t mark;

        switch (actor->step) {
        case WAKE:
                read_count(world, i);
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

/* On a path of its own only if it is native to the table that has counted the post. */
static void send(world *world)
{
        actor *actor = &world->actors[POSTER];
        bool is_native = actor->is_native && actor->counted == actor->named && actor->named != NONE;
        unsigned table = actor->counted == NONE ? NO_TABLE : (unsigned)actor->counted;

        CHECK(world->n_sent < MAX_SENT);
        if (actor->is_on_bus)
                world->sent[world->n_sent++] = (uint8_t)(table | (is_native ? NATIVE : 0));
}

static void step_poster(world *world)
{
        actor *actor = &world->actors[POSTER];

        switch (actor->step) {
        case COUNT:
                actor->step = actor->table == NONE ? SEND : IS_MARKED;
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
        case RING_HOLDERS:
                ring(world, actor->counted, world->holders[actor->counted]);
                actor->step = SEND;
                break;
        default:
                send(world);
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

/* --- The bus ---------------------------------------------------------------------------------- */

/* Names that a process holds for its table show others that there is more than one. */
static bool is_alone(const world *world, int table)
{
        for (unsigned i = 0; i < N_ACTORS; i++)
                if (world->actors[i].is_on_bus && world->actors[i].named != NONE &&
                    world->actors[i].named != table)
                        return false;
        return true;
}

/* The bus reads what a process asks. */
static void read_request(world world, unsigned i)
{
        actor *actor = &world.actors[i];

        if (actor->rule == ASKED) {
                actor->is_native = actor->table != NONE && !actor->has_moved &&
                                   is_alone(&world, actor->table);
                actor->named = actor->is_native ? actor->table : NONE;
                actor->rule = actor->is_native ? NARROW : WIDE;
        } else {
                actor->rule = WIDE;
                actor->named = NONE;
        }
        actor->has_answer = true;
        reach(&world);
}

/* A poster asks for the name of its table alone. */
static void read_poster(world world)
{
        actor *actor = &world.actors[POSTER];

        actor->is_native = is_alone(&world, actor->table);
        actor->named = actor->is_native ? actor->table : NONE;
        actor->has_answer = true; /* it asks once for each connection */
        reach(&world);
}

static void read_answer(world world, unsigned i)
{
        actor *actor = &world.actors[i];

        actor->has_answer = false;
        if (actor->has_moved && actor->rule == WIDE && applies(CONFIRMED))
                notify(&world, i);
        if (actor->rule == WIDE)
                actor->has_moved = false;
        if (actor->table != NONE)
                read_count(&world, i);
        actor->is_stale = false;
        if (applies(CONNECTED))
                begin_look(&world, actor, IDLE);
        reach(&world);
}

static bool is_covered(const actor *actor, uint8_t signal)
{
        return actor->rule == WIDE ||
               (actor->rule >= NARROW && !(signal & NATIVE));
}

static void read_signal(world world)
{
        uint8_t signal = world.sent[0];

        world.sent[0] = world.sent[1];
        world.sent[--world.n_sent] = 0;
        for (unsigned i = 0; i < N_OBSERVERS; i++)
                if (world.actors[i].is_on_bus && is_covered(&world.actors[i], signal))
                        world.actors[i].inbox |= (uint8_t)(1U << (signal & NO_TABLE));
        reach(&world);
}

/* A post that another table has counted is new, and makes its receiver look. */
static void receive(world world, unsigned i)
{
        actor *actor = &world.actors[i];
        unsigned table = (unsigned)__builtin_ctz(actor->inbox);

        actor->inbox &= (uint8_t)(actor->inbox - 1);
        if ((int)table == actor->table) {
                read_count(&world, i);
        } else {
                notify(&world, i);
                if (table != NO_TABLE)
                        begin_look(&world, actor, IDLE);
        }
        reach(&world);
}

static void change_bus(world world, unsigned i)
{
        actor *actor = &world.actors[i];

        world.n_bus_changes--;
        actor->is_on_bus = !actor->is_on_bus;
        actor->is_native = actor->has_answer = actor->has_moved = false;
        actor->named = NONE;
        actor->inbox = 0;
        actor->rule = actor->is_on_bus && actor->has_returned ? ASKED : NO_RULE;
        if (i == POSTER)
                world.n_sent = world.sent[0] = world.sent[1] = world.owed_by_bus = 0;
        world.owed_by_bus &= (uint8_t)~(1U << i);
        reach(&world);
}

static void use_bus(const world *world)
{
        const actor *poster = &world->actors[POSTER];

        if (world->n_sent)
                read_signal(*world);
        if (poster->is_on_bus && poster->table != NONE && !poster->has_answer)
                read_poster(*world);
        for (unsigned i = 0; i < N_OBSERVERS; i++) {
                const actor *actor = &world->actors[i];

                if (actor->rule == ASKED || actor->rule == ASKED_WIDER)
                        read_request(*world, i);
                if (actor->step == IDLE && actor->has_answer)
                        read_answer(*world, i);
                if (actor->step == IDLE && actor->inbox)
                        receive(*world, i);
        }
        for (unsigned i = 0; world->n_bus_changes && i < N_ACTORS; i++)
                change_bus(*world, i);
}

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
                begin_look(&world, poster, COUNT);
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
        begin_look(&world, actor, IDLE);
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
                file_changes(&world);
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
                file_changes(&world);
                reach(&world);
        }
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

enum { NONE_THERE = 0, FIRST_THERE = 1, ALL_BUT_SECOND_THERE = 5, ALL_THERE = 7 };

/* Is in the first table, and native to it. */
static void be_there(world *world, unsigned i)
{
        actor *actor = &world->actors[i];

        world->directories[0] = actor->table = 0;
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

/* `on_bus`, `there`: a bit for each process. */
static world world_with(unsigned on_bus, unsigned there)
{
        world world;

        memset(&world, 0, sizeof(world));
        world.n_usable = N_DIRECTORIES;
        for (int i = 0; i < N_DIRECTORIES; i++)
                world.directories[i] = NONE;
        for (unsigned i = 0; i < N_ACTORS; i++) {
                actor *actor = &world.actors[i];

                actor->table = actor->found = actor->counted = actor->named = NONE;
                actor->n_left = 1;
                actor->is_on_bus = on_bus >> i & 1;
                actor->is_old = actor->is_stale = i == POSTER; /* it has never looked */
                if (there >> i & 1)
                        be_there(&world, i);
        }
        return world;
}

/* Returns how many ends are wrong, whichever processes are on the bus. The observers are alike. */
static size_t try_mixtures(world (*make)(unsigned on_bus), unsigned rules_left_out)
{
        static const unsigned mixtures[] = {0, 1, 3, 4, 5, 7, 2, 6};
        size_t n = 0;

        for (size_t i = 0; i < sizeof(mixtures) / sizeof(*mixtures) && n == 0; i++) {
                n = try_all(make(mixtures[i]), rules_left_out);
                if (!rules_left_out) printf("%u: %u states\n", mixtures[i], n_states);
        }
        return n;
}

static world register_and_remove(unsigned on_bus)
{
        world world = world_with(on_bus, FIRST_THERE);

        world.n_removals = 1;
        world.n_spans = on_bus == 0; /* more would take too long */
        return world;
}

static world remove_and_register(unsigned on_bus)
{
        world world = world_with(on_bus, ALL_BUT_SECOND_THERE);

        world.n_removals = 1;
        return world;
}

static world remove_once(unsigned on_bus)
{
        world world = world_with(on_bus, ALL_THERE);

        world.n_removals = 1;
        world.n_spans = 1;
        return world;
}

static world remove_twice(unsigned on_bus)
{
        world world = world_with(on_bus, ALL_THERE);

        world.n_removals = 2;
        return world;
}

static world register_first(unsigned on_bus)
{
        return world_with(on_bus, NONE_THERE);
}

static world post_twice_while_one_registers(void)
{
        world world = world_with(0, NONE_THERE);

        world.actors[POSTER].n_left = 2;
        world.actors[1].n_left = 0; /* one observer is enough */
        world.actors[1].is_stale = true;
        return world;
}

/* The first table is removed. One observer, which is not on the bus yet, finds the other one's when
 * it looks; then that is removed. */
static world find_the_bus_and_remove_again(void)
{
        world world = world_with(6, ALL_THERE);
        actor *other = &world.actors[1];

        file_changes(&world);
        world.directories[0] = other->table = 1;
        world.n_tables = 2;
        world.holders[0] = 1;
        world.holders[1] = 2;
        other->is_stale = other->is_native = false;
        other->named = NONE;
        other->rule = WIDE;
        world.n_removals = 1;
        world.n_bus_changes = 1;
        return world;
}

static world mark_wrongly(unsigned on_bus)
{
        world world = world_with(on_bus, ALL_THERE);

        world.n_removals = 1;
        world.n_wrong_marks = 1;
        return world;
}

static world change_busses(unsigned on_bus)
{
        world world = world_with(on_bus, ALL_THERE);

        world.n_removals = 1;
        world.n_bus_changes = 1;
        return world;
}

TEST_NO_BUS(noPostIsLostWhileObserversRegister)
{
        CHECK_EQ(try_mixtures(register_first, 0), 0);
        CHECK_EQ(try_all(post_twice_while_one_registers(), 0), 0);
        CHECK_EQ(try_mixtures(register_and_remove, 0), 0);
        CHECK_EQ(try_mixtures(remove_and_register, 0), 0);
}

TEST_NO_BUS(noPostIsLostWhenTheTableIsRemoved)
{
        CHECK_EQ(try_mixtures(remove_once, 0), 0);
}

TEST_NO_BUS(noPostIsLostWhenTwoTablesAreRemoved)
{
        CHECK_EQ(try_mixtures(remove_twice, 0), 0);
}

TEST_NO_BUS(aWrongMarkLosesNothing)
{
        CHECK_EQ(try_mixtures(mark_wrongly, 0), 0);
}

TEST_NO_BUS(noPostIsLostWhenAProcessLosesOrFindsTheBus)
{
        CHECK_EQ(try_mixtures(change_busses, 0), 0);
        CHECK_EQ(try_all(find_the_bus_and_remove_again(), 0), 0);
        printf("%u\n", n_states);
}

TEST_NO_BUS(eachRuleIsNeeded)
{
        static const unsigned rules[] = {TIMER, ALWAYS, CONFIRMED, ONCE_MORE, AGAIN, DUE, CONNECTED};
        world (*const worlds[])(unsigned on_bus) = {register_and_remove, remove_and_register, remove_once, remove_twice,
                                                     change_busses};

        for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
                size_t n = 0;

                for (size_t j = 0; j < sizeof(worlds) / sizeof(*worlds) && n == 0; j++)
                        n = try_mixtures(worlds[j], rules[i]);
                if (n == 0)
                        n = try_all(find_the_bus_and_remove_again(), rules[i]);
                if (n == 0)
                        n = try_all(post_twice_while_one_registers(), rules[i]);
                if (n == 0)
                        fprintf(stderr, "rule %u is not needed\n", rules[i]);
        }
}

TEST_MAIN()
