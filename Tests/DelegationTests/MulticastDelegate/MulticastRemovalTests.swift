// Specifies what happens to the calls of a delegate that is removed or dies.
import Synchronization

@Suite struct MulticastRemovalTests {
  let events = Events()
  let queue = DispatchQueue(label: "com.example.delegate")

  @Test func removalInACallDropsTheCallsAfterIt() async throws {
    let listener = Listener()
    listener.onStart.withLock { onStart in
      onStart = { [events, unowned listener] _ in _ = events.remove(listener) }
    }
    try events.add(listener, on: .queue(queue))
    queue.suspend()
    for track in 0..<10 { events.didStart(track) }
    queue.resume()
    await turn(queue)
    #expect(listener.log.entries == ["listener 0"])
  }

  @Test func waitingCallsAreFreedWithTheRegistration() async throws {
    let (census, listener) = (Census(), Listener())
    try events.add(listener, on: .queue(queue))
    queue.suspend()
    do {
      let canary = census.makeCanary()
      events.each { _ in canary.sing() }
    }
    #expect(census.deaths == 0)
    events.remove(listener)
    #expect(census.deaths == 1)
    queue.resume()
  }

  @Test func theAsynchronousFormWaitsForTheRunningCall() async throws {
    let (release, log) = (DispatchSemaphore(value: 0), Log<String>())
    let listener = Listener("d", log: log) { _ in
      release.wait()
      log.append("end")
    }
    try events.add(listener, on: .queue(queue))
    events.didStart(1)
    await eventually { log.entries == ["d 1"] }
    let removal = Task {
      let count = await events.removeAndWait(listener)
      log.append("removed \(count)")
    }
    await eventually { !events.has(listener) }
    #expect(log.entries == ["d 1"])
    release.signal()
    await removal.value
    #expect(log.entries == ["d 1", "end", "removed 1"])
  }

  @Test func theAsynchronousFormWaitsForAsynchronousCalls() async throws {
    let log = Log<String>()
    let isFree = Promise<Void>()
    let listener = Listener(onPrepare: {
      log.append("begun")
      await isFree.value()
      log.append("end")
      return true
    })
    try events.add(listener, on: .queue(queue))
    async let ready = events.all { try await $0.prepare(1) }
    await eventually { log.entries == ["begun"] }
    async let removal: Void = {
      await events.removeAndWait(listener)
      log.append("removed")
    }()
    await eventually { events.count == 0 }
    isFree.provide(())
    await removal
    #expect(log.entries == ["begun", "end", "removed"])
    #expect(await ready.compactMap { try? $0.get() } == [true])
  }

  @Test func theAsynchronousFormDoesNotWaitForASuspendedQueue() async throws {
    let listener = Listener()
    try events.add(listener, on: .queue(queue))
    queue.suspend()
    events.didStart(1)
    #expect(await events.removeAndWait(listener) == 1)
    queue.resume()
    await turn(queue)
    #expect(listener.log.entries == [])
  }

  @Test func aDelegateThatRemovesItselfDoesNotWaitForItself() async throws {
    let listener = Listener()
    listener.onPrepare.withLock { onPrepare in
      onPrepare = { [events, unowned listener] in await events.removeAndWait(listener) == 1 }
    }
    try events.add(listener, on: .queue(queue))
    let removed = await events.all { try await $0.prepare(1) }
    #expect(removed.compactMap { try? $0.get() } == [true])
  }

  @Test func aDelegateThatDiesDuringItsCallEndsTheCall() async throws {
    let (log, census) = (Log<String>(), Census())
    let holder = Locked<Listener?>(nil)
    do {
      let canary = census.makeCanary()
      let listener = Listener("d", log: log) { _ in
        let last = holder.withLock { $0.take() }
        withExtendedLifetime(last) {}
        canary.sing()
        log.append("still here")
      }
      holder.withLock { $0 = listener }
    }
    try events.add(try #require(holder.withLock { $0 }), on: .inline)
    let other = Listener("other", log: log)
    try events.add(other, on: .inline)
    events.didStart(1)
    #expect(log.entries == ["d 1", "still here", "other 1"])
    #expect(census.deaths == 1)
    events.didStart(2)
    #expect(log.entries.last == "other 2")
    #expect(events.count == 1)
  }

  @Test func theEndOfADelegateMayUseTheMulticast() throws {
    final class Leaving: Listener, @unchecked Sendable {
      // It has no state of its own that changes.
      let events: Events
      init(_ events: Events) {
        self.events = events
        super.init()
      }
      deinit {
        events.didStart(events.count)
        events.removeAll()
      }
    }
    for _ in 0..<100 { try events.add(Leaving(events), on: .inline) }
    #expect(events.count == 0)
  }

  @Test func eightThreadsAddAndRemoveWhileCallsRun() async throws {
    let calls = Atomic<Int>(0)
    let census = Census()
    let lasting = Listener { _ in calls.add(1, ordering: .relaxed) }
    try events.add(lasting, on: .inline)
    await withTaskGroup { group in
      for worker in 0..<8 {
        group.addTask { [events, queue] in
          for round in 0..<500 {
            let canary = census.makeCanary()
            let listener = Listener { _ in canary.sing() }
            let delivery: Delivery = worker % 2 == 0 ? .inline : .queue(queue)
            _ = try? events.add(listener, on: delivery)
            events.didStart(round)
            if round % 2 == 0 {
              events.remove(listener)
            } else if round % 5 == 0 {
              await events.removeAndWait(listener)
            }
          }
        }
      }
    }
    await eventually { calls.load(ordering: .relaxed) == 4000 && events.count == 1 }
    await eventually { census.deaths == 4000 }
  }
}
