// Specifies migrations.
import Wormhole

private typealias Migration = SharedDatabase.Migration

@Suite(.bounded)
struct MigrationsTests {
  private let group: TemporaryGroup
  private let first = Migration("items") {
    try $0.run("CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT)")
  }
  private let second = Migration("upper case") { connection in
    try connection.run("INSERT INTO item(name) VALUES('one')")
    for row in try connection.rows("SELECT id, name FROM item") {
      let name = try row.value("name", as: String.self).uppercased()
      try connection.run("UPDATE item SET name = ? WHERE id = ?", name, row["id", as: Int.self])
    }
  }

  init() throws { group = try TemporaryGroup() }

  private func names(_ database: SharedDatabase) async throws -> [String] {
    try await database.read { connection in
      try connection.rows("SELECT name FROM item ORDER BY id", as: String.self)
    }
  }

  @Test func oneThatIsInsertedLaterRunsToo() async throws {
    _ = try group.make().database("items", migrations: [first, second])
    let between = Migration("two") { try $0.run("INSERT INTO item(name) VALUES('two')") }
    let database = try group.make().database("items", migrations: [first, between, second])
    #expect(try await names(database) == ["ONE", "two"])
  }

  @Test func thoseOfALaterProgramAreRefused() throws {
    _ = try group.make().database("items", migrations: [first, second])
    let error = WormholeError.unknownMigrations(
      names: ["upper case"], path: "\(group.path)/items")
    #expect(throws: error) { try group.make().database("items", migrations: [first]) }
    #expect("\(error)".hasSuffix("does not know: upper case"))
    #expect(throws: WormholeError.self) {
      try group.make().database("items", migrations: .steps(["CREATE TABLE other(id)"]))
    }
  }

  @Test func aFullDiskIsNotTheFaultOfTheMigration() throws {
    let large = Migration("large") { connection in
      try connection.run("PRAGMA max_page_count = 20")
      try connection.run("CREATE TABLE item(v); INSERT INTO item VALUES(zeroblob(1 << 20))")
    }
    #expect(throws: WormholeError.diskFull) {
      try group.make().database("items", migrations: [large])
    }
  }

  @Test func oneThatFailsNamesItselfAndChangesNothing() async throws {
    struct Reason: Error, CustomStringConvertible { var description: String { "no reason" } }
    let path = "\(group.path)/items"
    let thrown = Migration("thrown") { connection in
      try connection.run("INSERT INTO item(name) VALUES('lost')")
      throw Reason()
    }
    #expect(
      throws: WormholeError.migrationFailed(name: "thrown", reason: "no reason", path: path)
    ) {
      try group.make().database("items", migrations: [first, thrown])
    }
    let wrong = Migration("wrong") { try $0.run("INSERT INTO none VALUES(1)") }
    let error = #expect(throws: WormholeError.self) {
      try group.make().database("items", migrations: [first, wrong])
    }
    let text = "\(String(describing: error))"
    #expect(text.contains("the migration wrong of \(path) failed: "))
    #expect(text.contains("no such table: none, in INSERT INTO none VALUES(1)"))
    let database = try group.make().database("items", migrations: [first, second])
    #expect(try await names(database) == ["ONE"])
  }

  @Test func rowsWithoutAParentFail() throws {
    let parts = Migration("parts") { connection in
      try connection.run("CREATE TABLE part(item REFERENCES item); INSERT INTO part VALUES(9)")
    }
    let error = WormholeError.migrationFailed(
      name: "parts", reason: "it leaves rows without a parent", path: "\(group.path)/items")
    #expect(throws: error) { try group.make().database("items", migrations: [first, parts]) }
  }

  @Test func twoOfOneNameAreRefused() throws {
    #expect(
      throws: WormholeError.migrationFailed(
        name: "items", reason: "another migration has this name", path: "\(group.path)/items")
    ) {
      try group.group.database("items", migrations: [first, first])
    }
    #expect(throws: WormholeError.invalidIdentifier) {
      try group.group.database("items", migrations: [Migration("") { _ in }])
    }
  }

  @Test func aTriggerOnTheirTableIsForeign() async throws {
    _ = try group.make().database("items", migrations: [first])
    try ForeignProgram.run(
      "CREATE TRIGGER mine AFTER INSERT ON wormhole_migrations BEGIN DELETE FROM item; END",
      on: "\(group.path)/items")
    #expect(throws: WormholeError.foreign(path: "\(group.path)/items")) {
      try group.make().database("items", migrations: [first, second])
    }
    try ForeignProgram.run("DROP TRIGGER mine", on: "\(group.path)/items")
    let database = try group.make().database("items", migrations: [first, second])
    #expect(try await names(database) == ["ONE"])
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
    #expect(throws: WormholeError.migrationFailed) {
      try store.makeOther(before + [rebuilding, losing])
    }
    _ = try store.makeOther(before + [rebuilding])
    #expect(try await store.count("part") == 1)
    try await store.write("DELETE FROM item")
    #expect(try await store.count("part") == 0)
  }

  @Test func processesThatOpenAtTheSameTimeRunThemOnce() async throws {
    let programs = try (0..<4).map { _ in try group.peer("database-migrate") }
    for program in programs { await program.waitForSuccess() }
    let inserts = (0..<9).map { (number: Int) in
      Migration("insert \(number)") {
        try $0.run("INSERT INTO item(name) VALUES(?)", number)
      }
    }
    let database = try group.group.database("items", migrations: [first] + inserts)
    #expect(try await names(database) == (0..<9).map { "\($0)" })
  }
}
