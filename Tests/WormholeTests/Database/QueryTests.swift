// Specifies queries that are run again when their tables change.
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
    let values = try database.values(in: ["Item"]) { try count($0) }
    var (first, second) = (values.makeAsyncIterator(), values.makeAsyncIterator())
    #expect(try await first.next() == 1)
    try await store.write("INSERT INTO item VALUES(2, 'two')")
    #expect(try await first.next() == 2)
    #expect(try await second.next() == 2)
  }

  @Test func changesAreMergedAndOtherTablesLeftOut() async throws {
    let runs = Log<Int>()
    let query = try database.values(in: ["item"]) { connection in
      runs.append(try count(connection))
      return try count(connection)
    }
    var values = query.makeAsyncIterator()
    #expect(try await values.next() == 1)
    for id in 1...20 { try await store.write("INSERT INTO other VALUES(\(id))") }
    for id in 2...9 { try await store.write("INSERT INTO item VALUES(\(id), 'x')") }
    #expect(try await values.next() == 9)
    #expect(runs.entries == [1, 9])
  }

  @Test func aChangeThatIsNoLongerKnownLeadsToAnotherResult() async throws {
    var values = try database.values(in: ["item"]) { try count($0) }.makeAsyncIterator()
    #expect(try await values.next() == 1)
    try await store.write(
      """
      INSERT INTO item VALUES(2, 'two');
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
      INSERT INTO other SELECT i FROM n
      """)
    #expect(try await values.next() == 2)
  }

  @Test func everyTableCountsIfNoneIsNamed() async throws {
    var values = try database.values { connection in
      try connection.rows("SELECT * FROM other").count
    }.makeAsyncIterator()
    #expect(try await values.next() == 0)
    try await store.write("INSERT INTO other VALUES(1)")
    #expect(try await values.next() == 1)
  }

  @Test func anErrorNamesItsStatementAndEndsTheSequence() async throws {
    var values = try database.values(in: ["item"]) { connection in
      try connection.rows("SELECT name FROM item").count
    }.makeAsyncIterator()
    #expect(try await values.next() == 1)
    try await store.write("ALTER TABLE item RENAME COLUMN name TO title; DELETE FROM item")
    let error = await #expect(throws: WormholeError.self) { try await values.next() }
    #expect(error?.number == 1)
    #expect(error?.reason?.hasPrefix("no such column: name, in SELECT name FROM item") == true)
    #expect(try await values.next() == nil)
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
    var iterator = try database.values(timeout: .milliseconds(1)) { connection in
      try connection.rows(endless).count
    }.makeAsyncIterator()
    await #expect(throws: WormholeError.timedOut(store.path)) {
      try await iterator.next()
    }
  }
}
