// Specifies the named listeners of messages.
import Wormhole

@Suite(.bounded)
struct WormholeListenerTests {
  private let queue = DispatchQueue(label: "com.example.queue")

  // MARK: - Binding

  @Test(arguments: Kept.allCases)
  func isReplacedByTheNextOfItsName(_ kind: Kept) async throws {
    let site = try Site(kind, on: .usual)
    let (other, log, census) = (try site.makeOther(), Log<Int>(), Census())
    for round in 1...100 {
      let canary = census.makeCanary()
      let label = Listener<Wormhole.Message<Int>>("label", on: .queue(queue)) { _ in
        canary.sing()
        log.append(round)
      }
      try site.hole.bind(label, to: .number, starting: .new)
    }
    try await other.pass(1, to: .number)
    await eventually { !log.entries.isEmpty }
    try await site.settle(queue, behind: other)
    #expect(log.entries == [100])
    await eventually("replaced closures were not released") { census.deaths == 99 }
    site.hole.unbind("label", from: .number)
    await eventually("the last closure was not released") { census.deaths == 100 }
  }

  @Test(arguments: Kept.allCases)
  func coexistsWithThoseOfOtherNames(_ kind: Kept) async throws {
    let site = try Site(kind)
    let log = Log<String>()
    for label in ["a", "b", "caf\u{E9}", "cafe\u{301}"] {
      let listener = Listener<Wormhole.Message<Int>>(label) { _ in log.append(label) }
      try site.hole.bind(listener, to: .number, starting: .new)
    }
    try await site.hole.pass(1, to: .number)
    await eventually { log.entries.count == 4 }
    site.hole.unbind("a", from: .number)
    site.hole.unbind("a", from: .number)
    site.hole.unbind("nobody", from: .number)
    site.hole.unbind("b", from: .other)
    try await site.hole.pass(2, to: .number)
    await eventually { log.entries.count == 7 }
    #expect(log.entries.dropFirst(4).map { Array($0.utf8).count }.sorted() == [1, 5, 6])
    let observation = try site.hole.listen(.number, starting: .new, on: .queue(queue)) { _ in
      log.append("o")
    }
    site.hole.unbindAll(from: .number)
    try await site.hole.pass(3, to: .number)
    await eventually { log.entries.count == 8 }
    #expect(log.entries.dropFirst(7) == ["o"])
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: Kept.allCases)
  func isCalledOnceForEachOfTwoWormholes(_ kind: Kept) async throws {
    let site = try Site(kind, on: .usual)
    let holes = [
      site.hole, try Wormhole(group: site.temporary.group),
      try site.makeOther(),
    ]
    let logs = holes.map { _ in Mail() }
    for (hole, log) in zip(holes, logs) {
      try hole.record(in: log, on: .queue(queue))
    }
    try await holes[0].pass(1, to: .number)
    await eventually { logs.allSatisfy { $0.values == [1] } }
    for hole in holes {
      try await drain(hole.group.center, behind: holes[0].group.center, on: .inline)
    }
    await turn(queue)
    await turn(queue)
    #expect(logs.map(\.values) == [[1], [1], [1]])
  }

  // MARK: - Start

  @Test(arguments: Kept.allCases, [Wormhole.Start.new, .last, .lastOrAbsent])
  func startsWhereItAskedTo(_ kind: Kept, _ initial: Wormhole.Start) async throws {
    let site = try Site(kind)
    let (before, after) = (Mail(), Mail())
    try site.hole.record("before", in: before, on: .queue(queue), starting: initial)
    try await site.settle(queue)
    try await site.hole.pass(1, to: .number)
    await eventually { before.values == [1] }
    try site.hole.record("after", in: after, on: .queue(queue), starting: initial)
    try await site.hole.pass(2, to: .number)
    await eventually { before.values.last == 2 && after.values.last == 2 }
    #expect(before.texts.first == (initial == .lastOrAbsent ? "absent" : "value(1)"))
    #expect(before.entries.map(\.isInitial) == before.texts.map { $0 == "absent" })
    #expect(after.values.last == 2)
    #expect(after.entries.first?.isInitial == (initial != .new))
    #expect(Set(after.entries.map(\.sequence)).count == after.entries.count)
  }

  @Test(arguments: Kept.allCases)
  func hearsAMessageThatRacesWithItsBindingOnce(_ kind: Kept) async throws {
    let site = try Site(kind)
    for round in 1...60 {
      let name = MessageName<Int>("org.example.\(round)")
      let log = Mail()
      let passing = Task.detached { try await site.hole.pass(round, to: name) }
      let label = Listener<Wormhole.Message<Int>>("label", on: .queue(queue)) { log.append($0) }
      try site.hole.bind(label, to: name, starting: .lastOrAbsent)
      _ = try await passing.value
      await eventually("\(log.texts) in round \(round)") { log.values == [round] }
      guard log.values == [round] else { return }
      try await site.settle(queue)
      #expect(log.values == [round])
      #expect(log.texts.filter { $0 != "absent" } == ["value(\(round))"])
    }
  }

