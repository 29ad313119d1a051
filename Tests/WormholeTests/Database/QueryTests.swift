// Specifies queries that are run again when their database changes.
import Wormhole

@Suite(.bounded)
struct QueryTests {
  private let store: Store
  private var database: SharedDatabase { store.database }

  init() throws { store = try Store(["CREATE TABLE other(id INTEGER PRIMARY KEY)"]) }

  private func count(_ connection: borrowing SharedDatabase.Connection) throws -> Int {
    try connection.rows("SELECT count(*) AS n FROM item")[0].value("n")
  }

  @Test func thePresentResultComesFirst() async throws {
    let values = try database.values { try count($0) }
    var (first, second) = (values.makeAsyncIterator(), values.makeAsyncIterator())
    #expect(try await first.next() == 1)
    try await store.write("INSERT INTO item VALUES(2, 'two')")
    #expect(try await first.next() == 2)
    #expect(try await second.next() == 2)
  }

  @Test func equalResultsAreLeftOut() async throws {
    var values = try database.values { try $0.rows("SELECT * FROM item") }.makeAsyncIterator()
    #expect(try await values.next()?.count == 1)
    for id in 1...20 { try await store.write("INSERT INTO other VALUES(\(id))") }
    try await store.write("UPDATE item SET name = 'one'")
    for id in 2...9 { try await store.write("INSERT INTO item VALUES(\(id), 'x')") }
    var counts: [Int] = []
    while counts.last != 9 { counts.append(try await values.next()?.count ?? 9) }
    #expect(counts.first ?? 1 > 1 && counts == counts.sorted() && Set(counts).count == counts.count)
  }

  @Test(.enabled(if: access("/usr/bin/sqlite3", X_OK) == 0, "needs the shell of SQLite"))
  func theChangesOfAShellCount() async throws {
    var values = try database.values { try count($0) }.makeAsyncIterator()
    #expect(try await values.next() == 1)
    for number in 2...4 {
      let sql = "INSERT INTO item VALUES(\(number), 'x')"
      await (try Program("/usr/bin/sqlite3", [store.path, sql], on: nil)).waitForSuccess()
      #expect(try await values.next() == number)
    }
  }

  @Test func theChangesOfAProgramThatStaysCount() async throws {
    var values = try database.values { try count($0) }.makeAsyncIterator()
    #expect(try await values.next() == 1)
    let writer = try ForeignWriter(of: store.path)
    for number in 2...6 {
      try writer.commit("INSERT INTO item(name) VALUES('x')")
      #expect(try await values.next() == number)
    }
  }

  @Test func aReplacedFileCounts() async throws {
    let copy = "\(store.path).copy"
    try ForeignProgram.run("VACUUM INTO '\(copy)'", on: store.path)
    try ForeignProgram.run("INSERT INTO item VALUES(2, 'x'), (3, 'x')", on: copy)
    var values = try database.values { try count($0) }.makeAsyncIterator()
    #expect(try await values.next() == 1)
    ForeignProgram.remove(store.path)
    try #require(rename(copy, store.path) == 0)
    #expect(try await values.next() == 3)
  }

  @Test func anErrorNamesItsStatementAndEndsTheSequence() async throws {
    var values = try database.values { connection in
      try connection.rows("SELECT name FROM item").count
    }.makeAsyncIterator()
    #expect(try await values.next() == 1)
    try await store.write("ALTER TABLE item RENAME COLUMN name TO title; DELETE FROM item")
    let error = await #expect(throws: WormholeError.self) { try await values.next() }
    #expect(error?.number == 1)
    #expect(error?.reason?.hasPrefix("no such column: name, in SELECT name FROM item") == true)
    #expect(try await values.next() == nil)
  }

  @Test func anErrorOfTheQueryIsThrownAsItIs() async throws {
    struct Reason: Error {}
    let values: StoredSequence<Int> = try database.values { _ in throw Reason() }
    await #expect(throws: Reason.self) { for try await _ in values {} }
  }

  @Test func aQueryThatRunsIsInterrupted() async throws {
    let endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    let begun = Log<Bool>()
    let values = try database.values { connection in
      begun.append(true)
      return try connection.rows(endless).count
    }
    let task = Task {
      for try await _ in values {}
      return true
    }
    await eventually { !begun.entries.isEmpty }
    task.cancel()
    #expect(try await task.value)
  }
}
