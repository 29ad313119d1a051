// Records the changes of a database.

internal import FoundationEssentials

/// The tables `wormhole_changes`, `wormhole_kinds`, `wormhole_commits` and `wormhole_tables`.
///
/// Triggers on every table add a row to `wormhole_changes` for each changed row, no matter
/// which program changes it, or how: SQLite's hooks see only the changes of one connection, and not
/// all of them.
/// `wormhole_kinds` has the kind of each change. A transaction of this library signs its rows in
/// `wormhole_commits`. `wormhole_tables` has the names of the tables with triggers, so that a
/// dropped table is noticed. The newest change is never removed, so that no number is given out
/// twice. The first number is random and stands for no change: a number from an earlier file at
/// this path is then not among the numbers of this one.
struct ChangeLog {
  /// How many changes are kept. They take a few megabytes; readers that are further behind read
  /// everything again.
  static let historyLength: Int64 = 100_000

  /// Old changes are removed many at a time.
  private static let trimmedLength = historyLength / 8

  let database: SQLiteConnection

  init(in database: SQLiteConnection) {
    self.database = database
  }

  /// Creates the missing tables of the log.
  ///
  /// - Throws: ``WormholeError/foreign`` if something else has the name of one of them, or
  ///   another program reacts to what is written to them.
  func create() throws(WormholeError) {
    guard try !check() else { return }
    try database.transaction(.immediate) { () throws(WormholeError) in try createTables() }.get()
  }

  func createTables() throws(WormholeError) {
    for (table, columns) in Self.tables {
      try database.execute("CREATE TABLE IF NOT EXISTS \(table)\(columns)")
    }
    // The first number is drawn, and stands for no change.
    try database.execute(
      """
      INSERT INTO wormhole_changes(id, name)
      SELECT (random() & 0x3fffffff) << 32 | 1, ''
      WHERE NOT EXISTS(SELECT 1 FROM wormhole_changes)
      """)
  }

  private static let tables = [
    "wormhole_changes": "(id INTEGER PRIMARY KEY, name TEXT NOT NULL, row INTEGER)",
    "wormhole_kinds": "(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL)",
    "wormhole_commits": """
    (last INTEGER PRIMARY KEY, first INTEGER NOT NULL, time INTEGER NOT NULL,
    pid INTEGER NOT NULL, uid INTEGER NOT NULL, process INTEGER NOT NULL)
    """,
    "wormhole_tables": "(name TEXT PRIMARY KEY) WITHOUT ROWID",
  ]

  /// The names of the tables, for statements.
  static let tableList = tables.keys.sorted().map { "'\($0)'" }.joined(separator: ", ")

  /// Returns whether the tables are there, as they were made.
  func check() throws(WormholeError) -> Bool {
    let found = try database.rows(
      """
      SELECT name, sql, type FROM main.sqlite_master
      WHERE lower(tbl_name) IN (\(Self.tableList))
      AND name NOT LIKE 'sqlite_%'
      """
    ) { row in (String(field: row.field(0)), String(field: row.field(1))) }
    for (name, sql) in found {
      guard let name, let columns = Self.tables[name], sql == "CREATE TABLE \(name)\(columns)"
      else { throw .foreign(path: database.path) }
    }
    return found.count == Self.tables.count
  }

  /// Runs a body as a transaction whose changes are recorded.
  ///
  /// - Returns: what the body returns or throws; whether it changed anything.
  func record<Value>(
    _ body: () throws -> Value
  ) throws(WormholeError) -> (result: Result<Value, any Error>, hasChanged: Bool) {
    var hasChanged = false
    do throws(WormholeError) {
      let result = try database.transaction(.immediate) { () throws -> Value in
        // Another program may have created tables. Earlier changes are not ours.
        try watchTables()
        let last = try lastID()
        let value = try database.withoutLimit(body)
        try watchTables()
        hasChanged = try sign(after: last)
        return value
      }
      if case .failure = result {
        database.watchedSchema = nil
        hasChanged = false
      }
      return (result, hasChanged)
    } catch {
      database.watchedSchema = nil
      throw error
    }
  }

  /// Signs the changes after a number. Returns false if there are none.
  private func sign(after last: Int64) throws(WormholeError) -> Bool {
    let newest = try lastID()
    guard newest > last else { return false }
    let sender = Wormhole.Sender.current.fields
    try database.run(
      "INSERT INTO wormhole_commits VALUES(?, ?, ?, ?, ?, ?)",
      .integer(newest), .integer(last + 1), .integer(Date().nanoseconds), sender[0], sender[1],
      sender[2])
    let floor = newest - Self.historyLength
    if try firstID() + Self.trimmedLength <= floor {
      for (table, number) in ["changes": "id", "kinds": "id", "commits": "last"] {
        try database.run("DELETE FROM wormhole_\(table) WHERE \(number) <= ?", .integer(floor))
      }
    }
    return true
  }

  /// The number of the last change, 0 if there was none.
  func lastID() throws(WormholeError) -> Int64 {
    let id = try database.integer("SELECT max(id) FROM wormhole_changes") ?? 0
    // SQLite would continue with any number after the greatest.
    guard (0..<Int64.max).contains(id) else { throw .damaged(path: database.path) }
    return id
  }

  /// The number of the first change that is kept, or of none.
  func firstID() throws(WormholeError) -> Int64 {
    try database.integer("SELECT min(id) FROM wormhole_changes") ?? 0
  }
}
