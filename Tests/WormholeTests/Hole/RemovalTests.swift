// Specifies how a name is removed.
import Wormhole

@Suite(.bounded)
struct RemovalTests {
  @Test(arguments: TransitKind.allCases)
  func leavesNoFile(_ kind: TransitKind) async {
    // Other tests could close the connection of a log, which then has fewer files.
    await #expect(processExitsWith: .success) { [kind] in
      let site = try Site(kind)
      let other = MessageName<Int>("org.example.other")
      for name in [.number, other] { try await site.hole.pass(1, to: name) }
      let files = Set(site.files.filter { $0.contains("other") })
      if kind.keepsAll { try await RemovalTests.useCursor(in: site) }
      try site.hole.blocking.remove(.number)
      #expect(Set(site.files) == files)
      #expect(try await site.hole.message(.number) == nil)
      #expect(try await site.hole.message(other) == 1)
      #expect(try await site.hole.pass(2, to: .number) == 1)
    }
  }

  private static func useCursor(in site: Site) async throws {
    for cursor in ["place", String(repeating: "place", count: 40)] {
      var messages = try site.hole.messages(.number, starting: .cursor(cursor)).makeAsyncIterator()
      #expect(await messages.next()?.value == 1)
    }
  }

  @Test(arguments: TransitKind.kinds)
  func listenersGetWhatIsPassedLater(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    let log = try site.hear(.number, starting: .last)
    for number in 1...3 { try await site.hole.pass(number, to: .number) }
    await eventually { log.values.last == 3 }
    try site.hole.blocking.remove(.number)
    try await site.hole.pass(4, to: .number)
    await eventually { log.values.last == 4 }
  }

  @Test func aNameMayTakeAnotherTransitAfterwards() throws {
    let site = try Site()
    let asLog = MessageName<Int>("org.example.number", transit: .log)
    try site.hole.blocking.pass(1, to: asLog)
    #expect(throws: WormholeError.self) { try site.hole.blocking.pass(2, to: .number) }
    try site.hole.blocking.remove(.number)
    try site.hole.blocking.pass(2, to: .number)
    #expect(try site.hole.blocking.message(.number) == 2)
  }

  @Test func repairsALogThatIsDamaged() throws {
    let site = try Site(.log)
    try site.hole.blocking.pass(1, to: .number)
    let path = "\(site.path)/org.example.number.log"
    ForeignProgram.remove(path)
    try Data("no database".utf8).write(to: URL(fileURLWithPath: path))
    #expect(throws: WormholeError.self) { try site.makeOther().blocking.pass(2, to: .number) }
    try site.makeOther().blocking.remove(.number)
    #expect(try site.makeOther().blocking.pass(3, to: .number) == 1)
  }
}
