// Specifies how databases that others have damaged are handled.
import Wormhole

@Suite(.bounded)
struct DamagedFilesTests {
  private let name = MessageName<Int>("name")

  private let group: TemporaryGroup

  init() throws { group = try TemporaryGroup() }

  private func open() throws -> Wormhole { try Wormhole(group: group.make(), transit: .log) }

  private var log: String { "\(group.path)/wormhole/name.log" }

  @Test func nothingIsLostAfterTheGreatestNumber() async throws {
    let (site, keeper) = (try Site(.log), Keeper.log)
    let error = WormholeError.damaged(path: keeper.path(in: site))
    try await keeper.write(1, in: site)
    try ForeignProgram.run(
      "UPDATE records SET number = \(Int64.max)", on: keeper.path(in: site))
    await #expect(throws: error) { try await keeper.write(2, in: site) }
    #expect(try await keeper.read(in: site) == 1)
    #expect(throws: error) { try site.hole.blocking.ping(.number) }
    #expect(throws: error) { try site.hole.blocking.clear(.number) }
    #expect(throws: error) { try site.hole.blocking.update(.number) { $0 = 2 } }
  }

  // MARK: - Logs

  @Test func recordsBeforeADamagedPageAreRead() async throws {
    let name = MessageName<Data>("name", codec: .raw)
    for value in UInt8(1)...10 {
      try await open().pass(Data(repeating: value, count: 900), to: name)
    }
    try ForeignProgram.overwrite(log) { bytes in
      let found = try #require(bytes.range(of: Data(repeating: 6, count: 500)))
      let page = found.lowerBound / 1024 * 1024
      bytes.replaceSubrange(page..<page + 1024, with: Data(repeating: 0xff, count: 1024))
    }
    var messages = try open().messages(name, starting: .all).makeAsyncIterator()
    for value in UInt8(1)...5 { #expect(await messages.next()?.value?.first == value) }
    #expect(await messages.next()?.error == .damaged(path: log))
  }

  @Test func recordsAreReadUpToTheFirstOutOfOrder() throws {
    for value in 1...5 { try open().blocking.pass(value, to: name) }
    try ForeignProgram.overwrite(log) { bytes in
      let page = try #require(bytes.range(of: Data("json".utf8))).lowerBound / 1024 * 1024
      for byte in 0..<2 { bytes.swapAt(page + 10 + byte, page + 14 + byte) }
    }
    let mailbox = try LogTransit().openMailbox(for: "name", in: open().directory)
    let batch = try mailbox.records(after: 0, limit: 10)
    #expect(batch.records.map(\.number) == [1, 4] && batch.hasMore)
  }

  @Test func namesOfTheWrongLengthAreDamaged() throws {
    let hole = try open()
    try hole.blocking.pass(1, to: name)
    try ForeignProgram.run(
      "UPDATE records SET type = CAST(zeroblob(70000) AS TEXT)", on: log)
    #expect(throws: WormholeError.damaged(path: log)) { try hole.blocking.message(name) }
    let mailbox = try LogTransit().openMailbox(for: "name", in: hole.directory)
    let type = String(repeating: "x", count: 70_000)
    let payload = Wormhole.Payload(codec: "raw", type: type, version: 0, data: Data())
    #expect(throws: WormholeError.tooLarge(bytes: 70_000, limit: 65_535)) {
      try mailbox.append(Wormhole.Record(.value(payload)))
    }
  }

  @Test func aCopyOfALogHasNoName() throws {
    let hole = try open()
    try hole.blocking.pass(1, to: name)
    try ForeignProgram.overwrite(log) { bytes in
      try bytes.write(to: URL(fileURLWithPath: "\(group.path)/wormhole/copy.log"))
      chmod("\(group.path)/wormhole/copy.log", 0o600)
    }
    #expect(try LogTransit().names(in: hole.directory) == ["name"])
  }

  @Test(arguments: [
    "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records; END",
    "ALTER TABLE records RENAME TO r; CREATE VIEW records AS SELECT * FROM r",
  ])
  func aLogWithAForeignSchemaIsRefused(statements: String) throws {
    try open().blocking.pass(1, to: name)
    try ForeignProgram.run(statements, on: log)
    #expect(throws: WormholeError.foreign(path: log)) {
      try open().blocking.pass(2, to: name)
    }
    #expect(throws: WormholeError.foreign(path: log)) {
      try open().blocking.message(name)
    }
  }

  // MARK: - Databases

  @Test(arguments: [Int64.min, .max])
  func changesWithoutANextNumberAreDamaged(id: Int64) async throws {
    let store = try Store()
    try ForeignProgram.run(
      "DELETE FROM wormhole_changes; INSERT INTO wormhole_changes VALUES(\(id), 'item', 1)",
      on: store.path)
    let error = WormholeError.damaged(path: store.path)
    await #expect(throws: error) { try await store.write("INSERT INTO item VALUES(2, 'two')") }
    await #expect(throws: error) { try await store.database.token }
    #expect(try await store.count() == 1)
  }
}
