// Specifies the changes of shared databases.
import Wormhole

@Suite(.bounded)
struct DatabaseChangesTests {
  private let schema = [
    "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT)", "INSERT INTO item VALUES(1, 'one')",
  ]

  @Test func aCommitIsSeenByAnotherProcessWithItsRows() async throws {
    let bus = try PrivateBus(.usual)
    let group = try TemporaryGroup(bus)
    let database = try group.group.database("items", migrations: schema)
    let watcher = try group.peer("database-watch", on: bus)
    await watcher.waitForLine("ready")
    let own = ProcessInfo.processInfo.processIdentifier
    for id in 2...20 {
      try await database.write { try $0.run("INSERT INTO item VALUES(?, 'x')", id) }
      await watcher.waitForLine("[\(id)] visible [\(id)] by \(own)")
    }
    #expect(watcher.lines.count == 20)
  }

  enum Failure: CaseIterable {
    case ofTheBody, ofTheCommit

    func occur(in connection: borrowing SharedDatabase.Connection) throws {
      if self == .ofTheBody { throw CancellationError() }
      try connection.run("INSERT INTO child VALUES(99)")  // without a parent: the commit fails
    }
  }

  /// A transaction that fails takes back what it has done to watch new tables, and the number of
  /// the schema: later another table may have the same number.
  @Test(arguments: Failure.allCases, 1...8)
  func tablesAreWatchedAfterAFailure(_ failure: Failure, tableCount: Int) async throws {
    let group = try TemporaryGroup()
    let path = "\(group.path)/items"
    let database = try group.group.database(
      "items",
      migrations: schema + [
        "CREATE TABLE child(item REFERENCES item DEFERRABLE INITIALLY DEFERRED)"
      ])
    try ForeignProgram.run("CREATE TABLE new(id)", on: path)
    await #expect(throws: (any Error).self) {
      try await database.write { try failure.occur(in: $0) }
    }
    for number in 1...tableCount {
      try ForeignProgram.run("CREATE TABLE new\(number)(id)", on: path)
    }
    try await database.write { _ in }
    let token = try await database.token
    try await database.write { try $0.run("INSERT INTO new\(tableCount) VALUES(1)") }
    #expect(try await database.token > token)
  }

  /// Tables beside `item`, statements, and the rows reported. What has none is only a table.
  @Test(
    arguments: [
      (
        [
          "CREATE TABLE part(id INTEGER PRIMARY KEY, item REFERENCES item ON DELETE CASCADE)",
          "INSERT INTO part VALUES(5, 1)",
        ], "DELETE FROM item", ["item": [1], "part": [5]]
      ),
      (
        ["CREATE TABLE n(id INTEGER PRIMARY KEY, a UNIQUE)", "INSERT INTO n VALUES(4, 'a')"],
        "REPLACE INTO n VALUES(10, 'a')", ["n": [4, 10]]
      ),
      (
        ["CREATE TABLE \"odd \"\"'name\"(key TEXT PRIMARY KEY) WITHOUT ROWID"],
        "INSERT INTO \"odd \"\"'name\" VALUES('a')", ["odd \"'name": []]
      ),
      (
        ["CREATE TABLE odd(rowid TEXT, oid TEXT)"], "INSERT INTO odd VALUES('a', 'b')", ["odd": [1]]
      ),
      (
        ["CREATE VIRTUAL TABLE text USING fts5(body)"],
        "INSERT INTO text VALUES('a'); DELETE FROM item", ["item": [1]]
      ),
    ] as [([String], String, [String: Set<Int64>])])
  func everyKindOfTableIsReported(
    steps: [String], statements: String, rows: [String: Set<Int64>]
  ) async throws {
    let database = try TemporaryGroup().group.database("items", migrations: schema + steps)
    var changes = try database.changes().makeAsyncIterator()
    try await database.write { try $0.run(statements) }
    let change = try #require(try await changes.next())
    #expect(change.tables == Set(rows.keys) && change.isComplete)
    #expect(change.rowIDs == rows.filter { !$0.value.isEmpty })
  }

  @Test func tablesThatComeAndGoAreReported() async throws {
    let database = try TemporaryGroup().group.database("items", migrations: schema)
    var changes = try database.changes().makeAsyncIterator()
    try await database.write { connection in
      try connection.run("CREATE TABLE new(id INTEGER PRIMARY KEY); INSERT INTO new VALUES(3)")
    }
    #expect(try await changes.next()?.kinds == ["new": [3: .inserted]])
    try await database.write { try $0.run("INSERT INTO new VALUES(4)") }
    #expect(try await changes.next()?.rowIDs == ["new": [4]])
    try await database.write { try $0.run("ALTER TABLE new RENAME TO newer") }
    #expect(try await changes.next()?.tables == ["new", "newer"])
    try await database.write { try $0.run("INSERT INTO newer VALUES(5)") }
    #expect(try await changes.next()?.rowIDs == ["newer": [5]])
    try await database.write { try $0.run("DROP TABLE newer") }
    #expect(try await changes.next()?.tables == ["newer"])
  }

  @Test(
    arguments: [
      "ALTER TABLE item RENAME TO old; CREATE TABLE item(id INTEGER PRIMARY KEY, name, more)",
      "ALTER TABLE item RENAME TO a; ALTER TABLE part RENAME TO item; ALTER TABLE a RENAME TO part",
      "ALTER TABLE item RENAME TO a; ALTER TABLE a RENAME TO Item",
      "ALTER TABLE item ADD COLUMN rowid",
      "DROP TRIGGER wormhole_insert_item",
    ], [false, true])
  func tablesCanChangeTheirNames(statements: String, isForeign: Bool) async throws {
    let group = try TemporaryGroup()
    let steps = schema + ["CREATE TABLE part(id INTEGER PRIMARY KEY, name TEXT)"]
    let database = try group.group.database("items", migrations: steps)
    if isForeign {
      try ForeignProgram.run(statements, on: "\(group.path)/items")
    } else {
      try await database.write { try $0.run(statements) }
    }
    let other = try group.make().database("items", migrations: steps)
    for id in 50...51 {
      let token = try await other.token
      try await other.write { try $0.run("INSERT INTO item(id, name) VALUES(?, 'x')", id) }
      var changes = try other.changes(since: token).makeAsyncIterator()
      var rows: Set<Int64> = []
      while !rows.contains(Int64(id)), let change = try await changes.next() {
        for (table, found) in change.rowIDs where table.lowercased() == "item" {
          rows.formUnion(found)
        }
      }
      #expect(rows.contains(Int64(id)))
    }
  }

  @Test func tablesThatLookAlikeAreBothWatched() async throws {
    let database = try TemporaryGroup().group.database("items")
    let names = ["\u{e9}", "e\u{301}", "quote\"\u{301}'\u{301}"]
    for name in names {
      let quoted = String(
        name.unicodeScalars.map { $0 == "\"" ? "\"\"" : "\($0)" }.joined())
      try await database.write { try $0.run("CREATE TABLE \"\(quoted)\"(value)") }
      var changes = try database.changes().makeAsyncIterator()
      try await database.write { try $0.run("INSERT INTO \"\(quoted)\" VALUES(1)") }
      let tables = try #require(try await changes.next()).tables
      #expect(tables.map { Array($0.utf8) } == [Array(name.utf8)])
    }
  }

  @Test func aTemporaryTableOfTheSameNameHidesNothing() async throws {
    let database = try TemporaryGroup().group.database("items")
    var changes = try database.changes().makeAsyncIterator()
    try await database.write { connection in
      try connection.run(
        "CREATE TEMP TABLE item(value); CREATE TABLE main.item(id INTEGER PRIMARY KEY)")
      try connection.run("INSERT INTO main.item VALUES(5)")
    }
    #expect(try await changes.next()?.rowIDs == ["item": [5]])
    try await database.write { try $0.run("INSERT INTO main.item VALUES(6)") }
    #expect(try await changes.next()?.rowIDs == ["item": [6]])
  }

  @Test func aRecreatedFileIsNoticed() async throws {
    let group = try TemporaryGroup()
    let database = try group.group.database("items", migrations: schema)
    try await database.write { try $0.run("INSERT INTO item VALUES(2, 'two')") }
    let token = try await database.token
    ForeignProgram.remove("\(group.path)/items")
    for id in 3...9 {
      try await database.write { try $0.run("INSERT INTO item VALUES(?, 'x')", id) }
    }
    var changes = try database.changes(since: token).makeAsyncIterator()
    let change = try #require(try await changes.next())
    #expect(!change.isComplete && change.tables == ["item"])
  }

  @Test func whatHappenedMeanwhileIsCaughtUpWith() async throws {
    let group = try TemporaryGroup()
    let token = try await group.group.database("items", migrations: schema).token
    for id in 2...4 {
      let sql = "INSERT INTO item VALUES(\(id), 'x')"
      await (try group.peer("database-write", sql)).waitForSuccess()
    }
    let database = try group.make().database("items", migrations: schema)
    let changes = try database.changes(in: ["item"], since: token)
    for _ in 1...2 {
      var iterator = changes.makeAsyncIterator()
      for id in 2...4 {
        #expect(try await iterator.next()?.rowIDs == ["item": [Int64(id)]])
      }
    }
  }

  @Test func aTokenThatIsTooOldYieldsAnIncompleteChange() async throws {
    let database = try TemporaryGroup().group.database("items", migrations: schema)
    let token = try await database.token
    try await database.write { connection in
      try connection.run(
        """
        WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
        INSERT INTO item SELECT i, 'x' FROM n
        """)
    }
    for start in [token, .max, -5] {
      var changes = try database.changes(since: start).makeAsyncIterator()
      let change = try #require(try await changes.next())
      #expect(!change.isComplete && change.tables == ["item"] && change.rowIDs.isEmpty)
      #expect(try await database.token == change.token)
      try await database.write { try $0.run("UPDATE item SET name = 'y' WHERE id = 1") }
      #expect(try await changes.next()?.rowIDs == ["item": [1]])
    }
  }

  @Test func theSequenceEndsWithItsTask() async throws {
    let database = try TemporaryGroup().group.database("items", migrations: schema)
    let changes = try database.changes()
    let task = Task {
      for try await _ in changes {}
      return true
    }
    task.cancel()
    #expect(try await task.value)
  }
}
