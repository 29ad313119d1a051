// Specifies the changes of shared databases.
@testable import Wormhole

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
        ["CREATE TRIGGER t AFTER INSERT ON item BEGIN UPDATE item SET id = -1 WHERE id = 1; END"],
        "INSERT INTO item VALUES(7, 'x')", ["item": [7, 1, -1]]
      ),
      (
        ["CREATE TABLE \"odd \"\"'name\"(key TEXT PRIMARY KEY) WITHOUT ROWID"],
        "INSERT INTO \"odd \"\"'name\" VALUES('a')", ["odd \"'name": []]
      ),
      (
        ["CREATE TABLE odd(rowid TEXT, oid TEXT)"], "INSERT INTO odd VALUES('a', 'b')", ["odd": [1]]
      ),
      ([], "SAVEPOINT a; DELETE FROM item; ROLLBACK TO a", ["item": [1]]),
    ] as [([String], String, [String: Set<Int64>])])
  func everyKindOfTableIsReported(
    steps: [String], statements: String, rows: [String: Set<Int64>]
  ) async throws {
    let change = try await Store(steps).change(by: statements)
    #expect(change.tables == Set(rows.keys) && change.isComplete && !change.mayHaveMissed)
    #expect(change.rowIDs == rows.filter { !$0.value.isEmpty })
    #expect(change.sender.isOwn && change.sender.process == getpid())
  }

  @Test func aVirtualTableIsReportedByTheTablesItKeepsItsDataIn() async throws {
    let store = try Store(["CREATE VIRTUAL TABLE text USING fts5(body)"])
    let change = try await store.change(by: "INSERT INTO text VALUES('a'); DELETE FROM item")
    #expect(change.rowIDs["item"] == [1] && change.rowIDs["text_content"] == [1])
    #expect(throws: WormholeError.unknownTable) { try store.database.changes(in: ["text"]) }
  }

  @Test func manyRowsAreNotListed() async throws {
    let store = try Store()
    let rows = "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
    for (last, isListed) in [(257, true), (514, false)] {
      try await store.write("DELETE FROM item")
      var changes = try store.database.changes().makeAsyncIterator()
      try await store.database.write { connection in
        try connection.run("\(rows) INSERT INTO item SELECT i, 'x' FROM n", last)
      }
      let change = try #require(try await changes.next())
      #expect(change.tables == ["item"] && change.isComplete)
      #expect(change.rowIDs == (isListed ? ["item": Set(2...257)] : [:]))
    }
  }

  @Test func aChangeOfTheSchemaIsIncomplete() async throws {
    let store = try Store()
    for sql in [
      "CREATE TABLE new(id INTEGER PRIMARY KEY); INSERT INTO new VALUES(3)",
      "ALTER TABLE new RENAME TO newer", "DROP TABLE newer",
    ] {
      let change = try await store.change(by: sql)
      #expect(!change.isComplete && change.tables.isEmpty && change.rowIDs.isEmpty)
    }
    #expect(try await store.change(by: "DELETE FROM item").rowIDs == ["item": [1]])
  }

  @Test func withoutTheHookOfSQLiteAChangeIsIncomplete() async throws {
    let store = try Store()
    let commits = try await store.lastCommit()
    let file = DatabaseFile(directory: store.group.path, name: "items")
    let connection = try file.open(Backoff())
    #expect(connection.recorder == nil)
    for (sql, isChange) in [("DELETE FROM item", true), ("DELETE FROM item", false)] {
      let (result, hasChanged) = try CommitLog(database: connection).record {
        try connection.run(sql)
      }
      try result.get()
      #expect(hasChanged == isChange)
    }
    var changes = try store.database.changes(since: commits).makeAsyncIterator()
    let change = try #require(try await changes.next())
    #expect(!change.isComplete && !change.mayHaveMissed && change.sequence == commits + 1)
    #expect(try await store.lastCommit() == commits + 1)
  }

  @Test func tablesThatLookAlikeAreDifferent() async throws {
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

  @Test func aTemporaryTableIsNotReportedAndHidesNothing() async throws {
    let store = try Store()
    let commits = try await store.lastCommit()
    try await store.write(
      """
      CREATE TEMP TABLE item(value); INSERT INTO item VALUES(5);
      CREATE TEMP TABLE wormhole_commits(value);
      """)
    #expect(try await store.lastCommit() == commits)
    #expect(try await store.change(by: "DELETE FROM main.item").rowIDs == ["item": [1]])
  }

  @Test func onlyTheNamedTablesAreReported() async throws {
    let store = try Store(["CREATE TABLE other(id INTEGER PRIMARY KEY)"])
    var changes = try store.database.changes(in: ["Item"]).makeAsyncIterator()
    try await store.write("INSERT INTO other VALUES(1)")
    try await store.write("INSERT INTO other VALUES(2); INSERT INTO item VALUES(2, 'x')")
    let change = try #require(try await changes.next())
    #expect(change.rowIDs == ["item": [2], "other": [2]] && !change.mayHaveMissed)
    for name in ["itme", "wormhole_commits", "sqlite_master"] {
      let error = expect(.unknownTable) { try store.database.changes(in: [name]) }
      #expect("\(String(describing: error))".contains("item, other"))
    }
  }

  @Test func whatChangesNothingIsNoCommit() async throws {
    let store = try Store()
    let commits = try await store.lastCommit()
    for sql in [
      "SELECT 1", "UPDATE item SET name = 'x' WHERE id = 9", "", "PRAGMA user_version = 7",
    ] {
      try await store.write(sql)
    }
    #expect(try await store.lastCommit() == commits)
  }

  // MARK: - Positions

  @Test func changesMadeMeanwhileAreCaughtUpWith() async throws {
    let store = try Store()
    let commits = try await store.lastCommit()
    for id in 2...4 {
      let sql = "INSERT INTO item VALUES(\(id), 'x')"
      await (try store.group.peer("database-write", sql)).waitForSuccess()
    }
    let changes = try store.makeOther().changes(in: ["item"], since: commits)
    for _ in 1...2 {
      var iterator = changes.makeAsyncIterator()
      for id in 2...4 {
        let change = try #require(try await iterator.next())
        #expect(change.rowIDs == ["item": [Int64(id)]] && !change.mayHaveMissed)
        #expect(change.sequence == commits + UInt64(id) - 1)
      }
    }
  }

  @Test func oldCommitsAreForgotten() async throws {
    let store = try Store()
    try ForeignProgram.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      INSERT INTO wormhole_commits(changes) SELECT '{"item":[5]}' FROM n
      """, on: store.path)
    let last = try await store.lastCommit()
    for _ in 1...64 { try await store.write("UPDATE item SET name = 'x'") }
    let kept = try await store.count("wormhole_commits")
    #expect((10_000...10_064).contains(kept))
    #expect(try await store.lastCommit() == last + 64)
    for start in [1, UInt64.max] {
      var changes = try store.database.changes(since: start).makeAsyncIterator()
      let first = try #require(try await changes.next())
      #expect(first.mayHaveMissed && first.sequence == last + 64 - UInt64(kept) + 1)
      #expect(first.rowIDs == ["item": [5]])
      let second = try #require(try await changes.next())
      #expect(!second.mayHaveMissed && second.sequence == first.sequence + 1)
    }
  }

  @Test func aRecreatedFileIsNoticed() async throws {
    let store = try Store()
    for id in 2...9 { try await store.write("INSERT INTO item VALUES(\(id), 'x')") }
    let last = try await store.lastCommit()
    var live = try store.database.changes().makeAsyncIterator()
    ForeignProgram.remove(store.path)
    try await store.write("INSERT INTO item VALUES(3, 'three')")
    var later = try store.database.changes(since: last).makeAsyncIterator()
    for change in [try await live.next(), try await later.next()] {
      #expect(change?.mayHaveMissed == true && change?.sequence == 1)
    }
    #expect(try await store.count() == 2)
  }

  @Test func anEarlierStateIsNoticed() async throws {
    let store = try Store()
    let (copy, last) = ("\(store.path).copy", try await store.lastCommit())
    try ForeignProgram.run("VACUUM INTO '\(copy)'", on: store.path)
    for id in 2...9 { try await store.write("INSERT INTO item VALUES(\(id), 'x')") }
    var changes = try store.database.changes(in: ["item"]).makeAsyncIterator()
    ForeignProgram.remove(store.path)
    try #require(rename(copy, store.path) == 0)
    try await store.write("INSERT INTO item VALUES(99, 'x')")
    var change = try #require(try await changes.next())
    #expect(change.mayHaveMissed)
    while change.sequence <= last { change = try #require(try await changes.next()) }
    #expect(change.rowIDs == ["item": [99]])
  }

  // MARK: - Rows of other programs

  @Test func anotherProgramCanRecordItsCommits() async throws {
    let store = try Store()
    var changes = try store.database.changes().makeAsyncIterator()
    try ForeignProgram.run(
      """
      BEGIN; INSERT INTO item VALUES(7, 'x');
      INSERT INTO wormhole_commits(program, changes) VALUES('shell', '{"item":[7],"other":null}');
      COMMIT
      """, on: store.path)
    try await store.write("INSERT INTO item VALUES(8, 'x')")
    let change = try #require(try await changes.next())
    #expect(change.rowIDs == ["item": [7]] && change.tables == ["item", "other"])
    #expect(change.sender.program == "shell" && abs(change.date.timeIntervalSinceNow) < 3600)
    #expect(try await changes.next()?.rowIDs == ["item": [8]])
  }

  @Test(arguments: [
    "NULL", "'['", "'{\"item\":1}'", "'[1]'", "x'ff'", "7", "zeroblob(3000000)",
    "'{\"item\":[99999999999999999999]}'",
  ])
  func aRecordThatCannotBeReadIsIncomplete(changes sql: String) async throws {
    let store = try Store()
    var changes = try store.database.changes(in: ["item"]).makeAsyncIterator()
    try ForeignProgram.run(
      "INSERT INTO wormhole_commits(pid, process, changes) VALUES(1 << 40, 'x', \(sql))",
      on: store.path)
    try await store.write("INSERT INTO item VALUES(8, 'x')")
    #expect(try await changes.next()?.isComplete == false)
    #expect(try await changes.next()?.rowIDs == ["item": [8]])
  }

  @Test(arguments: [Int64.max, Int64.max - 1])
  func recordsWithoutANextNumberAreDamaged(number: Int64) async throws {
    let store = try Store()
    try ForeignProgram.run(
      "INSERT INTO wormhole_commits(number) VALUES(\(number))", on: store.path)
    let (sql, error) = ("INSERT INTO item(name) VALUES('two')", WormholeError.damaged)
    if number < .max { try await store.write(sql) }
    await #expect(throws: error) { try await store.write(sql) }
    #expect(throws: error) { try store.database.changes() }
    #expect(try await store.count() == (number < .max ? 2 : 1))
  }

  @Test(arguments: [
    "DROP TABLE wormhole_commits; CREATE VIEW wormhole_commits AS SELECT 1 AS number",
    "CREATE TRIGGER mine AFTER INSERT ON wormhole_commits BEGIN DELETE FROM item; END",
    "DROP TABLE wormhole_commits; CREATE TABLE Wormhole_Commits(last)",
  ])
  func aForeignTableOfThatNameIsRefused(statements: String) async throws {
    let store = try Store()
    try ForeignProgram.run(statements, on: store.path)
    let error = WormholeError.foreign
    await #expect(throws: error) { try await store.write("INSERT INTO item VALUES(2, 'two')") }
    #expect(throws: error) { try store.database.changes() }
    #expect(try await store.count() == 1)
    try ForeignProgram.run(
      "DROP TRIGGER IF EXISTS mine; ALTER TABLE item RENAME TO i; ALTER TABLE i RENAME TO item",
      on: store.path)
  }

  @Test func aCommitAfterAGapIsReportedForAllTables() async throws {
    let store = try Store(["CREATE TABLE other(id INTEGER PRIMARY KEY)"])
    var changes = try store.database.changes(in: ["item"]).makeAsyncIterator()
    try ForeignProgram.run("DROP TABLE wormhole_commits", on: store.path)
    try await store.write("INSERT INTO other VALUES(1)")
    let change = try #require(try await changes.next())
    #expect(change.mayHaveMissed && change.isComplete && change.tables == ["other"])
  }

  @Test func aTableThatWasDroppedIsMadeAgain() async throws {
    let store = try Store()
    var changes = try store.database.changes().makeAsyncIterator()
    try ForeignProgram.run("DROP TABLE wormhole_commits", on: store.path)
    try await store.write("INSERT INTO item VALUES(2, 'two')")
    let change = try #require(try await changes.next())
    #expect(change.mayHaveMissed && change.sequence == 1 && change.rowIDs == ["item": [2]])
  }

  enum Failure: CaseIterable {
    case ofTheBody, ofTheCommit

    func occur(in connection: borrowing SharedDatabase.Connection) throws {
      if self == .ofTheBody { throw CancellationError() }
      try connection.run("INSERT INTO child VALUES(99)")  // without a parent: the commit fails
    }
  }

  /// A transaction that fails takes back the table that it has made, and the number of the schema:
  /// later another schema may have the same number.
  @Test(arguments: Failure.allCases, 1...4)
  func commitsAreRecordedAfterAFailure(_ failure: Failure, tableCount: Int) async throws {
    let store = try Store([
      "CREATE TABLE child(item REFERENCES item DEFERRABLE INITIALLY DEFERRED)"
    ])
    try ForeignProgram.run("DROP TABLE wormhole_commits", on: store.path)
    await #expect(throws: (any Error).self) {
      try await store.database.write { try failure.occur(in: $0) }
    }
    for number in 1...tableCount {
      try ForeignProgram.run("CREATE TABLE new\(number)(id)", on: store.path)
    }
    #expect(try await store.change(by: "DELETE FROM item").rowIDs == ["item": [1]])
  }
}
