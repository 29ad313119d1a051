// Recognizes the database files of this library.

internal import CSQLite

/// The contents of a database file of this library.
struct SQLiteSchema: Sendable {
  /// The number in the header of the file that identifies its kind: four letters.
  let applicationID: Int32

  /// The version of the tables, 1 or more.
  let version: Int

  /// The statements that create the tables.
  let script: String

  /// A statement that fills the tables, with its parameter.
  var filling: (sql: String, field: SQLiteField)?

  enum State {
    /// The file exists without tables.
    case empty

    /// The tables are there.
    case ready
  }

  /// Checks whether the file is one of ours.
  ///
  /// - Throws: ``WormholeError/foreign``, ``WormholeError/unknownFormat``.
  func check(_ connection: SQLiteConnection) throws(WormholeError) -> State {
    guard !connection.isInTransaction else { return try look(connection) }
    // In one transaction: another process may be creating the tables.
    return try connection.transaction(.deferred) { () throws(WormholeError) in
      try look(connection)
    }.get()
  }

  private func look(_ connection: SQLiteConnection) throws(WormholeError) -> State {
    let found = try connection.integer("PRAGMA application_id")
    if found == Int64(applicationID) {
      let foundVersion = try connection.integer("PRAGMA user_version") ?? 0
      guard foundVersion == version else {
        throw .unknownFormat(version: Int(foundVersion), path: connection.path)
      }
      // Triggers and views of another program would run, or be read, instead of the tables.
      let foreign = "SELECT count(*) FROM sqlite_master WHERE type IN ('view', 'trigger')"
      guard try connection.integer(foreign) == 0 else { throw .foreign(path: connection.path) }
      return .ready
    }
    guard found == 0, try connection.integer("SELECT count(*) FROM sqlite_master") == 0 else {
      throw .foreign(path: connection.path)
    }
    return .empty
  }

  /// Creates the tables, unless another process just did.
  func create(in connection: SQLiteConnection) throws(WormholeError) {
    try connection.transaction(.immediate) { () throws(WormholeError) in
      guard try check(connection) == .empty else { return }
      try connection.execute(
        """
        \(script);
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        """)
      if let filling { try connection.run(filling.sql, filling.field) }
    }.get()
  }
}

/// Returns the name of a table or the like as it stands in a statement.
func sqlIdentifier(_ name: String) -> String { quoted(name, with: "\"") }

/// Returns a text as it stands in a statement.
func sqlLiteral(_ text: String) -> String { quoted(text, with: "'") }

/// A quote and a combining accent are one character in Swift, but SQLite still sees the quote.
private func quoted(_ text: String, with quote: Unicode.Scalar) -> String {
  var quoted = String.UnicodeScalarView([quote])
  for scalar in text.unicodeScalars {
    if scalar == quote { quoted.append(quote) }
    quoted.append(scalar)
  }
  quoted.append(quote)
  return String(quoted)
}
