// Stores named values in a database.

internal import FoundationEssentials

/// The table `entries`: one row for each name that was ever set.
///
/// Each change of a name gets the next number of the file; a removed value stays as a row without a
/// value. So a reader that knows the number of the last change it saw finds all later ones.
struct DefaultsTable {
  /// The entry of a name.
  struct Entry {
    let name: String
    /// The encoded value, `nil` if it was removed.
    let value: Data?
    let number: Int64
    let sender: Wormhole.Sender
    let date: Date
  }

  /// A row, which another program may have written.
  struct Row {
    /// The number of the change, 0 if the column holds something else.
    let number: Int64
    let entry: Result<Entry, WormholeError>
  }

  static let schema = SQLiteSchema(
    applicationID: 0x5744_4546, version: 1,
    script: """
      CREATE TABLE entries(
        name TEXT PRIMARY KEY, value BLOB, number INTEGER NOT NULL UNIQUE,
        time INTEGER NOT NULL,
        pid INTEGER NOT NULL, uid INTEGER NOT NULL, process INTEGER NOT NULL)
      """)

  private let database: SQLiteConnection

  init(in database: SQLiteConnection) {
    self.database = database
  }

  /// Returns the entry of a name, even if the value was removed.
  func entry(_ name: String) throws(WormholeError) -> Entry? {
    try row(name)?.entry.get()
  }

  /// Returns the row of a name.
  func row(_ name: String) throws(WormholeError) -> Row? {
    try first("SELECT \(Self.columns) FROM entries WHERE name = ?", .text(name))
  }

  /// Returns the row of the earliest change after a number.
  func row(after number: Int64) throws(WormholeError) -> Row? {
    try first(
      """
      SELECT \(Self.columns) FROM entries WHERE number > ? AND \(Self.isNumbered)
      ORDER BY number LIMIT 1
      """, .integer(number))
  }

  /// Returns the names that have a value.
  func names() throws(WormholeError) -> [String] {
    try database.rows("SELECT name FROM entries WHERE value IS NOT NULL ORDER BY name") { row in
      String(field: row.field(0))
    }.compactMap(\.self)
  }

  /// The number of the last change, 0 if there was none.
  func lastNumber() throws(WormholeError) -> Int64 {
    try database.integer(
      "SELECT number FROM entries WHERE \(Self.isNumbered) ORDER BY number DESC LIMIT 1") ?? 0
  }

  /// Stores a value under a name, or removes it. Returns false if that changes nothing.
  func put(_ value: Data?, for name: String) throws(WormholeError) -> Bool {
    guard !name.isEmpty else { throw .invalidIdentifier }
    switch try row(name)?.entry {
    case .success(let entry): guard entry.value != value else { return false }
    case .failure: break
    case nil: guard value != nil else { return false }
    }
    let sender = Wormhole.Sender.current.fields
    try database.run(
      """
      INSERT INTO entries(\(Self.columns)) VALUES(?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT(name) DO UPDATE SET
      value = excluded.value, number = excluded.number, time = excluded.time,
      pid = excluded.pid, uid = excluded.uid, process = excluded.process
      """,
      .text(name), value.map { .blob($0) } ?? .null, .integer(try nextNumber()),
      .integer(Date().nanoseconds), sender[0], sender[1], sender[2])
    return true
  }

  /// The first number of a file is random, so that a number from another file is not among the
  /// numbers of this one.
  private func nextNumber() throws(WormholeError) -> Int64 {
    let last = try lastNumber()
    guard last != 0 else { return 1 + Int64.random(in: 0..<1 << 30) << 32 }
    guard (1..<Int64.max).contains(last) else { throw .damaged(path: database.path) }
    return last + 1
  }

  private static let columns = "name, value, number, time, pid, uid, process"

  /// Another program may have written a row whose number is something else.
  private static let isNumbered = "typeof(number) = 'integer'"

  private func first(_ sql: String, _ field: SQLiteField) throws(WormholeError) -> Row? {
    try database.rows(sql, field) { row in
      Row(number: row.integer(2) ?? 0, entry: entry(in: row))
    }.first
  }

  private func entry(in row: SQLiteStatement) -> Result<Entry, WormholeError> {
    let value: Data?
    switch row.field(1) {
    case .blob(let data): value = data
    case .null: value = nil
    default: return .failure(.damaged(path: database.path))
    }
    guard case .text(let name) = row.field(0), let number = row.integer(2),
      let time = row.integer(3), let sender = row.sender(from: 4)
    else { return .failure(.damaged(path: database.path)) }
    return .success(
      Entry(
        name: name, value: value, number: number, sender: sender,
        date: Date(nanoseconds: time)))
  }
}

extension DefaultsKey {
  /// Decodes the value stored under the key.
  func value(of entry: DefaultsTable.Entry?) throws(WormholeError) -> Value {
    guard let data = entry?.value else { return defaultValue }
    do {
      return try JSONDecoder().decode(Value.self, from: data)
    } catch {
      throw .decoding("\(name): \(sentence(of: error))")
    }
  }

  /// Encodes a value. Equal values have equal bytes, so that setting one again is no change.
  func encode(_ value: Value) throws(WormholeError) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    do {
      return try encoder.encode(value)
    } catch {
      throw .encoding("\(name): \(sentence(of: error))")
    }
  }
}
