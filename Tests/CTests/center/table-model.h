/* The actors of the model of a table that moves and the steps in which they look, move and post. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "test.h"

enum { N_OBSERVERS = 2, POSTER = 2, N_ACTORS = 3, N_TABLES = 5, NONE = -1 };
enum { MAX_SENT = 2, NO_TABLE = 7, NATIVE = 8 };

/* The next step of an actor. */
enum {
        IDLE,
        READ_STALE, /* looking: */
        FIND,
        TAKE_BACK,
        MAKE,
        ENTER,
        SET_STALE, /* moving: */
        RING_ALL,
        LEAVE,
        HOLD,
        NOTIFY,
        WAKE, /* of an observer: */
        READ_WOKEN_STALE,
        COUNT, /* of the poster: */
        IS_STALE,
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
        AGAIN = 2,     /* a poster that finds its table stale counts again */
        TIMER = 4,     /* an observer without a bus looks every 5 seconds */
        ALWAYS = 8,    /* a poster without a table looks before each post */
        DUE = 16,      /* a poster looks if its last look was 5 seconds ago */
        CONNECTED = 32, /* an observer looks when the bus has what it was asked for */
};

typedef struct actor {
        int8_t table, found, counted;
        uint8_t step, next; /* `next`: after a look */
        uint8_t stale_read, stale_seen, n_seen;
        bool is_stale; /* has not looked since the file changed */
        bool is_old;   /* looked 5 seconds ago */
        bool is_on_bus, is_native, has_answer;
        int8_t named; /* the table whose name the process has on the bus */
        uint8_t rule;
        uint8_t inbox; /* signals that have come, by the tables that counted them */
        uint8_t rung;   /* in these tables */
        uint8_t n_left; /* posts, or looks without any reason */
        bool has_returned;
} actor;

typedef struct world {
        actor actors[N_ACTORS];
        int8_t file; /* the table at the path */
        uint8_t n_tables;
        uint8_t stale[N_TABLES], counts[N_TABLES], holders[N_TABLES];
        uint8_t owed_by_bus, owed_by_table; /* observers that must be notified */
        uint8_t n_sent;                     /* signals that the bus has not read: */
        uint8_t sent[MAX_SENT];             /* a table, and NATIVE */
        uint8_t n_removals, n_wrong_stale, n_bus_changes, n_spans, n_kills; /* still to come */
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
                } else {
                        actor->is_old = false;
                }
                if (actor->step == IDLE) {
                        actor->found = NONE;
                        actor->stale_read = actor->next = 0;
                }
        }
}

#include "worlds.h"

static void set_stale(uint8_t *stale)
{
        *stale += *stale % 2 ? 2 : 1;
}

/* --- Steps ------------------------------------------------------------------------------------ */

static void begin_look(actor *actor, uint8_t next)
{
        actor->next = next;
        actor->step = READ_STALE;
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

/* Those in the table of the maker see that it is stale; a poster without a table looks. */
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
        if (world->file == NONE) {
                CHECK(world->n_tables < N_TABLES);
                world->file = (int8_t)world->n_tables++;
                file_is_made(world, actor);
        }
        actor->found = world->file;
        actor->step = ENTER;
}

static void enter(world *world, actor *actor, bool is_observer)
{
        if (is_observer && world->file != actor->found)
                begin_look(actor, actor->next);
        else if (actor->table != NONE)
                actor->step = SET_STALE;
        else
                actor->step = LEAVE;
}

static void notify(world *world, unsigned i)
{
        world->owed_by_bus &= (uint8_t)~(1U << i);
        world->owed_by_table &= (uint8_t)~(1U << i);
}

static void have_registered(actor *actor)
{
        if (!actor->has_returned && actor->is_on_bus)
                actor->rule = ASKED;
        actor->has_returned = true;
}

/* On the bus it becomes a newcomer, and asks for a rule that covers all paths. */
static void leave(actor *actor)
{
        bool moves = actor->table != NONE;

        actor->table = actor->found;
        actor->stale_seen = 0;
        if (!moves)
                return;
        actor->is_native = false;
        if (actor->rule == NARROW)
                actor->rule = ASKED_WIDER;
}

static void end_move(world *world, unsigned i)
{
        actor *actor = &world->actors[i];

        actor->n_seen = world->counts[actor->table];
        if (applies(ONCE_MORE))
                notify(world, i);
        if (i < N_OBSERVERS) {
                actor->rung |= (uint8_t)(1U << actor->table); /* checks everything */
                have_registered(actor);
        }
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
        case READ_STALE:
                actor->stale_read = actor->table == NONE ? 0 : world->stale[actor->table];
                actor->step = FIND;
                break;
        case FIND:
                actor->found = world->file;
                have_found(actor, is_observer);
                break;
        case TAKE_BACK:
                if (actor->stale_read % 2 && world->stale[actor->table] == actor->stale_read)
                        world->stale[actor->table]++;
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
        case SET_STALE:
                set_stale(&world->stale[actor->table]);
                actor->step = RING_ALL;
                break;
        case RING_ALL:
                ring(world, actor->table, UINT8_MAX);
                actor->step = LEAVE;
                break;
        case LEAVE:
                leave(actor);
                actor->step = HOLD;
                break;
        case HOLD:
                if (i < N_OBSERVERS)
                        world->holders[actor->found] |= (uint8_t)(1U << i);
                actor->step = NOTIFY;
                break;
        default:
                end_move(world, i);
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
        uint8_t stale;

        switch (actor->step) {
        case WAKE:
                read_count(world, i);
                actor->step = READ_WOKEN_STALE;
                break;
        default:
                stale = world->stale[actor->table];
                actor->step = IDLE;
                if (stale % 2 && stale != actor->stale_seen)
                        begin_look(actor, IDLE);
                actor->stale_seen = stale;
        }
}

static void count(world *world, actor *actor)
{
        if (world->holders[actor->table])
                world->counts[actor->table]++;
        actor->counted = actor->table;
}

static void send(world *world);

static void step_poster(world *world)
{
        actor *actor = &world->actors[POSTER];

        switch (actor->step) {
        case COUNT:
                actor->step = actor->table == NONE ? SEND : IS_STALE;
                if (actor->table != NONE)
                        count(world, actor);
                break;
        case IS_STALE:
                actor->step = RING_HOLDERS;
                if (world->stale[actor->table] % 2 && applies(AGAIN))
                        begin_look(actor, COUNT_AGAIN);
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

        if (step >= READ_STALE && step <= ENTER)
                step_look(&world, i);
        else if (step >= SET_STALE && step <= NOTIFY)
                step_move(&world, i);
        else if (i == POSTER)
                step_poster(&world);
        else
                step_observer(&world, i);
        reach(&world);
}
