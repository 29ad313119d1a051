// Specifies cursors.
import Wormhole

@Suite(.bounded)
struct CursorTests {
  @Test func areListedWithTheirLagAndNeverGoBack() async throws {
    let site = try Site(.log)
    #expect(try site.hole.blocking.cursors(of: .number).isEmpty)
    for number in 1...5 { try await site.hole.pass(number, to: .number) }
    for (name, count) in [("b", 2), ("a", 5)] {
      var messages = try site.hole.messages(.number, starting: .cursor(name)).makeAsyncIterator()
      let first = try #require(await messages.next())
      for _ in 2...count { try await messages.next()?.acknowledge() }
      try first.acknowledge()
    }
    #expect(
      try site.hole.blocking.cursors(of: .number) == [
        Wormhole.Cursor(name: "a", sequence: 5, lag: 0),
        Wormhole.Cursor(name: "b", sequence: 2, lag: 3),
      ])
  }

  @Test func areRemovedUnlessTheyAreInUse() async throws {
    let site = try Site(.log)
    try await site.hole.pass(1, to: .number)
    try await use("place", in: site) {
      #expect(throws: WormholeError.cursorInUse("place")) {
        try site.hole.blocking.removeCursor("place", of: .number)
      }
    }
    try await site.hole.removeCursor("place", of: .number)
    try site.hole.blocking.removeCursor("place", of: .number)
    #expect(try site.hole.blocking.cursors(of: .number).isEmpty)
    #expect(!site.files.contains { $0.hasSuffix(".cursor") })
  }

  @Test func areFreeAsSoonAsTheirSequenceIsDropped() async throws {
    let site = try Site(.log)
    try await site.hole.pass(1, to: .number)
    try await withTaskExecutorPreference(InPlace()) {
      // Not every message has to be waited for.
      for _ in 1...100 { try await use("place", in: site) {} }
    }
  }

  /// Continues a task on the thread that wakes it, before that thread lets go of anything.
  private final class InPlace: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
      UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  private func use(_ cursor: String, in site: Site, _ body: () throws -> Void) async throws {
    var messages = try site.hole.messages(.number, starting: .cursor(cursor)).makeAsyncIterator()
    let message = await messages.next()
    #expect(message?.value == 1)
    try body()
  }

  @Test(arguments: TransitKind.files)
  func areNotKeptByFiles(_ kind: TransitKind) throws {
    let site = try Site(kind)
    let error = WormholeError.noCursors(
      name: MessageName<Int>.number.rawValue, transit: kind.transit.identifier)
    #expect(throws: error) { try site.hole.blocking.cursors(of: .number) }
    #expect(throws: error) { try site.hole.blocking.removeCursor("x", of: .number) }
    #expect(throws: error) { try site.hole.messages(.number, starting: .cursor("x")) }
    #expect(throws: error) { try site.hole.listen(.number, starting: .cursor("x")) { _ in } }
  }

  /// A trigger simulates a full disk: reads succeed, but storing a place fails.
  private static let fullDisk = """
    CREATE TRIGGER full BEFORE UPDATE ON cursors BEGIN SELECT RAISE(ABORT, 'full'); END;
    """

  @Test func aPlaceThatCannotBeStoredIsReportedAndHoldsMessagesBack() async throws {
    // Other tests could close the connection, and the next one would find the trigger foreign.
    await #expect(processExitsWith: .success) {
      let site = try Site(.log)
      for number in 1...3 { try await site.hole.pass(number, to: .number) }
      let path = site.path + "/org.example.number.log"
      var messages = try site.hole.messages(.number, starting: .cursor("place")).makeAsyncIterator()
      #expect(await messages.next()?.value == 1)
      try ForeignProgram.run(CursorTests.fullDisk, on: path)
      let error = try #require(await messages.next()?.error)
      #expect(.cursorNotStored ~= error && error.name == "place")
      #expect(error.reason?.contains("full") == true)
      try ForeignProgram.run("DROP TRIGGER full", on: path)
      #expect(await messages.next()?.value == 2)
    }
  }

  @Test func cannotBeOpenedIfTheirPlaceCannotBeStored() throws {
    let site = try Site(.log)
    try site.hole.blocking.pass(1, to: .number)
    var messages: Wormhole.Messages<Int>? = try site.hole.messages(
      .number, starting: .cursor("place"))
    withExtendedLifetime(messages) {}
    messages = nil
    try ForeignProgram.run(Self.fullDisk, on: site.path + "/org.example.number.log")
    #expect(throws: WormholeError.self) {
      try site.hole.messages(.number, starting: .cursor("place"))
    }
  }
}
