// Specifies the changes of shared databases.
import Wormhole

@Suite(.bounded)
struct DatabaseChangesTests {
  @Test func aCommitIsSeenByAnotherProcessWithItsRows() async throws {
    let bus = try PrivateBus(.usual)
    let store = try Store(on: bus)
    let watcher = try store.group.peer("database-watch", on: bus)
    await watcher.waitForLine("ready")
    let own = ProcessInfo.processInfo.processIdentifier
    for id in 2...20 {
      try await store.write("INSERT INTO item VALUES(\(id), 'x')")
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
    let store = try Store([
      "CREATE TABLE child(item REFERENCES item DEFERRABLE INITIALLY DEFERRED)"
    ])
    try ForeignProgram.run("CREATE TABLE new(id)", on: store.path)
    await #expect(throws: (any Error).self) {
      try await store.database.write { try failure.occur(in: $0) }
    }
    for number in 1...tableCount {
      try ForeignProgram.run("CREATE TABLE new\(number)(id)", on: store.path)
    }
    try await store.database.write { _ in }
    let token = try await store.database.token
    try await store.write("INSERT INTO new\(tableCount) VALUES(1)")
    #expect(try await store.database.token > token)
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
    let change = try await Store(steps).change(by: statements)
    #expect(change.tables == Set(rows.keys) && change.isComplete)
    #expect(change.rowIDs == rows.filter { !$0.value.isEmpty })
  }

  @Test func tablesThatComeAndGoAreReported() async throws {
    let store = try Store()
    let made = try await store.change(
      by: "CREATE TABLE new(id INTEGER PRIMARY KEY); INSERT INTO new VALUES(3)")
    #expect(made.kinds == ["new": [3: .inserted]])
    #expect(try await store.change(by: "INSERT INTO new VALUES(4)").rowIDs == ["new": [4]])
    let renamed = try await store.change(by: "ALTER TABLE new RENAME TO newer")
    #expect(renamed.tables == ["new", "newer"])
    #expect(try await store.change(by: "INSERT INTO newer VALUES(5)").rowIDs == ["newer": [5]])
    #expect(try await store.change(by: "DROP TABLE newer").tables == ["newer"])
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
    let steps = ["CREATE TABLE part(id INTEGER PRIMARY KEY, name TEXT)"]
    let store = try Store(steps)
    if isForeign {
      try ForeignProgram.run(statements, on: store.path)
    } else {
      try await store.write(statements)
    }
    let other = try store.makeOther(steps)
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
    let store = try Store()
    let names = ["\u{e9}", "e\u{301}", "quote\"\u{301}'\u{301}"]
    for name in names {
      let quoted = String(
        name.unicodeScalars.map { $0 == "\"" ? "\"\"" : "\($0)" }.joined())
      try await store.write("CREATE TABLE \"\(quoted)\"(value)")
      let tables = try await store.change(by: "INSERT INTO \"\(quoted)\" VALUES(1)").tables
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
    let store = try Store()
    try await store.write("INSERT INTO item VALUES(2, 'two')")
    let token = try await store.database.token
    ForeignProgram.remove(store.path)
    for id in 3...9 { try await store.write("INSERT INTO item VALUES(\(id), 'x')") }
    var changes = try store.database.changes(since: token).makeAsyncIterator()
    let change = try #require(try await changes.next())
    #expect(!change.isComplete && change.tables == ["item"])
  }

  @Test func changesMadeMeanwhileAreCaughtUpWith() async throws {
    let store = try Store()
    let token = try await store.database.token
    for id in 2...4 {
      let sql = "INSERT INTO item VALUES(\(id), 'x')"
      await (try store.group.peer("database-write", sql)).waitForSuccess()
    }
    let changes = try store.makeOther().changes(in: ["item"], since: token)
    for _ in 1...2 {
      var iterator = changes.makeAsyncIterator()
      for id in 2...4 {
        #expect(try await iterator.next()?.rowIDs == ["item": [Int64(id)]])
      }
    }
  }

  @Test func aTokenThatIsTooOldYieldsAnIncompleteChange() async throws {
    let store = try Store()
    let database = store.database
    let token = try await database.token
    try await store.write(
      """
      WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
      INSERT INTO item SELECT i, 'x' FROM n
      """)
    for start in [token, .max, -5] {
      var changes = try database.changes(since: start).makeAsyncIterator()
      let change = try #require(try await changes.next())
      #expect(!change.isComplete && change.tables == ["item"] && change.rowIDs.isEmpty)
      #expect(try await database.token == change.token)
      try await store.write("UPDATE item SET name = 'y' WHERE id = 1")
      #expect(try await changes.next()?.rowIDs == ["item": [1]])
    }
  }
}
