/// A protocol that value types can conform to as well.
private protocol Anybody: Sendable {
  func call()
}

private struct Value: Anybody {
  func call() {}
}

private final class Object: Anybody {
  func call() {}
}

@Suite struct MulticastDelegateTests {
  let events = Events()

  @Test func refusesADelegateAddedWithTheSameDelivery() throws {
    let (queue, executor, listener) = (DispatchQueue(label: "q"), QueueExecutor(), Listener())
    let deliveries: [Delivery] = [
      .main, .queue(queue), .thread, .inline, .executor(executor), .actor(Resident(executor)),
      .loop { $0() },
    ]
    for delivery in deliveries {
      #expect(try events.add(listener, on: delivery))
      #expect(try !events.add(listener, on: delivery))
    }
    #expect(try !events.add(listener, on: .queue(.main)))
    #expect(events.count == deliveries.count)
    for delivery in deliveries { #expect(events.has(listener, on: delivery)) }
    #expect(!events.has(listener, on: .queue(.global())))
  }

  @Test func removesADelegateFromOneDelivery() async throws {
    let (queue, listener) = (DispatchQueue(label: "q"), Listener())
    try events.add(listener, on: .queue(queue))
    try events.add(listener, on: .inline)
    #expect(events.remove(listener, on: .inline) == 1)
    #expect(events.remove(listener, on: .inline) == 0)
    #expect(events.has(listener, on: .queue(queue)) && !events.has(listener, on: .inline))
    queue.suspend()
    events.didStart(1)
    #expect(listener.log.entries == [])
    queue.resume()
    await turn(queue)
    #expect(listener.log.entries == ["listener 1"])
  }

  @Test func removesADelegateFromAllDeliveries() throws {
    let (listener, other) = (Listener(), Listener())
    for delivery in [Delivery.inline, .thread, .main] { try events.add(listener, on: delivery) }
    try events.add(other, on: .inline)
    #expect(events.remove(listener) == 3)
    #expect(events.remove(listener) == 0)
    #expect(!events.has(listener) && events.has(other))
    #expect(try events.add(listener, on: .inline), "it may come back")
    #expect(events.removeAll() == 2)
    events.didStart(1)
    #expect(events.count == 0 && listener.log.entries.isEmpty && other.log.entries.isEmpty)
  }

  @Test func takesANewDelegateAtTheAddressOfADeadOne() throws {
    for _ in 0..<1000 {
      let listener = Listener()
      #expect(try events.add(listener, on: .inline))
    }
    #expect(events.count == 0)
  }

  @Test func refusesAValueOfAValueType() throws {
    let multicast = MulticastDelegate<any Anybody>()
    let object = Object()
    try multicast.add(object)
    let type = String(reflecting: Value.self)
    let error = #expect(throws: DelegationError.self) { try multicast.add(Value()) }
    #expect(error == .notAnObject)
    #expect(error?.description == "\(type) is a value type, and only objects can be held weakly")
    #expect(multicast.count == 1)
  }

  @Test func usedAsOneDelegateItReachesAll() throws {
    let log = Log<String>()
    let (one, two) = (Listener("one", log: log), Listener("two", log: log, answer: 3))
    try events.add(one, on: .inline)
    try events.add(two, on: .inline)
    weak let delegate: (any PlayerEvents)? = events
    delegate?.didMove(to: 1.5, by: "me")
    #expect(log.entries == ["one moved to 1.5 by me", "two moved to 1.5 by me"])
    #expect(delegate?.position(of: 7) == 3)
    #expect(delegate?.mayStop() == false)
  }

  @Test func callsOptionalMethodsOnlyWhereTheyAreImplemented() throws {
    let log = Log<String>()
    let (listener, seeker) = (Listener("plain", log: log), Seeker("seeker", log: log))
    try events.add(listener, on: .inline)
    try events.add(seeker, on: .inline)
    events.each { ($0 as? any SeekEvents)?.didSeek(to: 2) }
    #expect(log.entries == ["seeker sought 2.0"])
  }

  @Test func aHeldListenerOfClosuresStaysUntilItsRegistrationIsCancelled() throws {
    struct PlayerListener: Sendable {
      var didStart: @Sendable (Int) -> Void
      var didStop: (@Sendable () -> Void)?
    }
    let (census, log) = (Census(), Log<String>())
    let listeners = MulticastDelegate<PlayerListener>()
    let registration: HandlerRegistration
    do {
      let canary = census.makeCanary()
      registration = listeners.add(
        holding: PlayerListener { track in
          canary.sing()
          log.append("\(track)")
        }, on: .inline)
    }
    listeners.add(holding: PlayerListener { log.append("other \($0)") }, on: .inline)
    listeners.each { $0.didStart(1) }
    listeners.each { $0.didStop?() }
    #expect(census.deaths == 0)
    registration.cancel()
    registration.cancel()
    listeners.each { $0.didStart(2) }
    #expect(log.entries == ["1", "other 1", "other 2"])
    #expect(listeners.count == 1)
    #expect(census.deaths == 1)
    #expect(listeners.removeAll() == 1)
  }

  @Test func aCallWithoutDelegatesDoesNothing() async throws {
    events.didStart(1)
    #expect(events.position(of: 1) == nil)
    #expect(await events.all { $0.position(of: 1) }.isEmpty)
    #expect(try await events.firstAsync { $0.position(of: 1) } == nil)
    #expect(events.mayStop())
  }
}
