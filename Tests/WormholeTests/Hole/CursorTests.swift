// Specifies cursors.
import Wormhole

@Suite(.bounded)
struct CursorTests {
  @Test func areListedWithTheirLagAndNeverGoBack() async throws {
    let site = try Site(.history)
    #expect(try await site.hole.cursors(of: .number).isEmpty)
    for number in 1...5 { try await site.hole.pass(number, to: .number) }
    for (name, count) in [("b", 2), ("a", 5)] {
      var messages = try site.hole.messages(.number, starting: .cursor(name)).makeAsyncIterator()
      let first = try #require(try await messages.next())
      for _ in 2...count { try await messages.next()?.acknowledge() }
      try await first.acknowledge()
    }
    let cursors = try await site.hole.cursors(of: .number)
    #expect(cursors.map { "\($0.name) \($0.sequence) \($0.lag)" } == ["a 5 0", "b 2 3"])
  }

  @Test(arguments: [false, true])
  func noteAMessageThoughItsListenerEnds(inTheCall: Bool) async throws {
    let (site, isHeard) = (try Site(.history), Flag())
    let (hole, mayWrite) = (site.hole, DispatchSemaphore(value: 0))
    try await hole.pass(1, to: .number)
    site.store.enqueue(.writing) { mayWrite.wait() }
    let listener = Listener<Wormhole.Message<Int>>("label", on: .queue(site.queue)) { _ in
      if inTheCall { hole.unbind("label", from: .number) }
      isHeard.set()
    }
    try hole.bind(listener, to: .number, starting: .cursor("place"))
    await eventually { isHeard.isSet }
    await turn(site.queue)
    hole.unbind("label", from: .number)
    mayWrite.signal()
    try await hole.pass(2, to: .number)
    #expect(try await hole.cursors(of: .number).map(\.sequence) == [1])
  }

  @Test func leaveTheWriterAloneWhileAHandlerIsCalledAtOnce() async throws {
    let (site, isHeard) = (try Site(.history), Flag())
    for number in 1...2 { try await site.hole.pass(number, to: .number) }
    let listener = Listener<Wormhole.Message<Int>>("label", on: .inline) { message in
      let isWritten = DispatchSemaphore(value: 0)
      site.store.enqueue(.writing) { isWritten.signal() }
      isWritten.wait()
      if message.sequence == 2 { isHeard.set() }
    }
    try site.hole.bind(listener, to: .number, starting: .cursor("place"))
    await eventually { isHeard.isSet }
  }

