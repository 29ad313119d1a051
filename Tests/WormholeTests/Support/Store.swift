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
    database = try group.group.database("items", migrations: Self.schema + steps)
  }

  var path: String { "\(group.path)/items" }

  /// The same database as seen by another process.
  func makeOther(_ steps: [String] = []) throws -> SharedDatabase {
    try group.make().database("items", migrations: Self.schema + steps)
  }

  func count(_ table: String = "item") async throws -> Int {
    try await database.read { try $0.rows("SELECT * FROM \(table)").count }
  }

  func write(_ statements: String) async throws {
    try await database.write { try $0.run(statements) }
  }

  /// The change that statements make.
  func change(by statements: String) async throws -> SharedDatabase.Change {
    var changes = try database.changes().makeAsyncIterator()
    try await write(statements)
    return try #require(try await changes.next())
  }
}
