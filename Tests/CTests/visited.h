/* The states of a model that have been reached, by their hashes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "test.h"

#define N_VISITED (1 << 22)

static uint64_t visited[N_VISITED];
static unsigned n_states;

static void forget_states(void)
{
        memset(visited, 0, sizeof(visited));
        n_states = 0;
}

/* Returns whether the state is new. Its hash is not 0. */
static bool visit(uint64_t hash)
{
        size_t at = hash * UINT64_C(0x9e3779b97f4a7c15) % N_VISITED;

        while (visited[at] && visited[at] != hash)
                at = (at + 1) % N_VISITED;
        if (visited[at])
                return false;
        visited[at] = hash;
        CHECK(++n_states < N_VISITED / 4 * 3);
        return true;
}
