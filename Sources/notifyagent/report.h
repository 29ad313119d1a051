/* What --list, --metrics and --check print. */
#pragma once

#include <stdbool.h>

#include "agent.h"

/* Prints the sources with their names, then the units. */
void report_list(const agent *agent, bool is_json);

/* Prints the sources in the text format of OpenMetrics 1.0. */
void report_metrics(const agent *agent);

/* Prints what keeps the agent from working here, and mistakes in units. Returns whether there is
 * anything; a missing source and a unit that does not count on purpose are not. */
bool report_check(const agent *agent, bool is_json);
