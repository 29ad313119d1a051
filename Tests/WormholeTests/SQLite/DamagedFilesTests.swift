// Specifies how databases that others have damaged are handled.
import Wormhole

@Suite(.bounded)
struct DamagedFilesTests {
  private let name = MessageName<Int>("name")

  private let group: TemporaryGroup

  init() throws { group = try TemporaryGroup() }

  private func open() throws -> Wormhole { try Wormhole(group: group.make()) }

  private var store: String { "\(group.path)/wormhole/store.sqlite" }

  @Test func nothingIsLostAfterTheGreatestNumber() async throws {
    let (site, keeper) = (try Site(.history), Keeper.messages)
    let error = WormholeError.damaged(path: keeper.path(in: site))
    try await keeper.write(1, in: site)
    try ForeignProgram.run(
      "UPDATE records SET id = id | 0xffffffffff, newest = 0xffffffffff", on: keeper.path(in: site))
    await #expect(throws: error) { try await keeper.write(2, in: site) }
    #expect(try await keeper.read(in: site) == 1)
    #expect(throws: error) { try site.hole.blocking.ping(.number) }
    #expect(throws: error) { try site.hole.blocking.clear(.number) }
    #expect(throws: error) { try site.hole.blocking.update(.number) { $0 = 2 } }
  }

  // MARK: - Messages

  @Test func recordsBeforeADamagedPageAreRead() async throws {
    let name = MessageName<Data>("name", keep: .last(100))
    for value in UInt8(1)...10 {
      try await open().pass(Data(repeating: value, count: 3900), to: name)
    }
    try ForeignProgram.overwrite(store) { bytes in
      let found = try #require(bytes.range(of: Data(repeating: 6, count: 500)))
      let page = found.lowerBound / 4096 * 4096
      bytes.replaceSubrange(page..<page + 4096, with: Data(repeating: 0xff, count: 4096))
    }
    await #expect(throws: WormholeError.damaged) {
      for try await message in try open().messages(name, starting: .all) {
        #expect((message.value?.first ?? 9) < 6)
      }
    }
  }

  @Test func aNameThatLacksItsNumberOfMessagesIsDamaged() throws {
    try open().blocking.pass(1, to: name)
    try ForeignProgram.overwrite(store) { bytes in
      // The header of its row has the types of three fields; the last is the constant 1.
      let row = try #require(bytes.range(of: Data([4, 0, 0x15, 9]) + Data("name".utf8)))
      bytes[row.lowerBound + 3] = 0
    }
    #expect(throws: WormholeError.damaged) { try open().blocking.message(name) }
  }

  @Test(arguments: [
    "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records; END",
    "ALTER TABLE records RENAME TO r; CREATE VIEW records AS SELECT * FROM r",
  ])
  func aStoreWithAForeignSchemaIsRefused(statements: String) throws {
    try open().blocking.pass(1, to: name)
    try ForeignProgram.run(statements, on: store)
    #expect(throws: WormholeError.damaged) { try open().blocking.pass(2, to: name) }
    #expect(throws: WormholeError.damaged) { try open().blocking.message(name) }
  }
}
