// Specifies how what is damaged is repaired.
import Wormhole

@Suite(.bounded)
struct RepairTests {
  private let schema = ["CREATE TABLE item(id INTEGER PRIMARY KEY)", "INSERT INTO item VALUES(1)"]
  private let key = DefaultsKey("number", default: 0)

  private func count(_ database: SharedDatabase) async throws -> Int {
    try await database.read { try $0.rows("SELECT * FROM item").count }
  }

  // MARK: - Defaults

  @Test func defaultsThatAreDamagedCanBeReset() throws {
    let group = try TemporaryGroup()
    let defaults = try group.group.defaults
    try defaults.blocking.set(1, for: key)
    let path = "\(group.path)/defaults.sqlite"
    ForeignProgram.remove(path)
    try Data("no database".utf8).write(to: URL(fileURLWithPath: path))
    #expect(throws: WormholeError.foreign(path: path)) { try group.make().defaults }
    try group.make().resetDefaults()
    #expect(try defaults.blocking[key] == 0)
    try defaults.blocking.set(2, for: key)
    #expect(try group.make().defaults.blocking[key] == 2)
  }

  @Test func whoListensIsToldOfAReset() async throws {
    let group = try TemporaryGroup()
    try group.group.defaults.blocking.set(1, for: key)
    var changes = try group.group.defaults.changes(of: key).makeAsyncIterator()
    #expect(try await changes.next()?.value == 1)
    try group.group.resetDefaults()
    let reset = try await changes.next()
    #expect(try reset?.value == 0)
    #expect(reset?.isRemoved == true)
    try group.group.defaults.blocking.set(3, for: key)
    #expect(try await changes.next()?.value == 3)
  }

  // MARK: - Change logs

  @Test(arguments: [
    "DROP TABLE wormhole_changes; CREATE VIEW wormhole_changes AS SELECT 1 id, 'x' name, 1 row",
    "CREATE TRIGGER mine AFTER INSERT ON wormhole_changes BEGIN DELETE FROM item; END",
    "DROP TABLE wormhole_commits; CREATE TABLE Wormhole_Commits(last)",
  ])
  func aForeignChangeLogIsRefusedUntilItIsReset(statements: String) async throws {
    let group = try TemporaryGroup()
    let database = try group.group.database("items", migrations: schema)
    let token = try await database.token
    let path = "\(group.path)/items"
    try ForeignProgram.run(statements, on: path)
    #expect(throws: WormholeError.foreign(path: path)) {
      try group.make().database("items", migrations: schema)
    }
    try group.group.resetChanges(ofDatabase: "items")
    let repaired = try group.make().database("items", migrations: schema)
    #expect(try await count(repaired) == 1)
    var changes = try repaired.changes(since: token).makeAsyncIterator()
    #expect(try await changes.next()?.isComplete == false)
    try await repaired.write { try $0.run("INSERT INTO item VALUES(7)") }
    #expect(try await changes.next()?.rowIDs == ["item": [7]])
  }

  @Test func aDamagedChangeLogCanBeReset() async throws {
    let group = try TemporaryGroup()
    var database: SharedDatabase? = try group.group.database("items", migrations: schema)
    let pages = try await database?.read { connection in
      try connection.rows(
        "SELECT rootpage FROM sqlite_master WHERE name IN ('wormhole_changes', 'wormhole_commits')"
      ).compactMap { $0["rootpage", as: Int.self] }
    }
    database = nil
    let path = "\(group.path)/items"
    try ForeignProgram.overwrite(path) { bytes in
      for page in pages ?? [] {
        let start = (page - 1) * 4096
        bytes.replaceSubrange(start..<start + 4096, with: Data(repeating: 0xff, count: 4096))
      }
    }
    #expect(throws: WormholeError.damaged(path: path)) {
      try group.make().database("items", migrations: schema)
    }
    try group.group.resetChanges(ofDatabase: "items")
    let repaired = try group.make().database("items", migrations: schema)
    #expect(try await count(repaired) == 1)
    var changes = try repaired.changes().makeAsyncIterator()
    try await repaired.write { try $0.run("INSERT INTO item VALUES(7)") }
    #expect(try await changes.next()?.rowIDs == ["item": [7]])
  }

  @Test func onlyWhatCanBeADatabaseIsReset() throws {
    let group = try TemporaryGroup().group
    try group.resetChanges(ofDatabase: "none")
    #expect(throws: WormholeError.invalidIdentifier) { try group.resetChanges(ofDatabase: "") }
    #expect(throws: WormholeError.reservedName("defaults.sqlite")) {
      try group.resetChanges(ofDatabase: "defaults.sqlite")
    }
  }

  // MARK: - Messages

  @Test func clearingAllNamesWhatItCouldNotClear() throws {
    let site = try Site(.log)
    let names = (1...3).map { MessageName<Int>("org.example.\($0)") }
    for name in names { try site.hole.blocking.pass(1, to: name) }
    let path = "\(site.path)/org.example.2.log"
    try ForeignProgram.overwrite(path) { bytes in
      bytes.replaceSubrange(1024..., with: Data(repeating: 0xff, count: bytes.count - 1024))
    }
    let other = try site.makeOther()
    #expect(throws: WormholeError.notCleared(["org.example.2": .damaged(path: path)])) {
      try other.blocking.clearAll()
    }
    for name in [names[0], names[2]] { #expect(try other.blocking.message(name) == nil) }
    try other.blocking.remove(names[1])
    try other.blocking.clearAll()
  }
}
