/* Rows that are put at the end of a table. */
#include "baseline.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "baseline-private.h"

struct baseline_log {
        sqlite3 *database;
        sqlite3_stmt *insert;
};

static void need(const baseline_log *log, int result)
{
        if (result != SQLITE_OK)
                baseline_fail(sqlite3_errmsg(log->database), 0);
}

static void execute(baseline_log *log, const char *script)
{
        need(log, sqlite3_exec(log->database, script, NULL, NULL, NULL));
}

baseline_log *baseline_log_open(const char *path)
{
        static const char script[] =
                "PRAGMA journal_mode = WAL;"
                "PRAGMA synchronous = NORMAL;"
                "CREATE TABLE letters("
                "  number INTEGER PRIMARY KEY, kind INTEGER NOT NULL, time INTEGER NOT NULL,"
                "  pid INTEGER NOT NULL, uid INTEGER NOT NULL, message INTEGER,"
                "  codec TEXT, type TEXT, version INTEGER, payload BLOB)";
        static const char insert[] =
                "INSERT INTO letters(kind, time, pid, uid, codec, type, version, payload) "
                "VALUES(1, ?, ?, ?, ?, ?, ?, ?)";
        baseline_log *log = calloc(1, sizeof *log);

        if (!log)
                baseline_fail("no memory", 0);
        need(log, sqlite3_open_v2(path, &log->database,
                                  SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                                  NULL));
        execute(log, script);
        need(log, sqlite3_prepare_v2(log->database, insert, -1, &log->insert, NULL));
        return log;
}

void baseline_log_make_durable(baseline_log *log)
{
        execute(log, "PRAGMA synchronous = FULL");
}

void baseline_log_insert(baseline_log *log, const void *bytes, size_t n_bytes)
{
        struct timespec now;

        clock_gettime(CLOCK_REALTIME, &now);
        sqlite3_bind_int64(log->insert, 1, now.tv_sec * 1000000000LL + now.tv_nsec);
        sqlite3_bind_int64(log->insert, 2, getpid());
        sqlite3_bind_int64(log->insert, 3, geteuid());
        sqlite3_bind_text(log->insert, 4, "raw", -1, SQLITE_STATIC);
        sqlite3_bind_text(log->insert, 5, "Data", -1, SQLITE_STATIC);
        sqlite3_bind_int64(log->insert, 6, 1);
        sqlite3_bind_blob64(log->insert, 7, bytes, n_bytes, SQLITE_STATIC);
        if (sqlite3_step(log->insert) != SQLITE_DONE)
                baseline_fail(sqlite3_errmsg(log->database), 0);
        need(log, sqlite3_reset(log->insert));
}

baseline_log *baseline_log_close(baseline_log *log)
{
        if (!log)
                return NULL;
        sqlite3_finalize(log->insert);
        sqlite3_close_v2(log->database);
        free(log);
        return NULL;
}
