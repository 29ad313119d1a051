/* Reaches each state of a model once: its user defines `world`, a struct without
 * pointers or padding that matters, and normalize(). */
#ifndef DN_WORLDS_H
#define DN_WORLDS_H

#define N_VISITED (1 << 22)

static uint64_t *visited; /* hashes */
static size_t n_states;
static world *stack; /* the states whose steps have not been tried */
static size_t n_open, n_allocated;

static uint64_t hash_of(const world *world)
{
        const uint8_t *bytes = (const uint8_t *)world;
        uint64_t hash = UINT64_C(0xcbf29ce484222325);

        for (size_t i = 0; i < sizeof(*world); i++)
                hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
        hash ^= hash >> 29;
        return hash ? hash : 1;
}

static void reach(const world *reached)
{
        world normal = *reached, *world = &normal;
        uint64_t hash;
        size_t at;

        normalize(world);
        hash = hash_of(world);
        at = hash * UINT64_C(0x9e3779b97f4a7c15) % N_VISITED;

        while (visited[at] && visited[at] != hash)
                at = (at + 1) % N_VISITED;
        if (visited[at])
                return;
        visited[at] = hash;
        CHECK(++n_states < N_VISITED / 4 * 3);
        if (n_open == n_allocated) {
                n_allocated = n_allocated ? 2 * n_allocated : 1024;
                stack = realloc(stack, n_allocated * sizeof(*stack));
                CHECK(stack != NULL);
        }
        stack[n_open++] = *world;
}

static void begin_search(const world *first)
{
        n_states = 0;
        visited = calloc(N_VISITED, sizeof(*visited));
        CHECK(visited != NULL);
        reach(first);
}

static void end_search(void)
{
        n_open = 0;
        free(visited);
}

#endif
