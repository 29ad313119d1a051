// Changes databases like a program without the library.
import CSQLite

/// A program that knows nothing of the library.
enum ForeignProgram {
  /// Runs statements on a file.
  static func run(_ sql: String, on path: String) throws {
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    try #require(sqlite3_open(path, &handle) == SQLITE_OK)
    sqlite3_busy_timeout(handle, 10_000)
    let result = sqlite3_exec(handle, sql, nil, nil, nil)
    try #require(result == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
  }

  /// Tries to run statements on a file. Returns the result code of SQLite.
  static func result(of sql: String, on path: String) throws -> Int32 {
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    try #require(sqlite3_open(path, &handle) == SQLITE_OK)
    sqlite3_busy_timeout(handle, 10_000)
    return sqlite3_exec(handle, sql, nil, nil, nil)
  }

  /// Overwrites bytes of a file. All pages are first moved into it.
  static func overwrite(_ path: String, _ body: (inout Data) throws -> Void) throws {
    try run("PRAGMA wal_checkpoint(TRUNCATE)", on: path)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    try body(&bytes)
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  /// Removes a database with all its files.
  static func remove(_ path: String) {
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
  }
}

/// A writer without the library that has begun a transaction on a file. It ends with this object.
final class ForeignWriter {
  private var handle: OpaquePointer?

  /// Commits statements, and begins another transaction later.
  func commit(_ sql: String) throws {
    if sqlite3_get_autocommit(handle) != 0 {
      try #require(sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
    }
    try #require(sqlite3_exec(handle, "\(sql); COMMIT", nil, nil, nil) == SQLITE_OK)
  }

  init(of path: String) throws {
    try #require(sqlite3_open(path, &handle) == SQLITE_OK)
    try #require(sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
  }

  deinit { sqlite3_close(handle) }
}

/// A reader without the library that has begun a transaction on a file, and never ends it.
final class ForeignReader {
  private var handle: OpaquePointer?

  init(of path: String) throws {
    try #require(sqlite3_open(path, &handle) == SQLITE_OK)
    let begin = "BEGIN; SELECT count(*) FROM sqlite_master"
    try #require(sqlite3_exec(handle, begin, nil, nil, nil) == SQLITE_OK)
  }

  deinit { sqlite3_close(handle) }
}
