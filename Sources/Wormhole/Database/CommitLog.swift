// Records the commits of a database.

internal import DarwinNotifySupport
internal import FoundationEssentials
internal import Glibc

/// The table `wormhole_commits`, which has a row for each commit of this library that changed
/// something.
///
/// The row is part of the commit: either both exist or neither. The table is created with the first
/// commit; its newest row is never removed, so that no number is assigned twice.
struct CommitLog {
  /// The number of commits that are kept.
  static let historyLength: Int64 = 10_000

  /// The number of old commits that are removed at a time.
  private static let trimmedLength: Int64 = 64

  /// Longer descriptions, written by other programs, are not read.
  private static let maxBytes = 1 << 20

  /// `changes` is a JSON object: for each table an array of row ids, or `null` if any of its rows
  /// may have changed. If it is NULL, any row of any table may have.
  private static let table = OwnTable(
    name: "wormhole_commits",
    columns: """
      (
        number INTEGER PRIMARY KEY,
        time INTEGER NOT NULL
          DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000),
        pid INTEGER, process INTEGER, program TEXT, changes TEXT)
      """)

  let database: SQLiteConnection

  /// Runs a body as a transaction whose changes are recorded.
  ///
  /// - Returns: what the body returns or throws; whether it changed anything.
  func record<Value>(
    _ body: () throws -> Value
  ) throws(WormholeError) -> (result: Result<Value, any Error>, hasChanged: Bool) {
    var hasChanged = false
    var isCommitted = false
    // A table created by a transaction is rolled back with it.
    defer { if !isCommitted { database.checkedSchema = nil } }
    let result = try database.transaction(.immediate) { () throws -> Value in
      if try !exists() { try Self.table.create(in: database) }
      let (schema, count) = (try schemaVersion(), database.totalChangedRowCount)
      database.recorder?.pointee.reset()
      let value = try body()
      if try schemaVersion() != schema {
        hasChanged = true
        try append(nil)
        database.checkedSchema = nil
      } else if database.recorder.map({ !$0.pointee.isEmpty })
        ?? (database.totalChangedRowCount != count)
      {
        hasChanged = true
        try append(try changes())
      }
      return value
    }
    if case .success = result { isCommitted = true }
    return (result, hasChanged && isCommitted)
  }

  /// Returns the number of the last commit, 0 if there was none.
  func last() throws(WormholeError) -> Int64 {
    guard try exists() else { return 0 }
    let number =
      try database.integer("SELECT max(number) FROM main.\(Self.table.name)") ?? 0
    // SQLite could otherwise continue with any number above the greatest.
    guard (0..<Int64.max).contains(number) else { throw .damaged(path: database.path) }
    return number
  }

  /// Returns some of the commits after a number, in order.
  func commits(
    after number: Int64, limit: Int
  ) throws(WormholeError) -> [SharedDatabase.Change] {
    guard try exists() else { return [] }
    return try database.rows(
      """
      SELECT number, time, pid, process, program,
        CASE WHEN length(changes) <= \(Self.maxBytes) THEN changes END
      FROM main.\(Self.table.name) WHERE number > ? ORDER BY number LIMIT \(limit)
      """, .integer(number), make: SharedDatabase.Change.init)
  }

  // MARK: - Parts

  /// Returns whether the table exists. Checks again if the schema has changed.
  private func exists() throws(WormholeError) -> Bool {
    let schema = try schemaVersion()
    if let schema, schema == database.checkedSchema { return true }
    guard try Self.table.exists(in: database) else { return false }
    database.checkedSchema = schema
    return true
  }

  private func schemaVersion() throws(WormholeError) -> Int64? {
    try database.integer("PRAGMA main.schema_version")
  }

  /// The changed rows, as JSON; `nil` if unknown.
  private func changes() throws(WormholeError) -> String? {
    guard var changes = database.recorder?.pointee.changes else { return nil }
    for table in changes.keys where try !hasRowIDs(table) { changes[table] = .some(nil) }
    let json = try? JSONEncoder().encode(changes.mapValues { $0?.sorted() })
    return json.map { String(decoding: $0, as: UTF8.self) }
  }

  private func hasRowIDs(_ table: String) throws(WormholeError) -> Bool {
    try database.integer(
      "SELECT wr FROM pragma_table_list(?) WHERE schema = 'main'", .text(table)) == 0
  }

  /// Adds a commit and removes old ones.
  private func append(_ changes: String?) throws(WormholeError) {
    let name = "main.\(Self.table.name)"
    let number = try last() + 1
    let before = try database.integer(
      "SELECT time FROM \(name) WHERE number = ?", .integer(number - 1))
    let now = Date().nanoseconds
    try database.run(
      "INSERT INTO \(name) VALUES(?, ?, ?, ?, ?, ?)",
      .integer(number), .integer(max(now, before.map { $0 &+ 1 } ?? now)),
      .integer(Int64(getpid())), ProcessNumber.current.field, .text(Sender.ownProgram),
      changes.map { .text($0) } ?? .null)
    guard number % Self.trimmedLength == 0, number > Self.historyLength else { return }
    try database.run(
      "DELETE FROM \(name) WHERE number <= ?", .integer(number - Self.historyLength))
  }
}

extension SharedDatabase.Change {
  /// Reads a row, possibly written by another program.
  fileprivate init(_ row: SQLiteStatement) {
    let text = row.validText(5) ?? ""
    let changes = try? JSONDecoder().decode([String: [Int64]?].self, from: Data(text.utf8))
    self.init(
      sequence: UInt64(clamping: row.integer(0) ?? 0), tables: Set((changes ?? [:]).keys),
      rowIDs: (changes ?? [:]).compactMapValues { $0.map { Set($0) } }, isComplete: changes != nil,
      sender: Sender(
        pid: row.integer(2).flatMap { Int32(exactly: $0) } ?? 0,
        number: row.integer(3).map { UInt64(bitPattern: $0) } ?? 0, program: row.validText(4)),
      date: Date(nanoseconds: row.integer(1) ?? 0))
  }
}
