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

  @Test(arguments: Kept.allCases)
  func aHandlerMayBindAgainWhenItIsReleased(_ kind: Kept) async throws {
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

  @Test(arguments: Kept.allCases, [false, true])
  func aMessageThatThePredecessorDidNotGetComesOnce(
    _ kind: Kept, onTheSameQueue: Bool
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
    #expect(new.values == (kind.isAll ? [1, 2] : new.values))
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

  @Test func keepsTheCursorOfItsPredecessor() async throws {
    let site = try Site(.history)
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
    try await site.hole.pass(3, to: .number)
    var rest = try site.hole.messages(.number, starting: .cursor("place")).makeAsyncIterator()
    #expect(try await rest.next()?.value == 3)
  }

  /// The second successor replaces one that has not begun.
  @Test(arguments: 1...2)
  func waitsForTheMessageThatItsPredecessorIsHandling(successors count: Int) async throws {
    let site = try Site(.history)
    let (hole, old, new) = (site.hole, Mail(), Mail())
    let mayReturn = DispatchSemaphore(value: 0)
    for number in 1...2 { try await hole.pass(number, to: .number) }
    try await bindWaiting(hole, on: site.queue, old, mayReturn)
    for _ in 1...count { try hole.record(in: new, on: .queue(queue), starting: .cursor("place")) }
    try await hole.pass(3, to: .number)
    try await site.settle(queue)
    #expect(new.entries.isEmpty)
    #expect(try await hole.cursors(of: .number).map(\.sequence) == [0])
    mayReturn.signal()
    await eventually { new.values == [2, 3] }
    await eventually { (try? await hole.cursors(of: .number).map(\.sequence)) == [3] }
    #expect(old.values == [1])
  }

  /// Binds a listener, and returns when it is handling the first message.
  private func bindWaiting(
    _ hole: Wormhole, on queue: DispatchQueue, _ log: Mail, _ mayReturn: DispatchSemaphore
  ) async throws {
    let listener = Listener<Wormhole.Message<Int>>("label", on: .queue(queue)) { message in
      log.append(message)
      mayReturn.wait()
    }
    try hole.bind(listener, to: .number, starting: .cursor("place"))
    await eventually { log.values == [1] }
  }

  /// How far the removed listener has come.
  enum Removed: CaseIterable, Sendable {
    case acknowledging, handling, waitingForAnother
  }

  @Test(arguments: Removed.allCases)
  func takesTheCursorOfARemovedListenerThatIsStillBusy(_ removed: Removed) async throws {
    let site = try Site(.history)
    let (hole, old, new) = (site.hole, Mail(), Mail())
    let (mayReturn, mayWrite) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    for number in 1...2 { try await hole.pass(number, to: .number) }
    if removed == .acknowledging {
      mayReturn.signal()
      site.store.enqueue(.writing) { mayWrite.wait() }
    }
    try await bindWaiting(hole, on: site.queue, old, mayReturn)
    if removed == .acknowledging { await turn(site.queue) }
    if removed == .waitingForAnother {
      try hole.record(in: old, on: .queue(queue), starting: .cursor("place"))
    }
    hole.unbind("label", from: .number)
    try hole.record("other", in: new, on: .queue(queue), starting: .cursor("place"))
    try await site.settle(queue)
    #expect(new.entries.isEmpty)
    for isFree in [mayReturn, mayWrite] { isFree.signal() }
    await eventually { new.values == [2] }
    #expect(old.values == [1])
    hole.unbind("other", from: .number)
    await eventually { (try? site.store.openCursor("place", of: "org.example.number")) != nil }
  }

  @Test func aBindThatFailsLeavesTheCursorOfARemovedListenerAtHand() async throws {
    let site = try Site(.history)
    let (hole, old, new) = (site.hole, Mail(), Mail())
    let mayReturn = DispatchSemaphore(value: 0)
    for number in 1...2 { try await hole.pass(number, to: .number) }
    try await bindWaiting(hole, on: site.queue, old, mayReturn)
    hole.unbind("label", from: .number)
    // A thread that reads cannot read where to begin.
    _ = try site.store.read(within: nil) { _ in
      #expect(throws: WormholeError.nested(path: site.store.path)) {
        try hole.record("other", in: new, on: .queue(queue), starting: .cursor("place"))
      }
    }
    try hole.record("other", in: new, on: .queue(queue), starting: .cursor("place"))
    mayReturn.signal()
    await eventually { new.values == [2] }
    hole.unbind("other", from: .number)
    await eventually { (try? site.store.openCursor("place", of: "org.example.number")) != nil }
  }

  @Test func waitsForARemovedListenerWithItsCursorAndForTheOneItReplaces() async throws {
    let site = try Site(.history)
    let (hole, old, other, new) = (site.hole, Mail(), Mail(), Mail())
    let mayReturn = DispatchSemaphore(value: 0)
    for number in 1...2 { try await hole.pass(number, to: .number) }
    try await bindWaiting(hole, on: site.queue, old, mayReturn)
    hole.unbind("label", from: .number)
    try hole.record(in: other, on: .queue(queue), starting: .all)
    await eventually { other.values == [1, 2] }
    try hole.record(in: new, on: .queue(queue), starting: .cursor("place"))
    try await hole.pass(3, to: .number)
    try await site.settle(queue)
    #expect(new.entries.isEmpty)
    mayReturn.signal()
    await eventually { new.values == [3] }
    #expect(old.values == [1] && other.values == [1, 2])
  }

  @Test func aCursorIsNeverInUseBetweenAListenerAndTheNext() async throws {
    let site = try Site(.history)
    let (hole, log) = (site.hole, Mail())
    let count = 200 / slowness
    for number in 1...count {
      try await hole.pass(number, to: .number)
      try hole.record(in: log, on: .queue(queue), starting: .cursor("place"))
      await eventually { log.entries.count >= number }
      hole.unbind("label", from: .number)
    }
    #expect(log.values == Array(1...count))
  }

  /// Another listener may replace one that is still being bound.
  @Test func aListenerThatWasReplacedBeforeItBeganHandsItsPlaceOn() throws {
    let (site, isHandedOn) = (try Site(.history), Flag())
    let store = site.store
    let feed = StoredFeed<Wormhole.Message<Int>>(
      path: store.path, queues: store.queues,
      observe: { (handler) throws(WormholeError) in try store.observe("name", handler) },
      makeReader: { () throws(WormholeError) in
        try MessageReader(.number, in: store, from: .all, starting: .all)
      })
    let pump = try StoredPump(of: feed, on: .inline) { _ in }
    pump.end { _ in isHandedOn.set() }
    #expect(!isHandedOn.isSet)
    pump.begin(try feed.makeReader())
    #expect(isHandedOn.isSet)
  }
}
