/* What --list and --check print. */
#pragma once

#include <stdbool.h>

#include "agent.h"

/* Prints the sources with their names. */
void report_list(const agent *agent, bool is_json);

/* Prints what keeps the agent from working here. Returns whether anything does; a missing source
 * does not. */
bool report_check(const agent *agent, bool is_json);
