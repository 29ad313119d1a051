/* A table that rows are added to, like the one in which Wormhole keeps a log. */
#include "log.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define N_ROWS_OF_FULL_LOG 1200 /* more than the pages after which SQLite uses it from the start */

struct log_table {
        sqlite3 *database;
        sqlite3_stmt *insert;
};

static int fail(log_table *log)
{
        fprintf(stderr, "%s\n", sqlite3_errmsg(log->database));
        return -EIO;
}

int log_open(const char *path, const void *bytes, size_t n_bytes, bool is_durable,
             log_table **ret_log)
{
        static const char script[] =
                "PRAGMA journal_mode = WAL;"
                "PRAGMA synchronous = NORMAL;"
                "CREATE TABLE messages("
                "  number INTEGER PRIMARY KEY, kind INTEGER NOT NULL, time INTEGER NOT NULL,"
                "  pid INTEGER NOT NULL, uid INTEGER NOT NULL, message INTEGER,"
                "  codec TEXT, type TEXT, version INTEGER, payload BLOB)";
        static const char insert[] =
                "INSERT INTO messages(kind, time, pid, uid, codec, type, version, payload) "
                "VALUES(1, ?, ?, ?, 'raw', 'Data', 1, ?)";
        const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
        log_table *log = calloc(1, sizeof *log);
        int r = 0;

        if (!log)
                return -ENOMEM;
        if (sqlite3_open_v2(path, &log->database, flags, NULL) != SQLITE_OK ||
            sqlite3_exec(log->database, script, NULL, NULL, NULL) != SQLITE_OK ||
            sqlite3_prepare_v2(log->database, insert, -1, &log->insert, NULL) != SQLITE_OK)
                return fail(log);
        for (int i = 0; r == 0 && i < N_ROWS_OF_FULL_LOG; i++)
                r = log_insert(log, bytes, n_bytes);
        if (r == 0 && is_durable &&
            sqlite3_exec(log->database, "PRAGMA synchronous = FULL", NULL, NULL, NULL) != SQLITE_OK)
                r = fail(log);
        *ret_log = log;
        return r;
}

int log_insert(log_table *log, const void *bytes, size_t n_bytes)
{
        struct timespec now;

        clock_gettime(CLOCK_REALTIME, &now);
        sqlite3_bind_int64(log->insert, 1, now.tv_sec * 1000000000LL + now.tv_nsec);
        sqlite3_bind_int64(log->insert, 2, getpid());
        sqlite3_bind_int64(log->insert, 3, geteuid());
        sqlite3_bind_blob64(log->insert, 4, bytes, n_bytes, SQLITE_STATIC);
        if (sqlite3_step(log->insert) != SQLITE_DONE || sqlite3_reset(log->insert) != SQLITE_OK)
                return fail(log);
        return 0;
}
