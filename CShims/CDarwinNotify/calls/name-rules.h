/* Match rules that report when names on the bus change hands. All under the lock of the connection,
 * which the compiler cannot follow. */
#pragma once

#include "calls/state.h"

/* Requests a rule for a name, either one that a process can own or that of a connection. Returns
 * whether the name got its own rule, to be removed later. */
bool dn__name_rules_add(dn__name_rules *rules, const char *name);

/* Removes the rule of a name. */
void dn__name_rules_remove(dn__name_rules *rules, const char *name);

/* The connection with its rules is lost. */
void dn__name_rules_disconnected(dn__name_rules *rules);
