/* Reaches each state of a model once: its user defines `world`, a struct without
 * pointers or padding that matters, and normalize(). */
#pragma once

#include <stdlib.h>

#include "util/hash.h"
#include "visited.h"

static world *stack; /* the states whose steps have not been tried */
static size_t n_open, n_allocated;

static void reach(const world *reached)
{
        world world = *reached;

        normalize(&world);
        if (!visit(dn__hash64(&world, sizeof(world))))
                return;
        if (n_open == n_allocated) {
                n_allocated = n_allocated ? 2 * n_allocated : 1024;
                stack = realloc(stack, n_allocated * sizeof(*stack));
                CHECK(stack != NULL);
        }
        stack[n_open++] = world;
}
