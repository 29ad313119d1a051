// Specifies what happens when the programs of a group disagree about a name.
import DarwinNotify
import Dispatch
import Testing
import Wormhole

@Suite(.timeLimit(.minutes(10)))
struct MixedTransitTests {
  private let queue = DispatchQueue(label: "com.example.queue")
  private let asFile = MessageName<Int>("org.example.mixed")
  private let asLog = MessageName<Int>("org.example.mixed", transit: .log)

  private func isOtherTransit(_ error: any Error) -> Bool {
    if case WormholeError.otherTransit(name: "org.example.mixed", _, _) = error {
      true
    } else {
      false
    }
  }

  @Test func aLogIsNotReadOrWrittenAsAFile() throws {
    let site = try Site()
    try site.hole.pass(1, to: asLog)
    #expect(performing: { try site.hole.message(asFile) }, throws: isOtherTransit)
    #expect(performing: { try site.hole.pass(2, to: asFile) }, throws: isOtherTransit)
    #expect(performing: { _ = try site.hole.messages(asFile) }, throws: isOtherTransit)
    #expect(try site.hole.message(asLog) == 1)
  }

  @Test func aFileIsNotReadOrWrittenAsALog() throws {
    let site = try Site()
    try site.hole.pass(1, to: asFile)
    #expect(performing: { try site.hole.message(asLog) }, throws: isOtherTransit)
    #expect(performing: { try site.hole.pass(2, to: asLog) }, throws: isOtherTransit)
    #expect(performing: { _ = try site.hole.messages(asLog) }, throws: isOtherTransit)
    #expect(try site.hole.message(asFile) == 1)
  }

  @Test func aListenerLearnsThatAnotherTransitIsUsed() async throws {
    let site = try Site()
    let log = Log<Wormhole.Message<Int>>()
    let observation = try site.hole.listen(asFile, on: .queue(queue)) { log.append($0) }
    try await site.hole.pass(1, to: asLog)
    await eventually { log.entries.last?.error.map(isOtherTransit) == true }
    withExtendedLifetime(observation) {}
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
