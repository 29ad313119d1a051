/* Gives SwiftPM the compile and link flags of SQLite, with what Swift cannot call itself. */
#pragma once
#include <sqlite3.h>
#include <stdbool.h>

/* Sets a switch of a connection. Swift does not see functions with variable arguments. */
static inline int sqlite_shim_set(sqlite3 *connection, int option, int value)
{
        return sqlite3_db_config(connection, option, value, (int *)0);
}

/* Gets the schema and the table of a row before it changes, with its row ids before and after. */
typedef void sqlite_shim_row_hook(void *context, sqlite3 *connection, int operation,
                                  const char *schema, const char *table, sqlite3_int64 before,
                                  sqlite3_int64 after);

/* A library built without this function lacks the symbol. */
__attribute__((weak)) void *sqlite3_preupdate_hook(sqlite3 *connection, sqlite_shim_row_hook *hook,
                                                   void *context);

/* Calls a hook for each row that the connection changes. Returns false if SQLite cannot. */
static inline bool sqlite_shim_hook_rows(sqlite3 *connection, sqlite_shim_row_hook *hook,
                                         void *context)
{
        if (!sqlite3_preupdate_hook)
                return false;
        (void)sqlite3_preupdate_hook(connection, hook, context);
        return true;
}
