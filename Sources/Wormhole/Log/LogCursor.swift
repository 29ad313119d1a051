// Stores the number of the last message that a reader of a log has handled.

internal import Glibc

/// A row of the table `cursors`, with the lock that reserves it for one reader.
final class LogCursor: Wormhole.MailboxCursor {
  private let cursor: String
  private let log: SQLiteStore
  private let lock: FileLock

  init(
    _ cursor: String, of name: String, in directory: String, store: SQLiteStore
  ) throws(WormholeError) {
    self.cursor = cursor
    log = store
    _ = try PrivateDirectory(directory)
    lock = try Self.lock(cursor, of: name, in: directory)
    // If it cannot be stored later, it is better to find out now.
    try keep(try position())
  }

  private static func lock(
    _ cursor: String, of name: String, in directory: String
  ) throws(WormholeError) -> FileLock {
    do throws(WormholeError) {
      return try FileLock(.exclusive, path(cursor, of: name, in: directory), timeout: .zero)
    } catch .busy {
      throw .cursorInUse(cursor)
    }
  }

  private static func path(_ cursor: String, of name: String, in directory: String) -> String {
    "\(directory)/\(fileName(cursor, of: name))"
  }

  /// Returns the name of the lock file of a cursor.
  static func fileName(_ cursor: String, of name: String) -> String {
    // Both names together can be too long for a file name.
    "\(FileName(for: "\(name)\u{0}\(cursor)").text)\(FileSuffix.cursor)"
  }

  func position() throws(WormholeError) -> UInt64 {
    let number = try log.find { (log) throws(WormholeError) in
      try log.integer("SELECT number FROM cursors WHERE name = ?", .text(cursor))
    }
    return UInt64(clamping: number ?? 0)
  }

  func advance(to number: UInt64) throws(WormholeError) {
    try keep(number)
  }

  private func keep(_ number: UInt64) throws(WormholeError) {
    try log.write { (log) throws(WormholeError) in
      try log.run(
        """
        INSERT INTO cursors VALUES(?, ?)
        ON CONFLICT DO UPDATE SET number = max(number, excluded.number)
        """, .text(cursor), .integer(Int64(clamping: number)))
    }
  }
}

extension LogCursor {
  /// Removes a cursor that nobody has open.
  static func remove(
    _ cursor: String, of name: String, in directory: String, store: SQLiteStore
  ) throws(WormholeError) {
    let lock = try lock(cursor, of: name, in: directory)
    try store.write { (log) throws(WormholeError) in
      try log.run("DELETE FROM cursors WHERE name = ?", .text(cursor))
    }
    unlink(path(cursor, of: name, in: directory))
    _ = consume lock
  }

  /// Returns the cursors of a log.
  static func list(in log: SQLiteConnection) throws(WormholeError) -> [Wormhole.Cursor] {
    try log.rows(
      """
      SELECT name, number, (SELECT count(*) FROM records WHERE records.number > cursors.number)
      FROM cursors ORDER BY name
      """
    ) { (row) throws(WormholeError) in
      guard let name = String(field: row.field(0)), let number = row.integer(1) else {
        throw .damaged(path: log.path)
      }
      return Wormhole.Cursor(
        name: name, sequence: UInt64(clamping: number), lag: Int(row.integer(2) ?? 0))
    }
  }
}
