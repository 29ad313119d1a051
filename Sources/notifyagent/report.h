/* What --list, --metrics and --check print. */
#pragma once

#include <stdbool.h>

#include "agent.h"

/* Prints the sources with their names, then the units. */
void report_list(const agent *agent, bool is_json);

/* Prints the sources in the text format of OpenMetrics 1.0. */
void report_metrics(const agent *agent);

/* Prints what keeps the agent from working here, and mistakes in units. Returns whether it found
 * any; missing sources and units that are disabled or masked on purpose do not matter. */
bool report_check(const agent *agent, bool is_json);
