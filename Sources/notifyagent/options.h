/* The command line. */
#pragma once

#include <stdbool.h>

typedef enum action { ACTION_RUN, ACTION_LIST, ACTION_CHECK, ACTION_METRICS, ACTION_HELP,
                      ACTION_VERSION } action;

typedef struct options {
        action action;
        bool is_json;
} options;

/* Returns 0, or -EINVAL after a message. */
int options_parse(int n_arguments, char **arguments, options *ret_options);

extern const char options_usage[];
