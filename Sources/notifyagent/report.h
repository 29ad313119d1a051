/* What --list, --metrics and --check print. */
#pragma once

#include <stdbool.h>

#include "agent.h"

/* Prints the sources with their names. */
void report_list(const agent *agent, bool is_json);

/* Prints the same in the text format of OpenMetrics 1.0. */
void report_metrics(const agent *agent);

/* Prints what keeps the agent from working here. Returns whether anything does; a missing source
 * does not. */
bool report_check(const agent *agent, bool is_json);
