/* Gives SwiftPM the compile and link flags of SQLite, with what Swift cannot call itself. */
#pragma once
#include <sqlite3.h>

/* Sets a switch of a connection. Swift does not see functions with variable arguments. */
static inline int sqlite_shim_set(sqlite3 *connection, int option, int value)
{
        return sqlite3_db_config(connection, option, value, (int *)0);
}
