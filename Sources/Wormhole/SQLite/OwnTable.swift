// Describes tables of this library in databases of a program.

/// A library table among those of a program.
struct OwnTable: Sendable {
  /// Names that begin with this belong to the library.
  static let prefix = "wormhole_"

  /// The name, with the prefix.
  let name: String

  /// The columns, in parentheses, with what follows them.
  let columns: String

  /// Returns whether the table exists.
  ///
  /// - Throws: ``WormholeError/foreign`` if something else has its name, or if another program has
  ///   put a trigger on it.
  func exists(in database: SQLiteConnection) throws(WormholeError) -> Bool {
    let found = try database.rows(
      """
      SELECT sql FROM main.sqlite_master
      WHERE lower(tbl_name) = ? AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      """, .text(name)
    ) { row in row.field(0) }
    guard found.allSatisfy({ $0 == .text("CREATE TABLE \(name)\(columns)") }) else {
      throw .foreign(path: database.path)
    }
    return !found.isEmpty
  }

  /// Creates the table, in a transaction.
  func create(in database: SQLiteConnection) throws(WormholeError) {
    try database.execute("CREATE TABLE main.\(name)\(columns)")
  }
}
