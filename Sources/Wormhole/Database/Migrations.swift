// Migrates a database to the schema of the program.

internal import DarwinNotifySupport
internal import Glibc

/// The steps of a schema. The file header has the number of completed steps; steps with
/// names are also recorded by name.
struct Migrations: Sendable {
  private enum Steps {
    case numbered([String])
    case named([SharedDatabase.Migration])
  }

  private let steps: Steps
  private let count: Int

  init(_ statements: [String]) {
    steps = .numbered(statements)
    count = statements.count
  }

  init(named migrations: [SharedDatabase.Migration], path: String) throws(WormholeError) {
    var names: Set<ExactString> = []
    for migration in migrations {
      guard !migration.name.isEmpty else { throw .invalidIdentifier }
      guard names.insert(ExactString(migration.name)).inserted else {
        throw .migrationFailed(
          name: migration.name, reason: "another migration has this name", path: path)
      }
    }
    steps = .named(migrations)
    count = migrations.count
  }

  /// Takes the missing steps, each in a separate transaction. Returns false if the database did not
  /// change.
  ///
  /// A step may rebuild a table that others refer to: references are checked at the end of the
  /// step.
  func run(in database: SQLiteConnection) throws(WormholeError) -> Bool {
    try ChangeLog(in: database).create()
    try database.execute("PRAGMA foreign_keys = OFF")
    let hasChanged = try takeSteps(in: database)
    try database.execute("PRAGMA foreign_keys = ON")
    return hasChanged
  }

  /// Makes sure that a file that cannot be written needs no step.
  func check(_ database: SQLiteConnection) throws(WormholeError) {
    guard try plan(for: database).next == nil else {
      throw .system(code: EROFS, path: database.path)
    }
  }

  private func takeSteps(in database: SQLiteConnection) throws(WormholeError) -> Bool {
    let log = ChangeLog(in: database)
    var (isDone, hasChanged) = (false, false)
    while !isDone {
      let (result, change) = try log.record { isDone = try takeStep(in: database) }
      do {
        try result.get()
      } catch let error as WormholeError {
        throw error
      } catch {
        preconditionFailure("a step threw \(error)")
      }
      hasChanged = hasChanged || change
    }
    return hasChanged
  }

  /// Takes the next step, which is determined inside the transaction, since another process may
  /// have taken it meanwhile. Returns true if there is none.
  private func takeStep(in database: SQLiteConnection) throws(WormholeError) -> Bool {
    let plan = try plan(for: database)
    for name in plan.unrecorded { try MigrationNames(in: database).add(name) }
    guard let step = plan.next else { return true }
    try step.run(in: database)
    guard try database.rows("PRAGMA main.foreign_key_check", make: { _ in }).isEmpty else {
      throw step.leavesRowsWithoutParent(in: database)
    }
    if case .named(let migration) = step { try MigrationNames(in: database).add(migration.name) }
    try database.execute("PRAGMA user_version = \(plan.taken + 1)")
    return false
  }
}

extension Migrations {
  /// The work to do in a database.
  private struct Plan {
    /// The number of steps taken.
    let taken: Int

    /// The names of steps that were taken when they had none.
    var unrecorded: [String] = []

    let next: Step?
  }

  private func plan(for database: SQLiteConnection) throws(WormholeError) -> Plan {
    switch steps {
    case .numbered(let statements):
      let version = try version(of: database)
      let next = version < count ? Step.numbered(version + 1, statements[version]) : nil
      return Plan(taken: version, next: next)
    case .named(let migrations):
      let recorded = try MigrationNames(in: database).all()
      let unknown = recorded.subtracting(migrations.map { ExactString($0.name) })
      guard unknown.isEmpty else {
        throw .unknownMigrations(names: unknown.map(\.text).sorted(), path: database.path)
      }
      let version = try version(of: database)
      let missing = migrations.filter { !recorded.contains(ExactString($0.name)) }
      let unrecorded = missing.prefix(max(0, version - recorded.count))
      return Plan(
        taken: recorded.count + unrecorded.count, unrecorded: unrecorded.map(\.name),
        next: missing.dropFirst(unrecorded.count).first.map { .named($0) })
    }
  }

  private func version(of database: SQLiteConnection) throws(WormholeError) -> Int {
    let version = try database.integer("PRAGMA user_version") ?? 0
    guard version <= count else {
      throw .newerSchema(found: Int(version), known: count, path: database.path)
    }
    guard version >= 0 else { throw .unknownFormat(version: Int(version), path: database.path) }
    return Int(version)
  }

  private enum Step {
    case numbered(Int, String)
    case named(SharedDatabase.Migration)

    func run(in database: SQLiteConnection) throws(WormholeError) {
      switch self {
      case .numbered(let number, let statements):
        do throws(WormholeError) {
          try database.execute(statements)
        } catch let error where .database ~= error {
          throw error.with(reason: "migration \(number): \(error.reason ?? "")")
        }
      case .named(let migration):
        do {
          try migration.body(SharedDatabase.Connection(database))
        } catch {
          try WorkLimit.check()
          if case WormholeError.diskFull = error { throw .diskFull(path: database.path) }
          throw .migrationFailed(name: migration.name, reason: "\(error)", path: database.path)
        }
      }
    }

    func leavesRowsWithoutParent(in database: SQLiteConnection) -> WormholeError {
      switch self {
      case .numbered(let number, _):
        .database(
          code: sqliteHasNoParent,
          message: "migration \(number) leaves rows without a parent, in \(database.path)")
      case .named(let migration):
        .migrationFailed(
          name: migration.name, reason: "it leaves rows without a parent", path: database.path)
      }
    }
  }
}

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
  /// - Throws: ``WormholeError/foreign`` if something else has the name of the table, or
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
