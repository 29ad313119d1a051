// Specifies where, and in which order, delegates are called.
import Synchronization

@MainActor private protocol Screen: AnyObject, Sendable {
  func show(_ text: String)
  func height() -> Int?
}

@MainActor private final class Window: Screen {
  var shown: [String] = []
  func show(_ text: String) { shown.append(text) }
  func height() -> Int? { 480 }
}

@Suite struct MulticastEventsTests {
  let events = Events()
  let queue = DispatchQueue(label: "com.example.delegate")

  @Test func callsEachDelegateOnItsQueue() async throws {
    let other = DispatchQueue(label: "com.example.other")
    let one = Listener { [queue] _ in dispatchPrecondition(condition: .onQueue(queue)) }
    let two = Listener { [other] _ in dispatchPrecondition(condition: .onQueue(other)) }
    let main = Listener { _ in dispatchPrecondition(condition: .onQueue(.main)) }
    let executor = QueueExecutor()
    let resident = Listener { _ in executor.preconditionIsolated() }
    let actor = Resident(executor)
    let guest = Listener { _ in actor.preconditionIsolated() }
    let shared = Listener()
    try events.add(guest, on: .actor(actor))
    try events.add(one, on: .queue(queue))
    try events.add(two, on: .queue(other))
    try events.add(main)
    try events.add(resident, on: .executor(executor))
    try events.add(shared, on: .thread)
    events.didStart(1)
    for listener in [one, two, main, resident, guest, shared] {
      await eventually { listener.log.entries == ["listener 1"] }
    }
  }

  @Test func handsTheCallsToTheLoopOfTheHost() throws {
    let (works, listener) = (Log<@Sendable () -> Void>(), Listener())
    // Weak, since the work keeps what enqueued it.
    try events.add(listener, on: .loop { [weak works] in works?.append($0) })
    events.didStart(1)
    #expect(listener.log.entries == [])
    for work in works.entries { work() }
    #expect(listener.log.entries == ["listener 1"])
  }

  @Test func callsWhatAClosureCalls() async throws {
    let log = Log<String>()
    let (here, there) = (Listener("here", log: log), Listener("there", log: log))
    try events.add(here, on: .inline)
    try events.add(there, on: .queue(queue))
    events.each { $0.didMove(to: 3.5, by: "me") }
    await turn(queue)
    #expect(log.entries == ["here moved to 3.5 by me", "there moved to 3.5 by me"])
  }

  @Test func aSuspendedQueueDelaysNobodyElse() async throws {
    let (free, log) = (DispatchQueue(label: "free"), Log<String>())
    let (first, second) = (Listener("first", log: log), Listener("second", log: log))
    try events.add(first, on: .queue(queue))
    try events.add(second, on: .queue(free))
    queue.suspend()
    for track in 0..<100 { events.didStart(track) }
    await eventually { log.entries.count == 100 }
    #expect(log.entries == (0..<100).map { "second \($0)" })
    queue.resume()
    await turn(queue)
    #expect(log.entries.suffix(100) == (0..<100).map { "first \($0)" })
  }

  @Test(arguments: [false, true])
  func callsOfOneDelegateKeepTheirOrder(concurrent: Bool) async throws {
    let queue = DispatchQueue(label: "q", attributes: concurrent ? .concurrent : [])
    let log = Log<String>()
    let listener = Listener("d", log: log)
    try events.add(listener, on: .queue(queue))
    for track in 0..<1000 { events.didStart(track) }
    await eventually { log.entries.count == 1000 }
    #expect(log.entries == (0..<1000).map { "d \($0)" })
  }

  @Test(arguments: [false, true])
  func callsOfOneDelegateNeverOverlap(inline: Bool) async throws {
    let inside = Mutex(0)
    let total = Atomic<Int>(0)
    let listener = Listener { _ in
      let now = inside.withLock { inside -> Int in
        inside += 1
        return inside
      }
      if now > 1 { Issue.record("two calls at the same time") }
      total.add(1, ordering: .relaxed)
      inside.withLock { $0 -= 1 }
    }
    try events.add(listener, on: inline ? .inline : .queue(.global()))
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask { [events] in for track in 0..<500 { events.didStart(track) } }
      }
    }
    await eventually { total.load(ordering: .relaxed) == 4000 }
  }

  @Test func aCallThatADelegateMakesComesAfterTheOneItIsIn() throws {
    let log = Log<String>()
    let listener = Listener("d", log: log) { [events] track in
      if track < 3 { events.didStart(track + 1) }
      log.append("end of \(track)")
    }
    try events.add(listener, on: .inline)
    events.didStart(1)
    #expect(log.entries == ["d 1", "end of 1", "d 2", "end of 2", "d 3", "end of 3"])
  }

  @Test @MainActor func callsMethodsOfTheMainActor() async throws {
    let screens = MulticastDelegate<any Screen>()
    let (window, here) = (Window(), Window())
    try screens.add(window)
    try screens.add(here, on: .inline)
    screens.eachOnMainActor { $0.show("hello") }
    #expect(here.shown == ["hello"])
    #expect(screens.first { $0.height() } == 480)
    let multicast = screens
    let heights = await Task.detached { await multicast.all { await $0.height() } }.value
    #expect(heights.compactMap { try? $0.get() } == [480, 480])
    let height = try await Task.detached {
      try await multicast.firstAsync { await $0.height() }
    }.value
    #expect(height == 480)
    #expect(window.shown == ["hello"])
  }
}
