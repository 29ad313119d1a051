// Keeps the state of one process in a database.

import Glibc
import Wormhole

/// A database used by a single process, whose changes wait for ``commit()``.
final class StateDatabase {
  private let connection: SQLiteConnection

  /// Whether there is something to commit.
  private(set) var isChanging = false

  /// Opens a file in an existing directory; creates it if it is missing.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - version: the version of the tables, 1 or more, stored in the header.
  ///   - schema: the statements that create the tables.
  /// - Throws: ``WormholeError``: `unknownFormat` if the tables have another version.
  init(_ path: String, version: Int64, schema: String) throws(WormholeError) {
    guard mknod(path, S_IFREG | 0o600, 0) == 0 || errno == EEXIST else {
      throw .system(code: errno, path: path)
    }
    connection = try SQLiteConnection(opening: path)
    let found = try connection.integer("PRAGMA user_version") ?? 0
    guard found == 0 || found == version else {
      throw .unknownFormat(version: Int(found), path: path)
    }
    // Nobody else uses it, so its lock is kept: each commit would take it six times.
    try connection.execute(
      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
    guard found == 0 else { return }
    try connection.execute("BEGIN; \(schema) PRAGMA user_version = \(version); COMMIT;")
  }

  /// Reads the rows of a query.
  func rows(_ sql: String, _ fields: SQLiteField...) throws(WormholeError) -> [[SQLiteField]] {
    let statement = try connection.statement(sql)
    let count = Int32(statement.columnNames.count)
    return try statement.withFields(fields[...]) { () throws(WormholeError) in
      var rows: [[SQLiteField]] = []
      while try statement.step() { rows.append((0..<count).map { statement.field($0) }) }
      return rows
    }
  }

  /// Changes something, together with all other changes until the next ``commit()``.
  func change(_ sql: String, _ fields: SQLiteField...) throws(WormholeError) {
    if !isChanging {
      try connection.run("BEGIN IMMEDIATE")
      isChanging = true
    }
    let statement = try connection.statement(sql)
    try statement.withFields(fields[...]) { () throws(WormholeError) in
      while try statement.step() {}
    }
  }

  /// Stores what was changed. It survives the end of the process, however it ends.
  func commit() throws(WormholeError) {
    guard isChanging else { return }
    try connection.run("COMMIT")
    isChanging = false
  }
}
