// Sets up a database for one test.
import Wormhole

/// A database in a group of its own. Its table `item` has one row.
struct Store {
  static let schema = [
    "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT)", "INSERT INTO item VALUES(1, 'one')",
  ]

  let group: TemporaryGroup
  let database: SharedDatabase

  init(_ steps: [String] = [], on bus: PrivateBus? = nil) throws {
    group = try TemporaryGroup(bus)
    database = try group.group.database("items", migrations: .steps(Self.schema + steps))
  }

  var path: String { "\(group.path)/items" }

  /// The same database as seen by another process.
  func makeOther(_ steps: [String] = []) throws -> SharedDatabase {
    try group.make().database("items", migrations: .steps(Self.schema + steps))
  }

  func count(_ table: String = "item") async throws -> Int {
    try await database.read { try $0.rows("SELECT * FROM \(table)").count }
  }

  func write(_ statements: String) async throws {
    try await database.write { try $0.run(statements) }
  }

  /// The number of the last commit.
  func lastCommit() async throws -> UInt64 {
    try await database.read { try $0.lastCommit }
  }

  /// The change that statements make.
  func change(by statements: String) async throws -> SharedDatabase.Change {
    var changes = try database.changes().makeAsyncIterator()
    try await write(statements)
    return try #require(try await changes.next())
  }
}

extension [SharedDatabase.Migration] {
  /// Migrations that run statements, named after them.
  static func steps(_ statements: [String]) -> Self {
    statements.map { sql in SharedDatabase.Migration(sql) { try $0.run(sql) } }
  }
}
