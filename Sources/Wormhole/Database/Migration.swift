// Describes a migration with a name.

extension SharedDatabase {
  /// A step, written in Swift, that changes the schema of a database or its contents.
  ///
  ///     let database = try group.database("lunch", migrations: [
  ///       SharedDatabase.Migration("dishes") { database in
  ///         try database.run("CREATE TABLE dish(id INTEGER PRIMARY KEY, name)")
  ///       },
  ///       SharedDatabase.Migration("trim names") { database in
  ///         for dish in try database.rows("SELECT * FROM dish", as: Dish.self) {
  ///           try database.update(dish.trimmed(), in: "dish")
  ///         }
  ///       },
  ///     ])
  public struct Migration: Sendable {
    /// The name by which the database remembers that the migration has been run.
    public let name: String

    let body: @Sendable (borrowing Connection) throws -> Void

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

extension AppGroup {
  /// Opens a database of the group with migrations that have names. Its file is created if it is
  /// missing.
  ///
  /// Each migration that has not been run yet runs once, in the order of the list, as a
  /// transaction, whichever process opens the database first. Insert a migration anywhere in the
  /// list, but do not rename or remove one. A database is refused if a later version of the program
  /// has run a migration there that is not in the list. Foreign keys are treated as in
  /// ``database(_:migrations:)-(_,[String])``.
  ///
  /// The migrations of a database can be given names later: if it has run some without names, that
  /// many at the start of the list count as run.
  ///
  /// - Parameters:
  ///   - name: any nonempty text, as in ``database(_:migrations:)-(_,[String])``.
  ///   - migrations: the migrations, in the order in which an empty database needs them.
  /// - Returns: the database, with its own connections.
  /// - Throws: ``WormholeError/migrationFailed``, also if two have the same
  ///   name: the migration that failed has changed nothing, earlier ones stay;
  ///   ``WormholeError/unknownMigrations``; what
  ///   ``database(_:migrations:)-(_,[String])`` throws.
  @_disfavoredOverload public func database(
    _ name: String, migrations: [SharedDatabase.Migration]
  ) throws(WormholeError) -> SharedDatabase {
    let file = try databaseFile(name)
    return try SharedDatabase(
      of: self, name: name, in: file,
      migrations: try Migrations(named: migrations, path: file.path))
  }
}