  @Test func areRemovedUnlessTheyAreInUse() async throws {
    let site = try Site(.history)
    try await site.hole.pass(1, to: .number)
    try await use("place", in: site) {
      await #expect(throws: WormholeError.cursorInUse) {
        try await site.hole.removeCursor("place", of: .number)
      }
    }
    for _ in 1...2 { try await site.hole.removeCursor("place", of: .number) }
    #expect(try await site.hole.cursors(of: .number).isEmpty)
  }

  @Test func areFreeAsSoonAsTheirSequenceIsDropped() async throws {
    let site = try Site(.history)
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

  private func use(
    _ cursor: String, in site: Site, _ body: () async throws -> Void
  ) async throws {
    var messages = try site.hole.messages(.number, starting: .cursor(cursor)).makeAsyncIterator()
    let message = try await messages.next()
    #expect(message?.value == 1)
    try await body()
  }

  /// A writer that begins while a message is handled, so that the place after it must wait.
  @MainActor private final class Obstacle {
    var writer: ForeignWriter?
    var isThere: Bool { writer != nil }
  }

  @Test func aHandlerOnTheMainActorDoesNotFreezeItWhileItsCursorWaits() async throws {
    let site = try Site(.history)
    let (log, obstacle, path) = (Mail(), await Obstacle(), site.store.path)
    let observation = try site.hole.listen(.number, starting: .cursor("place")) { message in
      log.append(message)
      if message.value == 2 { obstacle.writer = try? ForeignWriter(of: path) }
    }
    for number in 1...2 { try await site.hole.pass(number, to: .number) }
    await eventually { await obstacle.isThere }
    await withTaskExecutorPreference(OwnThread()) {
      for _ in 1...20 {
        let start = ContinuousClock.now
        await MainActor.run {}
        #expect(.now - start < .seconds(5))
      }
    }
    #expect(try await site.hole.cursors(of: .number).first?.lag == 1)
    await MainActor.run { obstacle.writer = nil }
    try await site.hole.pass(3, to: .number)
    await eventually { log.values == [1, 2, 3] }
    await eventually { (try? await site.hole.cursors(of: .number).first?.lag) == 0 }
    await observation.end()
  }

  @Test func theMessageWhoseHandlerEndsItsListenerIsHandled() async throws {
    let (site, log) = (try Site(.history), Mail())
    for number in 1...3 { try await site.hole.pass(number, to: .number) }
    let hole = site.hole
    let listener = Listener<Wormhole.Message<Int>>("last", on: .queue(site.queue)) { message in
      log.append(message)
      hole.unbind("last", from: .number as MessageName<Int>)
    }
    try hole.bind(listener, to: .number, starting: .cursor("place"))
    await eventually { (try? await hole.cursors(of: .number).first?.sequence) == 1 }
    #expect(log.values == [1])
  }

  @Test func aMessageCannotBeAcknowledgedAfterItsReader() async throws {
    let site = try Site(.history)
    try await site.hole.pass(1, to: .number)
    func read() async throws -> Wormhole.Message<Int>? {
      var messages = try site.hole.messages(.number, starting: .cursor("place")).makeAsyncIterator()
      return try await messages.next()
    }
    let message = try #require(try await read())
    let error = await #expect(throws: WormholeError.self) { try await message.acknowledge() }
    #expect(error?.reason == "the reader of the message has ended")
    #expect(try await site.hole.cursors(of: .number).first?.sequence == 0)
  }

  /// Removes the cursor, so that its place cannot be stored.
  @Test func aPlaceThatCannotBeStoredEndsASequence() async throws {
    let site = try Site(.history)
    for number in 1...3 { try await site.hole.pass(number, to: .number) }
    var messages = try site.hole.messages(.number, starting: .cursor("place")).makeAsyncIterator()
    #expect(try await messages.next()?.value == 1)
    try ForeignProgram.run("DELETE FROM cursors", on: site.store.path)
    await #expect(throws: WormholeError.cursorNotStored) { try await messages.next() }
    #expect(try await messages.next() == nil)
  }

  @Test func aPlaceThatCannotBeStoredIsReportedToAHandlerAndHoldsMessagesBack() async throws {
    let site = try Site(.history)
    for number in 1...3 { try await site.hole.pass(number, to: .number) }
    let path = site.store.path
    let log = Mail()
    let observation = try site.hole.listen(.number, starting: .cursor("place"), on: .thread) {
      if $0.value == 1 { try? ForeignProgram.run("UPDATE cursors SET id = id + 7", on: path) }
      log.append($0)
    }
    await eventually { log.entries.count == 2 }
    #expect(log.values == [1] && log.entries.last?.error == .cursorNotStored)
    try ForeignProgram.run("UPDATE cursors SET id = id - 7", on: path)
    await eventually { log.values == [1, 2, 3] }
    #expect(log.entries.count == 4)
    await observation.end()
  }

  @Test func removingOneLeavesAnotherThatHasTakenItsRow() async throws {
    let (site, name) = (try Site(.history), MessageName<Int>.number.rawValue)
    try await site.hole.pass(1, to: .number)
    _ = try site.store.openCursor("place", of: name)
    let writer = try ForeignWriter(of: site.store.path)
    let removal = Task { try await site.hole.removeCursor("place", of: .number) }
    await eventually("the cursor is not found") { isLocked(site.store.path + "-cursors") }
    try writer.commit("UPDATE cursors SET cursor = 'other'")
    try await removal.value
    #expect(try await site.hole.cursors(of: .number).map(\.name) == ["other"])
  }

  private func isLocked(_ path: String) -> Bool {
    let file = open(path, O_RDWR | O_CLOEXEC)
    defer { close(file) }
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    return fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK
  }

  // MARK: - The store is replaced

  @Test func aListenerGoesOnInANewStore() async throws {
    let site = try Site(.history)
    let log = try site.hear(.number, starting: .cursor("place"))
    for number in 1...3 { try await site.hole.pass(number, to: .number) }
    await eventually { log.values == [1, 2, 3] }
    try await site.hole.startAnew()
    try site.keepAll()
    for number in 11...12 { try await site.hole.pass(number, to: .number) }
    await eventually { log.values == [1, 2, 3, 11, 12] }
    await eventually { (try? await site.hole.cursors(of: .number).map(\.sequence)) == [2] }
    #expect(log.entries.map(\.mayHaveMissed).firstIndex(of: true) == 3)
    #expect(throws: WormholeError.cursorInUse) {
      try site.store.openCursor("place", of: MessageName<Int>.number.rawValue)
    }
  }

  @Test func aSequenceGoesOnInANewStore() async throws {
    let site = try Site(.history)
    for number in 1...3 { try await site.hole.pass(number, to: .number) }
    var messages = try site.hole.messages(.number, starting: .cursor("place")).makeAsyncIterator()
    for number in 1...3 { #expect(try await messages.next()?.value == number) }
    try await site.hole.startAnew()
    try site.keepAll()
    for number in 11...12 { try await site.hole.pass(number, to: .number) }
    let first = try await messages.next()
    // The third of the old store says nothing about the new one.
    #expect(first?.value == 11 && first?.mayHaveMissed == true)
    #expect(try await site.hole.cursors(of: .number).map(\.sequence) == [0])
    let second = try #require(try await messages.next())
    try await second.acknowledge()
    #expect(try await site.hole.cursors(of: .number).map(\.sequence) == [2])
  }

  @Test func anotherCursorInTheSamePlaceOfANewStoreStays() throws {
    let (site, name) = (try Site(.history), MessageName<Int>.number.rawValue)
    let mine = try site.store.openCursor("mine", of: name)
    try site.store.startAnew()
    let other = try site.store.openCursor("other", of: name)
    try mine.advance(to: StoredPosition(number: 7))
    #expect(try other.position() == 0 && mine.position() == 7)
  }
}
