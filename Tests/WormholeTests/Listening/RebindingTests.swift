// Specifies what happens when a listener replaces another.
@testable import Wormhole

@Suite(.bounded)
struct RebindingTests {
  private let queue = DispatchQueue(label: "com.example.queue")

  /// Binds a listener again when it is released.
  private final class Rebinder: Sendable {
    let hole: Wormhole
    let queue: DispatchQueue
    let log: Mail

    init(_ hole: Wormhole, _ queue: DispatchQueue, _ log: Mail) {
      (self.hole, self.queue, self.log) = (hole, queue, log)
    }

    deinit {
      try? hole.record(in: log, on: .queue(queue))
    }
  }

  @Test(arguments: TransitKind.kinds)
  func aHandlerMayBindAgainWhenItIsReleased(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    let (log, isBound) = (Mail(), Flag())
    try bindWithRebinder(site.hole, log)
    Thread.detachNewThread { [queue] in
      try? site.hole.record(in: Mail(), on: .queue(queue))
      isBound.set()
    }
    await eventually("bind waits for itself") { isBound.isSet }
    try await site.hole.pass(1, to: .number)
    await eventually("the last listener is not bound") { log.values == [1] }
    site.hole.unbindAll(from: .number)
  }

  @Test(arguments: TransitKind.kinds, [false, true])
  func aMessageThatThePredecessorDidNotGetComesOnce(
    _ kind: TransitKind, onTheSameQueue: Bool
  ) async throws {
    let site = try Site(kind)
    let (old, new) = (Mail(), Mail())
    let slow = onTheSameQueue ? queue : DispatchQueue(label: "com.example.slow")
    try site.hole.record(in: old, on: .queue(slow))
    await turn(slow)
    slow.suspend()
    try await site.hole.pass(1, to: .number)
    try site.hole.record(in: new, on: .queue(queue), starting: .last)
    if onTheSameQueue { slow.resume() }
    try await site.hole.pass(2, to: .number)
    await eventually { new.values.last == 2 }
    if !onTheSameQueue { slow.resume() }
    await turn(slow)
    try await site.settle(queue)
    #expect(new.entries.map(\.sequence).filter { $0 == 1 }.count <= 1)
    #expect(new.values == (kind.keepsAll ? [1, 2] : new.values))
    #expect(new.entries.allSatisfy { !$0.isInitial })
    #expect(new.total == 2 && old.entries.isEmpty)
    site.hole.unbindAll(from: .number)
  }

  private func bindWithRebinder(_ hole: Wormhole, _ log: Mail) throws {
    let rebinder = Rebinder(hole, queue, log)
    try hole.bind(
      Listener("label", on: .queue(queue)) { _ in withExtendedLifetime(rebinder) {} }, to: .number,
      starting: .new)
  }

  @Test func aNameThatIsSlowDelaysNoOther() async throws {
    let site = try Site()
    let (slow, isBound, log) = (SlowTransit(), Flag(), Mail())
    Thread.detachNewThread {
      try? site.hole.bind(
        Listener("label", on: .thread) { _ in }, to: MessageName<Int>("slow", transit: slow))
      isBound.set()
    }
    await eventually("the slow name is not read") { slow.isEntered.isSet }
    try site.hole.record(in: log, on: .queue(queue))
    try await site.hole.pass(1, to: .number)
    await eventually { log.values == [1] }
    #expect(!isBound.isSet)
    slow.gate.signal()
    await eventually("the slow name was not bound") { isBound.isSet }
  }

  @Test func keepsTheCursorOfItsPredecessor() async throws {
    let site = try Site(.log)
    let (old, new) = (Mail(), Mail())
    try await site.hole.pass(1, to: .number)
    try site.hole.record(in: old, on: .queue(queue), starting: .cursor("place"))
    await eventually { old.values == [1] }
    try site.hole.record(in: new, on: .queue(queue), starting: .cursor("place"))
    try await site.hole.pass(2, to: .number)
    await eventually { new.values == [2] }
    #expect(throws: WormholeError.cursorInUse("place")) {
      try site.hole.messages(.number, starting: .cursor("place"))
    }
    site.hole.unbind("label", from: .number)
    try await site.settle(queue)
    #expect(old.values == [1])
    var rest = try site.hole.messages(.number, starting: .cursor("place")).makeAsyncIterator()
    try await site.hole.pass(3, to: .number)
    #expect(await rest.next()?.value == 3)
  }

  /// Another listener may replace one that is still being bound.
  @Test func aListenerThatWasReplacedBeforeItBeganHandsItsPlaceOn() throws {
    let (pump, isHandedOn) = (MessagePump<Int>(from: .all, on: .inline) { _ in }, Flag())
    let mailbox = try LogTransit().openMailbox(for: "name", in: TemporaryGroup().group.directory)
    pump.end { _ in isHandedOn.set() }
    #expect(!isHandedOn.isSet)
    pump.begin(try MessageReader(.number, mailbox, from: .all))
    #expect(isHandedOn.isSet)
  }

  @Test func aMailboxThatPromisesMoreThanItHasIsNotAskedForEver() throws {
    let mailbox = SlowTransit()
    mailbox.gate.signal()
    var reader = try MessageReader(MessageName<Int>.number, mailbox, from: .all)
    #expect(reader.next() == nil && !reader.hasMore)
  }
}

/// Keeps nothing, and reads only when its gate is open.
private struct SlowTransit: MessageTransit, Wormhole.Mailbox {
  let identifier = "slow"
  let name = "slow"
  let isEntered = Flag()
  let gate = DispatchSemaphore(value: 0)

  private func pass() {
    isEntered.set()
    gate.wait()
    gate.signal()
  }

  func openMailbox(
    for name: String, in directory: URL
  ) throws(WormholeError) -> any Wormhole.Mailbox { self }

  func names(in directory: URL) throws(WormholeError) -> [String] { [] }

  func append(_ record: Wormhole.Record) throws(WormholeError) -> UInt64 { 1 }

  func records(
    after number: UInt64, limit: Int
  ) throws(WormholeError) -> Wormhole.RecordBatch {
    pass()
    return Wormhole.RecordBatch([], hasMore: true)
  }

  func lastMessage() throws(WormholeError) -> Wormhole.NumberedRecord? {
    pass()
    return nil
  }

  func lastNumber() throws(WormholeError) -> UInt64 {
    pass()
    return 0
  }

  func identity() throws(WormholeError) -> UInt32 { 0 }
}
