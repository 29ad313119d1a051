// Specifies what happens when several threads use the messages of a name at once.
import Synchronization
import Wormhole

@Suite(.bounded)
struct RaceTests {
  @Test(arguments: Kept.allCases)
  func aFloodLeavesOthersTheirTurnOnTheSameQueue(_ kind: Kept) async throws {
    let site = try Site(kind)
    let (hole, queue) = (site.hole, DispatchQueue(label: "com.example.queue"))
    let calls = Counter()
    let observation = try hole.listen(.number, starting: .new, on: .queue(queue)) { [weak hole] _ in
      calls.increase()
      // There is something new whenever a call ends.
      for _ in 1...2 { _ = try? hole?.blocking.ping(.number) }
    }
    let writer = Writer(hole, to: .number)
    for _ in 1...5 {
      let start = calls.value
      await eventually("nothing is heard") { calls.value > start + 20 }
      let atTurn = Counter()
      queue.async { atTurn.increase(by: calls.value) }
      let before = calls.value
      await eventually("the queue is taken") { atTurn.value > 0 }
      // The rest of the batch that was running, and another one that was already queued.
      #expect(atTurn.value <= before + 32)
    }
    observation.cancel()
    await writer.stop()
  }

  @Test func concurrentBindersOfOneNameLoseAndDuplicateNothing() async throws {
    let site = try Site(.history)
    let (hole, queue) = (site.hole, DispatchQueue(label: "com.example.queue"))
    let (log, over, binders) = (Mail(), Counter(), 4)
    let bind: @Sendable () throws -> Void = {
      try hole.record(in: log, on: .queue(queue))
    }
    try bind()
    for _ in 1...binders {
      Thread.detachNewThread {
        for _ in 1...200 / slowness {
          do { try bind() } catch { Issue.record("\(error)") }
        }
        over.increase()
      }
    }
    var count = 0
    while over.value < binders {
      try await hole.pass(count, to: .number)
      count += 1
    }
    let passed = count
    await eventually("messages are lost") { Set(log.values).count == passed }
    try await site.settle(queue)
    #expect(log.values.sorted() == Array(0..<passed))
  }

  @Test(arguments: Kept.allCases)
  func aClearingIsDeliveredOnceToEachOfTwoListeners(_ kind: Kept) async throws {
    let site = try Site(kind, on: .usual)
    let logs = try (1...2).map { _ in
      try site.hear(.number, on: .queue(DispatchQueue(label: "com.example.queue")))
    }
    let other = try site.makeOther()
    for number in 1...66 {
      try await site.hole.pass(number, to: .number)
      try await (number.isMultiple(of: 2) ? other : site.hole).clear(.number)
    }
    await eventually { logs.allSatisfy { $0.entries.last?.sequence == 132 } }
    try await site.settle(behind: other)
    for log in logs {
      let numbers = log.entries.map(\.sequence)
      #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
      #expect(log.total == 132)
    }
  }
}

/// Counts from 0.
private final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  var value: Int { count.load(ordering: .acquiring) }
  func increase(by number: Int = 1) { count.add(number, ordering: .acquiringAndReleasing) }
}
