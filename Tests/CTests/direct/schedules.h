/* Tries all schedules of the threads of a model, one after the other.
 *
 * Each run starts over and follows the decisions of a path; after that it makes the first possible
 * decision and leaves the others for later runs. It ends at a state that an earlier run reached. */
#pragma once

#include "visited.h"

static unsigned n_runs;

/* A decision: the thread that continues, or MAX_THREADS + the thread that dies. */
typedef struct path {
        uint8_t decisions[MAX_STEPS];
        size_t n_decisions;
} path;

static size_t find_decisions(unsigned max_deaths, uint8_t ret_decisions[2 * MAX_THREADS])
{
        size_t n = 0;

        for (size_t i = 0; i < n_threads; i++)
                if (threads[i].state == READY)
                        ret_decisions[n++] = (uint8_t)i;
        for (size_t i = 0; i < n_threads; i++)
                if (n_deaths < max_deaths && threads[i].may_die &&
                    (threads[i].state == READY || threads[i].state == ASLEEP))
                        ret_decisions[n++] = (uint8_t)(MAX_THREADS + i);
        return n;
}

static void follow(uint8_t decision)
{
        if (decision >= MAX_THREADS) {
                threads[decision - MAX_THREADS].state = KILLED;
                n_deaths++;
                /* The heir of a receiver waits only for that. */
                if (decision == MAX_THREADS + RECEIVER && n_threads > HEIR)
                        threads[HEIR].state = READY;
                return;
        }
        current = decision;
        if (!_setjmp(scheduler))
                go_to_thread(&threads[current]);
}

typedef struct model {
        void (*begin)(void); /* resets everything */
        void (*end)(void);   /* checks the result, when no thread can continue */
        unsigned max_deaths;
} model;

/* Follows a path, then always the first decision, to a known state or to the end. Appends the other
 * decisions that could have been made to `open`. */
static void run(const model *model, path *path, struct path **open, size_t *n_open)
{
        uint8_t decisions[2 * MAX_THREADS];
        size_t i = 0, n;

        n_deaths = 0;
        model->begin();
        for (size_t thread = 0; thread < n_threads; thread++)
                begin_thread(thread);
        n_runs++;
        for (; i < path->n_decisions; i++)
                follow(path->decisions[i]);
        for (;; i++) {
                n = find_decisions(model->max_deaths, decisions);
                if (!visit(hash_of_state()))
                        return;
                if (n == 0 || decisions[0] >= MAX_THREADS)
                        model->end(); /* no thread can continue, at most die */
                if (n == 0)
                        return;
                CHECK(i < MAX_STEPS);
                path->n_decisions = i + 1;
                for (size_t j = 1; j < n; j++) {
                        path->decisions[i] = decisions[j];
                        *open = realloc(*open, (*n_open + 1) * sizeof(**open));
                        CHECK(*open != NULL);
                        (*open)[(*n_open)++] = *path;
                }
                path->decisions[i] = decisions[0];
                follow(decisions[0]);
        }
}

static void run_all(const model *model)
{
        struct path *open = calloc(1, sizeof(*open)), next = { 0 };
        size_t n_open = 1;

        SKIP_IF(TEST_HAS_SANITIZER, "a sanitizer does not follow coroutines");
        forget_states();
        n_runs = 0;
        while (n_open > 0) {
                next = open[--n_open];
                run(model, &next, &open, &n_open);
        }
        free(open);
        printf("%u states, %u runs\n", n_states, n_runs);
        CHECK(n_states > 100);
}
