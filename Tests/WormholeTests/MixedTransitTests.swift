// Specifies what happens when the programs of a group disagree about a name.
import Wormhole

@Suite(.bounded)
struct MixedTransitTests {
  private let queue = DispatchQueue(label: "com.example.queue")
  private let asFile = MessageName<Int>("org.example.mixed")
  private let asLog = MessageName<Int>("org.example.mixed", transit: .log)

  private func isOtherTransit(_ error: any Error) -> Bool {
    (error as? WormholeError).map { .otherTransit ~= $0 && $0.name == asFile.rawValue } ?? false
  }

  @Test(arguments: [false, true])
  func aNameIsNotReadOrWrittenThroughAnotherTransit(startsAsLog: Bool) throws {
    let site = try Site()
    let (used, other) = startsAsLog ? (asLog, asFile) : (asFile, asLog)
    try site.hole.blocking.pass(1, to: used)
    #expect(performing: { try site.hole.blocking.message(other) }, throws: isOtherTransit)
    #expect(performing: { try site.hole.blocking.pass(2, to: other) }, throws: isOtherTransit)
    #expect(performing: { _ = try site.hole.messages(other) }, throws: isOtherTransit)
    #expect(try site.hole.blocking.message(used) == 1)
  }

  @Test func aListenerLearnsThatAnotherTransitIsUsed() async throws {
    let site = try Site()
    let log = try site.hear(asFile, starting: .last, on: .queue(queue))
    try await site.hole.pass(1, to: asLog)
    await eventually { log.entries.last?.error.map(isOtherTransit) == true }
  }

  @Test func twoSpellingsWithOtherLimitsAreOneName() async throws {
    let site = try Site()
    let (short, long) = (
      MessageName<Int>("n", transit: .log(count: 10)), MessageName<Int>("n", transit: .log)
    )
    let log = Log<Int>()
    for (index, name) in [short, long].enumerated() {
      try site.hole.bind(
        Listener("label", on: .queue(queue)) { _ in log.append(index) }, to: name, starting: .new)
    }
    try await site.hole.pass(1, to: short)
    await eventually { !log.entries.isEmpty }
    try await site.settle(queue)
    #expect(log.entries == [1])
    site.hole.unbind("label", from: short)
    try await site.hole.pass(2, to: long)
    try await site.settle(queue)
    #expect(log.entries == [1])
  }
}
