/* The environment file of a unit, which says why the unit is started. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct environment {
        const char *name; /* the name that was posted last */
        uint64_t generation;
        uint64_t state;
        bool may_have_missed;
} environment;

/* Writes the environment file of a unit. Returns 0 or a negative errno. */
int environment_write(const char *unit, const environment *environment);
