// Specifies how values pass through a database, and what its files are.
@testable import Wormhole

@Suite(.bounded)
struct SQLiteTests {
  private let schema = ["CREATE TABLE item(id INTEGER PRIMARY KEY, value)"]
  private let group: TemporaryGroup
  private let database: SharedDatabase

  init() throws {
    group = try TemporaryGroup()
    database = try group.group.database("items", migrations: .steps(schema))
  }

  @Test(
    arguments: [
      .null, .integer(.min), .integer(.max), .real(0.1), .text(""), .text("a\u{0}b"), .text("虫洞"),
      .blob(Data()), .blob(Data(repeating: 0xa5, count: 3 << 20)),
    ] as [SQLiteField])
  func valuesComeBackAsTheyWere(field: SQLiteField) async throws {
    let found = try await database.write { connection in
      try connection.run("INSERT INTO item(value) VALUES(?)", Raw(field: field))
      return try connection.rows("SELECT value FROM item").map(\.fields)
    }
    #expect(found == [[field]])
  }

  @Test func valuesOfAnotherTypeReadAsNothing() async throws {
    let row = try await database.read { connection in
      try #require(
        try connection.rows("SELECT 'x' AS text, 7 AS number, NULL AS none, 0.5 AS half").first)
    }
    #expect(row["text", as: String.self] == "x")
    #expect(row["text", as: Int.self] == nil)
    #expect(row["number", as: Int.self] == 7)
    #expect(row["number", as: Double.self] == 7)
    #expect(row["number", as: Bool.self] == true)
    #expect(row["number", as: Data.self] == nil)
    #expect(row["half", as: Int64.self] == nil)
    #expect(row["none", as: String.self] == nil)
    #expect(row["missing", as: String.self] == nil)
    #expect(row.columnNames == ["text", "number", "none", "half"])
  }

  @Test func statementsTakeTheirValuesInTurn() async throws {
    let values = try await database.write { connection in
      try connection.run(
        "INSERT INTO item VALUES(?, ?); INSERT INTO item VALUES(?, ?); -- done", 1, "a", 2, nil)
      return try connection.rows("SELECT * FROM item ORDER BY id").map(\.fields)
    }
    #expect(values == [[.integer(1), .text("a")], [.integer(2), .null]])
    for (wrong, reason): ([Int], String) in [([3], "too few values"), ([3, 4, 5], "too many")] {
      let error = await #expect(throws: WormholeError.self) {
        try await database.write { try $0.run("INSERT INTO item VALUES(?, ?)", arguments: wrong) }
      }
      #expect(error?.number == 25 && error?.reason?.hasPrefix(reason) == true)
    }
  }

  @Test func textsThatLookAlikeAreDifferentStatements() async throws {
    let texts = try await database.write { connection in
      try connection.run("INSERT INTO item(value) VALUES('caf\u{e9}')")
      try connection.run("INSERT INTO item(value) VALUES('cafe\u{301}')")
      return try connection.rows("SELECT hex(value) AS hex FROM item").map { $0["hex"] ?? "" }
    }
    #expect(texts == ["636166C3A9", "63616665CC81"])
  }

  @Test(arguments: [
    ("SELECT 1; DELETE FROM item", []), ("SELECT 1 AS a; SELECT 2 AS b; -- done", [2]),
    ("SELECT 1; SELECT 1 WHERE 0", []), ("SELECT 1; SELECT 2 UNION SELECT 3;", [2, 3]), ("", []),
  ])
  func theRowsAreThoseOfTheLastStatement(sql: String, expected: [Int64]) async throws {
    for _ in 1...2 {
      let rows = try await database.write { try $0.rows(sql) }
      #expect(rows.map(\.fields) == expected.map { [.integer($0)] })
    }
  }

  @Test func aStatementHasNoNUL() async throws {
    let error = WormholeError.database(
      code: 21, message: "a NUL in a statement, in SELECT 1;\\0DELETE FROM item")
    await #expect(throws: error) {
      try await database.write { try $0.run("SELECT 1;\u{0}DELETE FROM item") }
    }
    #expect(throws: WormholeError.migrationFailed) {
      try group.group.database(
        "others", migrations: .steps(["SELECT 1;\u{0}DELETE FROM item"]))
    }
  }

  @Test func nothingIsCommittedAfterAStatementThatRolledBack() async throws {
    let error = await #expect(throws: WormholeError.self) {
      try await database.write { connection in
        try connection.run("INSERT INTO item VALUES(1, 'a')")
        try? connection.run("INSERT OR ROLLBACK INTO item VALUES(1, 'b')")
      }
    }
    #expect(error?.number == 516 && error?.reason == "the transaction was ended inside")
    #expect(try await database.read { try $0.rows("SELECT * FROM item").isEmpty })
  }

  @Test func aTransactionThatIsOverIsNotCommitted() throws {
    let connections = StoreConnections(to: DatabaseFile(directory: group.path, name: "items"))
    let error = expect(.database) {
      try connections.use(\.writer, within: nil) { (connection) throws(WormholeError) in
        try connection.transaction(.immediate) { () throws(WormholeError) in
          try connection.run("INSERT INTO item VALUES(1, 'a')")
          try? connection.run("INSERT OR ROLLBACK INTO item VALUES(1, 'b')")
        }
      }
    }
    #expect(error?.number == 516)
  }

  /// An interrupt can also end the statement that rolls back.
  @Test func aConnectionThatIsLeftInATransactionIsNotUsedAgain() throws {
    let group = try TemporaryGroup()
    let connections = StoreConnections(to: DatabaseFile(directory: group.path, name: "items"))
    try connections.use(\.writer, within: nil, makes: true) {
      (connection) throws(WormholeError) in try connection.execute("BEGIN")
    }
    #expect(try connections.use(\.writer, within: nil) { $0.isInTransaction } == false)
  }

  @Test func aTransactionThatCannotBeCommittedIsRolledBack() throws {
    let connection = try SQLiteConnection(opening: "\(group.path)/items")
    try connection.execute(
      """
      PRAGMA foreign_keys = ON;
      CREATE TABLE part(item REFERENCES item DEFERRABLE INITIALLY DEFERRED);
      """)
    #expect(throws: WormholeError.self) {
      try connection.transaction(.immediate) { () throws(WormholeError) in
        try connection.execute("INSERT INTO part VALUES(7)")
      }.get()
    }
    #expect(!connection.isInTransaction)
    #expect(try connection.integer("SELECT count(*) FROM part") == 0)
  }

  /// Its number is the same, as it also may be for a new file after a removal.
  @Test func aFileIsNotLookedForAtTheOldPlaceOfItsNumber() throws {
    let group = try TemporaryGroup()
    let (first, second) = (
      StoreConnections(to: StoreFile(directory: group.path, name: "first", post: "a")),
      StoreConnections(to: StoreFile(directory: group.path, name: "second", post: "b"))
    )
    let (old, new) = (first.file.path, second.file.path)
    try Data(repeating: 65, count: 5000).write(to: URL(fileURLWithPath: old))
    #expect(throws: WormholeError.foreign(path: old)) {
      try first.use(\.readers, within: nil) { _ in }
    }
    try #require(rename(old, new) == 0)
    #expect(throws: WormholeError.foreign(path: new)) {
      try second.use(\.readers, within: nil) { _ in }
    }
  }

  @Test func filesAreForTheUserAlone() async throws {
    try await database.write { try $0.run("INSERT INTO item(value) VALUES(1)") }
    let files = try FileManager.default.contentsOfDirectory(atPath: group.path)
    #expect(files.contains("items"))
    for file in files { #expect(try mode("\(group.path)/\(file)") == 0o600, "\(file)") }
  }

  @Test(arguments: Keeper.allCases)
  func aFileThatIsNoDatabaseOrALinkIsForeign(_ keeper: Keeper) async throws {
    let site = try Site()
    let (path, other) = (keeper.path(in: site), "\(site.temporary.path)/others")
    let directory = URL(fileURLWithPath: path).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try Data(repeating: 65, count: 5000).write(to: URL(fileURLWithPath: path))
    await #expect(throws: WormholeError.foreign(path: path)) { try await keeper.write(2, in: site) }
    await #expect(throws: WormholeError.foreign(path: path)) { try await keeper.read(in: site) }
    try #require(unlink(path) == 0)
    try await keeper.write(2, in: site)
    try ForeignProgram.run("VACUUM INTO '\(other)'", on: path)
    ForeignProgram.remove(path)
    try #require(symlink(other, path) == 0)
    await #expect(throws: WormholeError.foreign(path: path)) { try await keeper.read(in: site) }
  }

  @Test(arguments: [
    "defaults", "wormhole", "items-wal", "items-shm", "items-journal", "\u{600}-wal",
  ])
  func reservedNamesAreRefused(name: String) throws {
    let group = group.group
    #expect(throws: WormholeError.reservedName(name)) { try group.database(name) }
    #expect(throws: WormholeError.invalidIdentifier) { try group.database("") }
  }

  @Test func aRemovedDirectoryIsCreatedAgain() async throws {
    let key = DefaultsKey("key", default: 0)
    try await group.group.defaults.set(1, for: key)
    try await database.write { try $0.run("INSERT INTO item(value) VALUES(1)") }
    try FileManager.default.removeItem(atPath: group.path)
    #expect(try await group.group.defaults[key] == 0)
    try await group.group.defaults.set(2, for: key)
    #expect(try await group.group.defaults[key] == 2)
    let count = try await database.read { try $0.rows("SELECT * FROM item").count }
    #expect(count == 0)
    try await database.write { try $0.run("INSERT INTO item(value) VALUES(1)") }
    #expect(try await database.read { try $0.rows("SELECT * FROM item").count } == 1)
  }
}

/// A value that is what a field holds.
private struct Raw: SQLiteValue {
  let field: SQLiteField

  init?(field: SQLiteField) {
    self.field = field
  }
}
