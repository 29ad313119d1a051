/* The bus of the model of a table that moves: it reads what is sent to it in order, at any time. */
#pragma once

#include "table-model.h"

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
                actor->is_native = actor->table != NONE &&
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
        if (actor->table != NONE)
                read_count(&world, i);
        actor->is_stale = false;
        if (applies(CONNECTED))
                begin_look(actor, IDLE);
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
                        begin_look(actor, IDLE);
        }
        reach(&world);
}

static void change_bus(world world, unsigned i)
{
        actor *actor = &world.actors[i];

        world.n_bus_changes--;
        actor->is_on_bus = !actor->is_on_bus;
        actor->is_native = actor->has_answer = false;
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
