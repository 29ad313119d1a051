// Specifies observations.

@Suite(.bounded)
struct ObservationTests {
  private let name: NotificationName = "com.example.changed"

  @Test(arguments: BusKind.grounds)
  func endsWithItsValue(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let (center, peer) = (try bus.makeCenter(), try bus.makePoster())
    let seen = Recorder()
    var observation: NotificationObservation? = try center.observe(name, on: .thread) {
      seen.record($0)
    }
    try peer.post(name)
    await eventually { seen.posts == 1 }
    withExtendedLifetime(observation) {}
    observation = nil
    try peer.post(name)
    try await drain(center, behind: peer, on: .thread)
    #expect(seen.posts == 1)
  }

  @Test(arguments: BusKind.grounds)
  func endsWhenItIsCancelledOnceOrTwice(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let (center, peer) = (try bus.makeCenter(), try bus.makePoster())
    let seen = Recorder()
    let observation = try center.observe(name, on: .thread) { seen.record($0) }
    observation.cancel()
    observation.cancel()
    observation.cancelAndWait()
    try peer.post(name)
    try await drain(center, behind: peer, on: .thread)
    #expect(seen.posts == 0)
  }

  @Test(arguments: BusKind.grounds)
  func makesNoCallOnceCancelledOnItsOwnQueue(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let (center, peer) = (try bus.makeCenter(), try bus.makePoster())
    let queue = DispatchQueue(label: "com.example.queue")
    let seen = Recorder()
    let observation = try center.observe(name, on: .queue(queue)) { seen.record($0) }
    queue.suspend()
    queue.async { observation.cancel() }
    try peer.post(name)
    try await drain(center, behind: peer, on: .direct)
    queue.resume()
    await turn(queue)
    await turn(queue)
    #expect(seen.posts == 0)
  }

  @Test(arguments: BusKind.grounds)
  func waitsForARunningCallOnRequest(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let center = try bus.makeCenter()
    let (begun, log) = (Recorder(), Log<String>())
    let goOn = DispatchSemaphore(value: 0)
    let observation = try center.observe(name, on: .queue(.global())) { event in
      begun.record(event)
      goOn.wait()
      log.append("handler")
    }
    try bus.makePoster().post(name)
    await eventually { begun.posts == 1 }
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "com.example.canceller").async {
        goOn.signal()
        observation.cancelAndWait()
        log.append("cancelled")
        continuation.resume()
      }
    }
    #expect(log.entries == ["handler", "cancelled"])
  }

  @Test(arguments: BusKind.grounds)
  func mayBeCancelledByItsOwnHandler(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let (center, peer) = (try bus.makeCenter(), try bus.makePoster())
    let (seen, held) = (Recorder(), Log<NotificationObservation>())
    let observation = try center.observe(name, on: .thread) { event in
      seen.record(event)
      held.entries.first?.cancelAndWait()
    }
    held.append(observation)
    for _ in 1...3 { try peer.post(name) }
    await eventually { seen.posts > 0 }
    try await drain(center, behind: peer, on: .thread)
    #expect(seen.events.count == 1)
  }

  @Test(arguments: BusKind.grounds)
  func freesItsHandlerExactlyOnceOverManyCycles(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let (center, peer) = (try bus.makeCenter(), try bus.makePoster())
    let (census, cycles) = (Census(), 10_000 / slowness)
    let deliveries: [Delivery] = [.thread, .direct, .queue(.global()), .main]
    for cycle in 1...cycles {
      let canary = census.makeCanary()
      let delivery = deliveries[cycle % deliveries.count]
      let observation = try center.observe(name, on: delivery) { _ in canary.sing() }
      if cycle.isMultiple(of: 100) { try peer.post(name) }
      if cycle.isMultiple(of: 2) { observation.cancel() }
    }
    await eventually("closures were not released") { census.deaths == cycles }
    try await drain(center, behind: peer, on: .thread)
    #expect(census.deaths == cycles)
  }

  @Test func freesAHandlerThatCouldNotBeRegistered() throws {
    let center = try DarwinNotificationCenter(bus: .noBus)
    let census = Census()
    let tooLong = NotificationName(String(repeating: "n", count: 512))
    func register() throws {
      let canary = census.makeCanary()
      _ = try center.observe(tooLong, on: .main) { _ in canary.sing() }
    }
    #expect(throws: DarwinNotifyError.nameTooLong) { try register() }
    #expect(census.deaths == 1)
  }
}
