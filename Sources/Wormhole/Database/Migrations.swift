// Migrates a database to the schema of the program.

internal import Glibc

/// The steps from each version of a schema to the next. The file header has the version.
struct Migrations: Sendable {
  private let steps: [String]

  init(_ steps: [String]) {
    self.steps = steps
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
    guard try version(of: database) == steps.count else {
      throw .system(code: EROFS, path: database.path)
    }
  }

  private func version(of database: SQLiteConnection) throws(WormholeError) -> Int {
    let version = try database.integer("PRAGMA user_version") ?? 0
    guard version <= steps.count else {
      throw .newerSchema(found: Int(version), known: steps.count)
    }
    guard version >= 0 else { throw .unknownFormat(version: Int(version), path: database.path) }
    return Int(version)
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
    let version = try version(of: database)
    guard version < steps.count else { return true }
    do throws(WormholeError) {
      try database.execute(steps[version])
    } catch .database(let code, let message) {
      throw .database(code: code, message: "migration \(version + 1): \(message)")
    }
    guard try database.rows("PRAGMA main.foreign_key_check", make: { _ in }).isEmpty else {
      throw .database(
        code: sqliteHasNoParent,
        message: "migration \(version + 1) leaves rows without a parent, in \(database.path)")
    }
    try database.execute("PRAGMA user_version = \(version + 1)")
    return false
  }
}
