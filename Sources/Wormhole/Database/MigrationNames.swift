// Remembers which migrations have been run.

internal import DarwinNotifySupport

/// The table `wormhole_migrations`: the names of the migrations that a database has run. It is made
/// when the first one runs.
struct MigrationNames {
  static let table = "wormhole_migrations"

  private static let statement = "CREATE TABLE \(table)(name TEXT PRIMARY KEY) WITHOUT ROWID"

  private let database: SQLiteConnection

  init(in database: SQLiteConnection) {
    self.database = database
  }

  /// Returns the names.
  ///
  /// - Throws: ``WormholeError/foreign(path:)`` if something else has the name of the table, or
  ///   another program reacts to what is written to it.
  func all() throws(WormholeError) -> Set<ExactString> {
    guard try check() else { return [] }
    let names = try database.rows("SELECT name FROM main.\(Self.table)") { row in
      String(field: row.field(0)).map { ExactString($0) }
    }
    return Set(names.compactMap(\.self))
  }

  /// Adds a name, inside a transaction.
  func add(_ name: String) throws(WormholeError) {
    if try !check() { try database.execute(Self.statement) }
    try database.run("INSERT INTO main.\(Self.table) VALUES(?)", .text(name))
  }

  /// Returns whether the table exists, with the schema it was created with.
  private func check() throws(WormholeError) -> Bool {
    let found = try database.rows(
      """
      SELECT sql FROM main.sqlite_master
      WHERE lower(tbl_name) = '\(Self.table)' AND name NOT LIKE 'sqlite_%'
      """
    ) { row in String(field: row.field(0)) }
    guard found.allSatisfy({ $0 == Self.statement }) else { throw .foreign(path: database.path) }
    return !found.isEmpty
  }
}