  // MARK: - End

  @Test func makesNoCallOnceCancelledOnItsOwnQueue() async throws {
    let site = try Site(.history)
    let log = Mail()
    let observation = try site.hole.listen(.number, starting: .new, on: .queue(queue)) {
      log.append($0)
    }
    try await site.settle(queue)
    queue.suspend()
    queue.async { observation.cancel() }
    try await site.hole.pass(1, to: .number)
    queue.resume()
    try await site.settle(queue)
    #expect(log.entries.isEmpty)
  }

  @Test(arguments: Kept.allCases)
  func makesNoCallOnceItsEndWasWaitedFor(_ kind: Kept) async throws {
    let site = try Site(kind)
    let writer = Writer(site.hole, to: .number)
    for _ in 1...100 {
      let (over, late) = (Flag(), Log<Int>())
      let observation = try site.hole.listen(.number, starting: .new, on: .queue(.global())) {
        message in
        if over.isSet { late.append(message.value ?? 0) }
      }
      await observation.end()
      over.set()
      await turn(.global())
      #expect(late.entries.isEmpty)
    }
    await writer.stop()
  }

  @Test func endsWithItsWormhole() async throws {
    let site = try Site(on: .usual)
    let (writer, census, rounds) = (Writer(site.hole, to: .number), Census(), 500 / slowness)
    for round in 1...rounds {
      let canary = census.makeCanary()
      let hole = try Wormhole(group: site.temporary.group)
      let label = Listener<Wormhole.Message<Int>>("label", on: .thread) { _ in canary.sing() }
      try hole.bind(label, to: .number, starting: .new)
      if round.isMultiple(of: 100) { try await hole.pass(round, to: .number) }
      await Task.yield()
    }
    await eventually("closures were not released") { census.deaths == rounds }
    await writer.stop()
  }

  @Test(arguments: Kept.allCases)
  func leavesNothingBehind(_ kind: Kept) async throws {
    let site = try Site(kind)
    for number in 1...50 {
      try await site.hole.pass(number, to: .number)
      let observation = try site.hole.listen(.number, starting: .all, on: .inline) { _ in }
      observation.cancel()
      #expect(throws: (any Error).self) {
        try site.hole.bind(Listener("x", on: .inline) { _ in }, to: "" as MessageName<Int>)
      }
    }
    #expect(try openFiles(in: site.path).allSatisfy { $0.hasPrefix(site.store.path) })
  }

  // MARK: - The directory is removed

  @Test(arguments: Kept.allCases)
  func hearsNothingTwiceWhenItIsReplacedAfterwards(_ kind: Kept) async throws {
    let site = try Site(kind)
    let log = Mail()
    try site.hole.record(in: log, on: .queue(queue))
    for number in 1...5 { try await site.hole.pass(number, to: .number) }
    await eventually { log.values.last == 5 }
    try FileManager.default.removeItem(atPath: site.temporary.path)
    try await site.hole.pass(6, to: .number)
    await eventually { log.values.last == 6 }
    try site.hole.record(in: log, on: .queue(queue))
    try await site.hole.ping(.number)
    await eventually { log.texts.last == "ping" }
    #expect(log.values.count { $0 == 6 } == 1)
  }

  // MARK: - Delivery

  @Test func onAConcurrentQueueCallsDoNotOverlap() async throws {
    let site = try Site(.history, on: .usual)
    let (other, log) = (try site.makeOther(), Log<String>())
    let queue = DispatchQueue(label: "com.example.queue", attributes: .concurrent)
    let observation = try site.hole.listen(.number, starting: .new, on: .queue(queue)) { _ in
      log.append("begin")
      sched_yield()
      log.append("end")
    }
    for number in 1...200 { try await other.pass(number, to: .number) }
    await eventually { log.entries.count == 400 }
    #expect(log.entries == (1...200).flatMap { _ in ["begin", "end"] })
    withExtendedLifetime(observation) {}
  }

  @Test func aHandlerMayPassMessagesItself() async throws {
    for delivery in [Delivery.inline, .thread, .main] {
      let site = try Site(.history)
      let (log, hole) = (Mail(), site.hole)
      let observation = try hole.listen(.number, starting: .new, on: delivery) {
        [weak hole] message in
        log.append(message)
        guard let value = message.value, value < 100 else { return }
        _ = try? hole?.blocking.pass(value + 1, to: .number)
      }
      try await hole.pass(1, to: .number)
      await eventually { log.values == Array(1...100) }
      withExtendedLifetime(observation) {}
    }
  }
}
