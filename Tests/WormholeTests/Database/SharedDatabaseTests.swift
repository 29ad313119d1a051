// Specifies shared databases.
import Wormhole

@Suite(.bounded)
struct SharedDatabaseTests {
  private let store: Store
  private var database: SharedDatabase { store.database }

  init() throws { store = try Store() }

  @Test func aBodyThatThrowsChangesNothing() async throws {
    let commits = try await store.lastCommit()
    await #expect(throws: CancellationError.self) {
      try await database.write { connection in
        try connection.run("CREATE TABLE other(id INTEGER PRIMARY KEY)")
        try connection.run("DELETE FROM item")
        throw CancellationError()
      }
    }
    #expect(try await store.count() == 1)
    #expect(try await store.lastCommit() == commits)
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
    let commits = try await store.lastCommit()
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
    #expect(try await store.lastCommit() == commits)
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

  @Test func itsOwnTransactionCannotUseIt() throws {
    let (blocking, other) = (database.blocking, try store.makeOther().blocking)
    let error = WormholeError.nested(path: store.path)
    try blocking.write { connection in
      try connection.run("DELETE FROM item")
      #expect(throws: error) { try blocking.write { _ in } }
      #expect(throws: error) { try blocking.read { _ in } }
      #expect(throws: error) { try other.write { _ in } }
    }
    try blocking.read { _ in
      #expect(throws: error) { try blocking.read { _ in } }
      #expect(throws: error) { try other.write { _ in } }
    }
    #expect("\(error)" == "\(store.path) is used from within its own transaction")
    #expect(try blocking.read { try $0.rows("SELECT * FROM item").isEmpty })
  }

  @Test func lastCommitIsThatOfTheSnapshot() async throws {
    let store = store
    let before = try await store.lastCommit()
    let numbers = try await database.write { connection in
      try connection.run("DELETE FROM item")
      return try connection.lastCommit
    }
    #expect(numbers == before)
    #expect(try await store.lastCommit() == before + 1)
  }

  // MARK: - Opening

  @Test func aDatabaseIsOpenedBesideAWriter() async throws {
    let writer = try ForeignWriter(of: store.path)
    let other = try store.makeOther()
    #expect(try await other.read { try $0.rows("SELECT * FROM item").count } == 1)
    await #expect(throws: WormholeError.timedOut) {
      try await other.write(timeout: .milliseconds(20)) { try $0.run("DELETE FROM item") }
    }
    withExtendedLifetime(writer) {}
  }

  /// A file that is only read stays as it is.
  @Test func anotherProgramsDatabaseIsOpenedAsItIs() async throws {
    let group = try TemporaryGroup()
    let (path, copy) = ("\(group.path)/theirs", "\(group.path)/theirs.copy")
    try ForeignProgram.run(
      """
      PRAGMA page_size = 1024; PRAGMA user_version = 12; PRAGMA application_id = 99;
      CREATE TABLE names(id INTEGER PRIMARY KEY, name); INSERT INTO names VALUES(1, 'theirs');
      CREATE TABLE records(id); CREATE TABLE store(id); CREATE VIEW messages AS SELECT 1;
      """, on: path)
    chmod(path, 0o644)
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let database = try group.group.database("theirs")
    var values = try database.values { try $0.rows("SELECT name FROM names", as: String.self) }
      .makeAsyncIterator()
    #expect(try await values.next() == ["theirs"])
    var changes = try database.changes(in: ["names"]).makeAsyncIterator()
    #expect(try await database.read { try $0.lastCommit } == 0)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)

    // Their programs may go on in the mode that they know.
    try ForeignProgram.run("UPDATE names SET name = 'new'", on: path)
    #expect(try await values.next() == ["new"])
    try await database.write { try $0.run("UPDATE names SET name = 'ours'") }
    let change = try await changes.next()
    #expect(change?.rowIDs == ["names": [1]] && change?.sequence == 1)
    #expect(try await values.next() == ["ours"])
    let header = try await database.write { connection in
      try ["user_version", "application_id", "page_size", "journal_mode"].map {
        try connection.rows("PRAGMA \($0)")[0].fields[0]
      }
    }
    #expect(header == [.integer(12), .integer(99), .integer(1024), .text("wal")])
    try ForeignProgram.run("VACUUM INTO '\(copy)'", on: path)
    #expect(try mode(path) == 0o644)
  }

  @Test(arguments: [0, 1, 100, 5000])
  func aFileThatIsCutShortIsAnError(size: Int) async throws {
    try ForeignProgram.overwrite(store.path) { $0 = $0.prefix(size) }
    for _ in 1...2 {
      await #expect(throws: WormholeError.self) { try await store.count() }
      await #expect(throws: WormholeError.self) {
        try await store.write("INSERT INTO item VALUES(2, 'two')")
      }
    }
    ForeignProgram.remove(store.path)
    try await store.write("INSERT INTO item VALUES(2, 'two')")
    #expect(try await store.count() == 2)
  }
}
