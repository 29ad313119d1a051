// Specifies how databases that others have damaged are handled.
import Wormhole

@Suite(.bounded)
struct DamagedFilesTests {
  private let name = MessageName<Int>("name")
  private let schema = ["CREATE TABLE item(id INTEGER PRIMARY KEY, value)"]
  private let key = DefaultsKey("key", default: "")

  private func open(_ group: TemporaryGroup, _ transit: LogTransit = .log) throws -> Wormhole {
    try Wormhole(group: group.make(), transit: transit)
  }

  private func log(_ group: TemporaryGroup) -> String { "\(group.path)/wormhole/name.log" }
  private func defaults(_ group: TemporaryGroup) -> String { "\(group.path)/defaults.sqlite" }
  private func items(_ group: TemporaryGroup) -> String { "\(group.path)/items" }

  // MARK: - Logs

  @Test func noMessageIsLostAfterTheGreatestNumber() throws {
    let group = try TemporaryGroup()
    let hole = try open(group)
    try hole.blocking.pass(1, to: name)
    try ForeignProgram.run("UPDATE records SET number = \(Int64.max)", on: log(group))
    let error = WormholeError.damaged(path: log(group))
    #expect(throws: error) { try hole.blocking.pass(2, to: name) }
    #expect(throws: error) { try hole.blocking.ping(name) }
    #expect(throws: error) { try hole.blocking.clear(name) }
    #expect(throws: error) { try hole.blocking.update(name) { $0 = 2 } }
    #expect(try hole.blocking.message(name) == 1)
  }

  @Test func recordsBeforeADamagedPageAreRead() async throws {
    let group = try TemporaryGroup()
    let name = MessageName<Data>("name", codec: .raw)
    for value in UInt8(1)...10 {
      try await open(group).pass(Data(repeating: value, count: 900), to: name)
    }
    try ForeignProgram.overwrite(log(group)) { bytes in
      let found = try #require(bytes.range(of: Data(repeating: 6, count: 500)))
      let page = found.lowerBound / 1024 * 1024
      bytes.replaceSubrange(page..<page + 1024, with: Data(repeating: 0xff, count: 1024))
    }
    var messages = try open(group).messages(name, starting: .all).makeAsyncIterator()
    for value in UInt8(1)...5 { #expect(await messages.next()?.value?.first == value) }
    #expect(await messages.next()?.error == .damaged(path: log(group)))
  }

  @Test func namesOfTheWrongLengthAreDamaged() throws {
    let group = try TemporaryGroup()
    let hole = try open(group)
    try hole.blocking.pass(1, to: name)
    try ForeignProgram.run(
      "UPDATE records SET type = CAST(zeroblob(70000) AS TEXT)", on: log(group))
    #expect(throws: WormholeError.damaged(path: log(group))) { try hole.blocking.message(name) }
    let mailbox = try LogTransit().openMailbox(for: "name", in: hole.directory)
    let type = String(repeating: "x", count: 70_000)
    let payload = Wormhole.Payload(codec: "raw", type: type, version: 0, data: Data())
    #expect(throws: WormholeError.tooLarge(bytes: 70_000, limit: 65_535)) {
      try mailbox.append(Wormhole.Record(.value(payload)))
    }
  }

  @Test func aCopyOfALogHasNoName() throws {
    let group = try TemporaryGroup()
    let hole = try open(group)
    try hole.blocking.pass(1, to: name)
    try ForeignProgram.overwrite(log(group)) { bytes in
      try bytes.write(to: URL(fileURLWithPath: "\(group.path)/wormhole/copy.log"))
      chmod("\(group.path)/wormhole/copy.log", 0o600)
    }
    #expect(try LogTransit().names(in: hole.directory) == ["name"])
  }

  // MARK: - Defaults

  @Test func nothingThatIsSetIsLostAfterTheGreatestNumber() throws {
    let group = try TemporaryGroup()
    let shared = try group.group.defaults
    try shared.blocking.set("a", for: key)
    try ForeignProgram.run("UPDATE entries SET number = \(Int64.max)", on: defaults(group))
    #expect(throws: WormholeError.damaged(path: defaults(group))) {
      try shared.blocking.set("b", for: DefaultsKey("other", default: ""))
    }
    #expect(try shared.blocking[key] == "a")
  }

  @Test func anOddRowOfDefaultsHoldsNothingUp() async throws {
    let group = try TemporaryGroup()
    let shared = try group.group.defaults
    let odd = DefaultsKey("odd", default: "")
    var changes = try shared.changes().makeAsyncIterator()
    try shared.blocking.set("a", for: key)
    try shared.blocking.set("odd", for: odd)
    try ForeignProgram.run(
      """
      UPDATE entries SET pid = 'x' WHERE name = 'odd';
      INSERT INTO entries VALUES('worse', x'31', 'text', 1, 1, 1, 1)
      """, on: defaults(group))
    let another = DefaultsKey("another", default: "")
    try shared.blocking.set("b", for: another)
    #expect(try await changes.next()?.name == "key")
    await #expect(throws: WormholeError.damaged(path: defaults(group))) {
      try await changes.next()
    }
    #expect(try await changes.next()?.name == "another")
    #expect(throws: WormholeError.damaged(path: defaults(group))) { try shared.blocking[odd] }
    try shared.blocking.set("whole", for: odd)
    #expect(try shared.blocking[odd] == "whole")
    #expect(try shared.blocking[another] == "b")
  }

  // MARK: - Databases

  @Test(arguments: [Int64.min, .max])
  func changesWithoutANextNumberAreDamaged(id: Int64) async throws {
    let group = try TemporaryGroup()
    let database = try group.group.database("items", migrations: schema)
    try ForeignProgram.run(
      "DELETE FROM wormhole_changes; INSERT INTO wormhole_changes VALUES(\(id), 'item', 1)",
      on: items(group))
    await #expect(throws: WormholeError.damaged(path: items(group))) {
      try await database.write { try $0.run("INSERT INTO item VALUES(1, 1)") }
    }
    await #expect(throws: WormholeError.damaged(path: items(group))) { try await database.token }
    #expect(try await database.read { try $0.rows("SELECT * FROM item").count } == 0)
  }

  @Test(arguments: [
    "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records; END",
    "ALTER TABLE records RENAME TO r; CREATE VIEW records AS SELECT * FROM r",
  ])
  func aLogWithAForeignSchemaIsRefused(statements: String) throws {
    let group = try TemporaryGroup()
    try open(group).blocking.pass(1, to: name)
    try ForeignProgram.run(statements, on: log(group))
    #expect(throws: WormholeError.foreign(path: log(group))) {
      try open(group).blocking.pass(2, to: name)
    }
    #expect(throws: WormholeError.foreign(path: log(group))) {
      try open(group).blocking.message(name)
    }
  }
}
