// Keeps named values in a database.

internal import Foundation

/// The table `entries`: one row for each name that was ever set.
///
/// Each change of a name gets the next number of the file; what was removed stays as a row without
/// a value. So whoever knows the number of the last change it saw finds all later ones.
struct DefaultsTable {
  /// What is known of a name.
  struct Entry {
    let name: String
    /// The encoded value, `nil` if it was removed.
    let value: Data?
    let number: Int64
    let sender: Sender
    let date: Date
  }

  static let schema = SQLiteSchema(
    applicationID: 0x5744_4546, version: 1,
    script: """
      CREATE TABLE entries(
        name TEXT PRIMARY KEY, value BLOB, number INTEGER NOT NULL UNIQUE,
        pid INTEGER NOT NULL, uid INTEGER NOT NULL, time INTEGER NOT NULL)
      """)

  private let database: SQLiteConnection

  init(in database: SQLiteConnection) {
    self.database = database
  }

  /// Returns what is kept under a name, also if it was removed.
  func entry(_ name: String) throws(WormholeError) -> Entry? {
    try first("SELECT \(Self.columns) FROM entries WHERE name = ?", .text(name))
  }

  /// Returns the earliest change behind a number.
  func entry(after number: Int64) throws(WormholeError) -> Entry? {
    try first(
      "SELECT \(Self.columns) FROM entries WHERE number > ? ORDER BY number LIMIT 1",
      .integer(number))
  }

  /// The number of the last change, 0 if there was none.
  func lastNumber() throws(WormholeError) -> Int64 {
    try database.integer("SELECT max(number) FROM entries") ?? 0
  }

  /// Keeps a value under a name, or removes it. Returns false if that changes nothing.
  func put(_ value: Data?, for name: String) throws(WormholeError) -> Bool {
    guard !name.isEmpty else { throw .invalidIdentifier }
    guard try entry(name)?.value != value else { return false }
    let sender = Sender.current
    try database.run(
      "INSERT OR REPLACE INTO entries VALUES(?, ?, ?, ?, ?, ?)",
      .text(name), value.map { .blob($0) } ?? .null, .integer(try lastNumber() &+ 1),
      .integer(Int64(sender.pid)), .integer(Int64(sender.uid)), .integer(Date().nanoseconds))
    return true
  }

  private static let columns = "name, value, number, pid, uid, time"

  private func first(
    _ sql: String, _ field: SQLiteField
  ) throws(WormholeError) -> Entry? {
    let path = database.path
    return try database.rows(sql, field) { (row) throws(WormholeError) in
      // Somebody else may have written the row.
      guard case .text(let name) = row.field(0), let number = row.integer(2),
        let pid = row.integer(3).flatMap({ Int32(exactly: $0) }),
        let uid = row.integer(4).flatMap({ UInt32(exactly: $0) }), let time = row.integer(5)
      else { throw .damaged(path: path) }
      return Entry(
        name: name, value: Data(field: row.field(1)), number: number,
        sender: Sender(pid: pid, uid: uid), date: Date(nanoseconds: time))
    }.first
  }
}

extension DefaultsKey {
  /// Decodes what is kept for the key.
  func value(of entry: DefaultsTable.Entry?) throws(WormholeError) -> Value {
    guard let data = entry?.value else { return defaultValue }
    do {
      return try JSONDecoder().decode(Value.self, from: data)
    } catch {
      throw .decoding("\(name): \(error)")
    }
  }

  /// Encodes a value: an equal one into equal bytes, so that setting it again is no change.
  func encode(_ value: Value) throws(WormholeError) -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    do {
      return try encoder.encode(value)
    } catch {
      throw .encoding("\(name): \(error)")
    }
  }
}
