// Migrates a database to the schema of the program.

internal import DarwinNotifySupport

extension SharedDatabase {
  /// A step that changes the schema of a database, or its contents.
  ///
  ///     let database = try group.database("lunch", migrations: [
  ///       SharedDatabase.Migration("dishes") { database in
  ///         try database.run("CREATE TABLE dish(id INTEGER PRIMARY KEY, name)")
  ///       },
  ///       SharedDatabase.Migration("capitals") { database in
  ///         for dish in try database.rows("SELECT * FROM dish", as: Dish.self) {
  ///           let name = dish.name.capitalized
  ///           try database.run("UPDATE dish SET name = ? WHERE id = ?", name, dish.id)
  ///         }
  ///       },
  ///     ])
  public struct Migration: Sendable {
    /// The name by which the database remembers that the migration has been run.
    public let name: String

    fileprivate let body: @Sendable (borrowing Connection) throws -> Void

    /// Creates a migration.
    ///
    /// - Parameters:
    ///   - name: a nonempty name, never changed later.
    ///   - body: what to do, in a transaction. It may run again after it has failed.
    public init(_ name: String, _ body: @escaping @Sendable (borrowing Connection) throws -> Void) {
      self.name = name
      self.body = body
    }
  }
}

/// The migrations of a program, with the table `wormhole_migrations`, which lists those that a
/// database has run. The table is created when the first migration runs.
struct Migrations: Sendable {
  private static let table = OwnTable(
    name: "wormhole_migrations", columns: "(name TEXT PRIMARY KEY) WITHOUT ROWID")

  private let list: [SharedDatabase.Migration]

  init(_ list: [SharedDatabase.Migration], path: String) throws(WormholeError) {
    var names: Set<ExactString> = []
    for migration in list {
      guard !migration.name.isEmpty else { throw .invalidIdentifier }
      guard names.insert(ExactString(migration.name)).inserted else {
        throw .migrationFailed(
          name: migration.name, reason: "another migration has this name", path: path)
      }
    }
    self.list = list
  }

  /// Returns the first migration that a database has not run; `nil` if it has run all.
  ///
  /// - Throws: ``WormholeError/unknownMigrations`` if a later version of the program has run
  ///   others.
  func next(in database: SQLiteConnection) throws(WormholeError) -> SharedDatabase.Migration? {
    guard try Self.table.exists(in: database) else { return list.first }
    let names = try database.rows("SELECT name FROM main.\(Self.table.name)") { row in
      String(field: row.field(0)).map { ExactString($0) }
    }
    let recorded = Set(names.compactMap(\.self))
    let unknown = recorded.subtracting(list.map { ExactString($0.name) })
    guard unknown.isEmpty else {
      throw .unknownMigrations(names: unknown.map(\.text).sorted(), path: database.path)
    }
    return list.first { !recorded.contains(ExactString($0.name)) }
  }

  /// Runs the missing migrations, each in a separate transaction. Returns false if the database did
  /// not change.
  ///
  /// A migration may rebuild a table that others refer to: references are checked at its end.
  func run(in database: SQLiteConnection) throws(WormholeError) -> Bool {
    try database.execute("PRAGMA foreign_keys = OFF")
    defer { try? database.executeInAnyCase("PRAGMA foreign_keys = ON") }
    var hasChanged = false
    while true {
      let (result, change) = try CommitLog(database: database).record { try runNext(in: database) }
      hasChanged = hasChanged || change
      database.restartWaits()
      do {
        if try !result.get() { return hasChanged }
      } catch {
        throw error as? WormholeError ?? .database(code: sqliteMisuse, message: "\(error)")
      }
    }
  }

  /// Runs the next migration, which is determined inside the transaction, since another process may
  /// have run one meanwhile. Returns false if none is left.
  private func runNext(in database: SQLiteConnection) throws(WormholeError) -> Bool {
    guard let migration = try next(in: database) else { return false }
    do {
      try migration.body(SharedDatabase.Connection(database))
    } catch let error as WormholeError where [.diskFull, .cancelled, .timedOut].contains(error) {
      throw error
    } catch {
      throw .migrationFailed(name: migration.name, reason: "\(error)", path: database.path)
    }
    guard try database.rows("PRAGMA main.foreign_key_check", make: { _ in }).isEmpty else {
      throw .migrationFailed(
        name: migration.name, reason: "it leaves rows without a parent", path: database.path)
    }
    if try !Self.table.exists(in: database) { try Self.table.create(in: database) }
    try database.run("INSERT INTO main.\(Self.table.name) VALUES(?)", .text(migration.name))
    return true
  }
}
