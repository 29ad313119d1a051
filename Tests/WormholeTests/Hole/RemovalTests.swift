// Specifies how names and damaged stores are removed.
import Wormhole

@Suite(.bounded)
struct RemovalTests {
  @Test func removesMessagesAndCursorsButNoNumber() async throws {
    let site = try Site(.history)
    for number in 1...5 { try await site.hole.pass(number, to: .number) }
    try await site.hole.pass(1, to: .other)
    try await read(in: site)
    #expect(try await site.hole.cursors(of: .number).map(\.name) == ["place"])
    try await site.hole.remove(.number)
    #expect(try await site.hole.history(.number).isEmpty)
    #expect(try await site.hole.cursors(of: .number).isEmpty)
    #expect(try await site.hole.message(.other) == 1)
    for number in 7...9 {
      #expect(try await site.hole.pass(number, to: .number) == UInt64(number))
    }
    #expect(try await site.hole.history(.number).compactMap(\.value) == [9])
  }

  private func read(in site: Site) async throws {
    var messages = try site.hole.messages(.number, starting: .cursor("place")).makeAsyncIterator()
    #expect(try await messages.next()?.value == 1)
  }

  @Test(arguments: Kept.allCases)
  func listenersGetTheClearingAndWhatIsPassedLater(_ kind: Kept) async throws {
    let site = try Site(kind)
    let log = try site.hear(.number, starting: .last)
    for number in 1...3 { try await site.hole.pass(number, to: .number) }
    await eventually { log.values.last == 3 }
    try await site.hole.remove(.number)
    await eventually { log.texts.last == "cleared" }
    try await site.hole.pass(4, to: .number)
    await eventually { log.values.last == 4 }
  }

  @Test func aDamagedStoreIsMovedAwayAndListenersGoOn() async throws {
    let site = try Site(.history)
    let log = try site.hear(.number)
    for number in 1...3 { try await site.hole.pass(number, to: .number) }
    await eventually { log.values == [1, 2, 3] }
    try ForeignProgram.run("DROP TRIGGER passing", on: site.store.path)
    await #expect(throws: WormholeError.damaged) { try await site.hole.pass(4, to: .number) }
    await #expect(throws: WormholeError.damaged) { try await site.hole.message(.number) }
    try await site.hole.startAnew()
    #expect(try await site.hole.pass(10, to: .number) == 1)
    await eventually { log.values.last == 10 }
    #expect(log.entries.last?.mayHaveMissed == true)
    #expect(access("\(site.store.path).damaged", F_OK) == 0)
  }

  @Test func fewerMessagesAreKeptWhenAskedTo() async throws {
    let site = try Site(.history)
    for number in 1...50 { try await site.hole.pass(number, to: .number) }
    try await site.hole.setKeep(.last(10), of: .number)
    #expect(try await site.hole.history(.number).compactMap(\.value) == Array(41...50))
    try await site.hole.setKeep(.newest, of: .number)
    #expect(try await site.hole.history(.number).compactMap(\.value) == [50])
  }
}
