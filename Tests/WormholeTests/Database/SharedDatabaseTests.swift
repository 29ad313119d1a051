// Specifies shared databases.
import Wormhole

@Suite(.bounded)
struct SharedDatabaseTests {
  private let store: Store
  private var database: SharedDatabase { store.database }

  init() throws { store = try Store() }

  @Test func aBodyThatThrowsChangesNothing() async throws {
    let token = try await database.token
    await #expect(throws: CancellationError.self) {
      try await database.write { connection in
        try connection.run("CREATE TABLE other(id INTEGER PRIMARY KEY)")
        try connection.run("DELETE FROM item")
        throw CancellationError()
      }
    }
    #expect(try await store.count() == 1)
    #expect(try await database.token == token)
  }

  @Test(arguments: [
    "INSERT INTO item VALUES(2, 'two'); COMMIT; INSERT INTO item VALUES(3, 'three')",
    "INSERT INTO item VALUES(2, 'two'); END", "BEGIN", "COMMIT", "ROLLBACK",
  ])
  func nothingIsCommittedInside(statements: String) async throws {
    for _ in 1...2 {
      let error = await #expect(throws: WormholeError.self) {
        try await store.write(statements)
      }
      let reason = error?.reason ?? ""
      #expect(error?.number == 23 && reason.hasPrefix("not authorized, in "))
      #expect(reason.hasSuffix("/items"))
      #expect(try await store.count() == 1)
    }
  }

  @Test func nothingIsWrittenAfterARollback() async throws {
    let token = try await database.token
    await #expect(throws: WormholeError.self) {
      try await database.write { connection in
        try connection.run("INSERT INTO item VALUES(2, 'two')")
        try? connection.run("INSERT OR ROLLBACK INTO item VALUES(1, 'another')")
        #expect(throws: WormholeError.self) {
          try connection.run("INSERT INTO item VALUES(3, 'three')")
        }
      }
    }
    #expect(try await store.count() == 1)
    #expect(try await database.token == token)
  }

  @Test func savepointsAreAllowed() async throws {
    try await store.write("SAVEPOINT a; DELETE FROM item; ROLLBACK TO a; RELEASE a")
    #expect(try await store.count() == 1)
  }

  @Test(arguments: ["", "PRAGMA query_only = OFF; "])
  func aReaderCannotWrite(before: String) async throws {
    await #expect(throws: WormholeError.self) {
      try await database.read { try $0.run(before + "DELETE FROM item") }
    }
    #expect(try await store.count() == 1)
  }

  @Test func aReaderSeesOneMoment() async throws {
    let (begun, written) = (Flag(), DispatchSemaphore(value: 0))
    async let counts = database.read { connection in
      let before = try connection.rows("SELECT * FROM item").count
      begun.set()
      written.wait()
      return [before, try connection.rows("SELECT * FROM item").count]
    }
    await eventually { begun.isSet }
    try await store.write("DELETE FROM item")
    written.signal()
    #expect(try await counts == [1, 1])
  }

  @Test func manyReadersAndWritersLoseNothing() async throws {
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for index in 0..<20 {
        tasks.addTask { try await store.write("INSERT INTO item(name) VALUES(\(index))") }
        tasks.addTask { _ = try await store.count() }
      }
      try await tasks.waitForAll()
    }
    #expect(try await store.count() == 21)
  }

  // MARK: - Migrations

  @Test func aDatabaseOfALaterVersionIsRefused() throws {
    #expect(throws: WormholeError.newerSchema(found: 2, known: 1, path: store.path)) {
      try store.group.group.database("items", migrations: [Store.schema[0]])
    }
  }

  @Test func aMigrationCanRebuildATableThatOthersReferTo() async throws {
    let before = [
      "CREATE TABLE part(id INTEGER PRIMARY KEY, item REFERENCES item ON DELETE CASCADE)",
      "INSERT INTO part VALUES(7, 1)",
    ]
    let store = try Store(before)
    let rebuilding = """
      CREATE TABLE new(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      INSERT INTO new SELECT * FROM item; DROP TABLE item; ALTER TABLE new RENAME TO item;
      """
    let losing = "DELETE FROM item"
    #expect(throws: WormholeError.self) { try store.makeOther(before + [rebuilding, losing]) }
    _ = try store.makeOther(before + [rebuilding])
    #expect(try await store.count("part") == 1)
    try await store.write("DELETE FROM item")
    #expect(try await store.count("part") == 0)
  }

  // MARK: - Crashes

  @Test(arguments: 0..<6)
  func aWriterThatIsKilledLeavesAllOrNothing(round: Int) async throws {
    let program = try store.group.peer("database-fill")
    await program.waitForLine("ready")
    let token = try await database.token
    await eventually { (try? database.changes(since: token)) != nil }
    for _ in 0..<(round * 7) { _ = try await database.read { try $0.rows("SELECT 1") } }
    kill(program.processIdentifier, SIGKILL)
    _ = await program.end()
    let rows = try await database.read { connection in
      let halves = ["left", "right"]
      let counts = try halves.map {
        try connection.rows("SELECT 1 FROM item WHERE name = ?", $0).count
      }
      return (counts, try connection.rows("PRAGMA integrity_check").first?.fields)
    }
    #expect(rows.0[0] == rows.0[1])
    #expect(rows.1 == [.text("ok")])
    try await store.write("DELETE FROM item")
  }
}
