/* Gives SwiftPM the compile and link flags of SQLite. */
#pragma once
#include <sqlite3.h>
