// Specifies what happens when several threads use the messages of a name at once.
import Synchronization

@testable import Wormhole

@Suite(.bounded)
struct MailboxRaceTests {
  @Test func aMessageWithAPingRightAfterItIsDelivered() async throws {
    let site = try Site(.file)
    let mailbox = numberMailbox(of: site)
    let reader = TightReader(mailbox)
    defer { reader.stop() }
    let payload = try MessageName.number.encode(7)
    for _ in 1...300 / slowness {
      _ = try mailbox.append(Wormhole.Record(.value(payload)))
      let ping = try mailbox.append(Wormhole.Record(.ping))
      // Until then the message is the newest one, and readers can find it.
      await reader.wait(for: ping)
    }
    #expect(reader.skipped.entries == [])
  }

  /// The number of a message is given out before the message is in place. Meanwhile a damaged
  /// message may appear in its place at any step of a reader.
  @Test func aDamagedMessageIsNotMistakenForTheOneThatReplacesIt() async throws {
    let site = try Site(.file)
    let mailbox = numberMailbox(of: site)
    let payload = try MessageName.number.encode(7)
    var number = try mailbox.append(Wormhole.Record(.value(payload)))
    let path = try site.messageFile()
    let reader = TightReader(mailbox)
    defer { reader.stop() }
    for _ in 1...300 / slowness {
      await reader.wait(for: number)
      try edit(path) { $0 = Data("text".utf8) }
      number = try mailbox.append(Wormhole.Record(.value(payload)))
    }
    #expect(reader.unreadable.entries == [])
  }

  @Test(arguments: TransitKind.kinds)
  func aFloodLeavesOthersTheirTurnOnTheSameQueue(_ kind: TransitKind) async throws {
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
    let site = try Site(.log)
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
}

/// The mailbox of a message name, without its wormhole.
private func numberMailbox(of site: Site) -> FileMailbox {
  FileMailbox(MessageName.number.rawValue, in: site.path, durable: false, coordinated: false)
}

/// Looks for records without pauses, on a thread of its own.
private final class TightReader: Sendable {
  private let seen = Atomic<UInt64>(0)
  private let isToStop = Atomic<Bool>(false)

  /// The numbers that were skipped; of several in a row, the last.
  let skipped = Log<UInt64>()

  /// The numbers of the records that could not be read.
  let unreadable = Log<UInt64>()

  init(_ mailbox: FileMailbox) {
    Thread.detachNewThread { [self] in
      var place: UInt64 = 0
      while !isToStop.load(ordering: .acquiring) {
        for record in (try? mailbox.records(after: place, limit: 16))?.records ?? [] {
          if record.number != place + 1 { skipped.append(record.number - 1) }
          if case .unreadable = record.record.content { unreadable.append(record.number) }
          place = record.number
        }
        seen.store(place, ordering: .releasing)
      }
    }
  }

  /// Returns when the record of a number has been read.
  func wait(for number: UInt64) async {
    for _ in 1...1000 where seen.load(ordering: .acquiring) < number { sched_yield() }
    await eventually("no record \(number)") { self.seen.load(ordering: .acquiring) >= number }
  }

  func stop() { isToStop.store(true, ordering: .releasing) }
}

/// Counts from 0.
private final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  var value: Int { count.load(ordering: .acquiring) }
  func increase(by number: Int = 1) { count.add(number, ordering: .acquiringAndReleasing) }
}
