// Specifies observations.

@Suite(.bounded)
struct ObservationTests {
  private let name: NotificationName = "com.example.changed"
  private let stage: Stage

  init() throws { stage = try Stage() }

  @Test func endsWithItsValue() async throws {
    let seen = Recorder()
    var observation: NotificationObservation? = try stage.center.observe(name, on: .thread) {
      seen.record($0)
    }
    try stage.poster.post(name)
    await eventually { seen.posts == 1 }
    withExtendedLifetime(observation) {}
    observation = nil
    try stage.poster.post(name)
    try await stage.drain()
    #expect(seen.posts == 1)
  }

  @Test func endsWhenItIsCancelledOnceOrTwice() async throws {
    let seen = Recorder()
    let observation = try stage.center.observe(name, on: .thread) { seen.record($0) }
    observation.cancel()
    observation.cancel()
    await observation.end()
    try stage.poster.post(name)
    try await stage.drain()
    #expect(seen.posts == 0)
  }

  @Test func makesNoCallOnceCancelledOnItsOwnQueue() async throws {
    let (queue, seen) = (DispatchQueue(label: "com.example.queue"), Recorder())
    let observation = try stage.center.observe(name, on: .queue(queue)) { seen.record($0) }
    queue.suspend()
    queue.async { observation.cancel() }
    try stage.poster.post(name)
    try await stage.drain(on: .inline)
    queue.resume()
    await turn(queue)
    await turn(queue)
    #expect(seen.posts == 0)
  }

  @Test(arguments: [false, true])
  func waitsForARunningCallOnRequest(blockingAThread: Bool) async throws {
    let (log, goOn) = (Log<String>(), DispatchSemaphore(value: 0))
    let observation = try stage.center.observe(name, on: .queue(.global())) { _ in
      log.append("begin")
      goOn.wait()
      log.append("end")
    }
    try stage.poster.post(name)
    await eventually { log.entries == ["begin"] }
    if blockingAThread {
      Thread.detachNewThread {
        observation.cancelAndWait()
        log.append("cancelled")
      }
    } else {
      Task {
        await observation.end()
        log.append("cancelled")
      }
    }
    goOn.signal()
    await eventually { log.entries.count == 3 }
    #expect(log.entries == ["begin", "end", "cancelled"])
  }

  @Test(arguments: BusKind.grounds)
  func freesItsHandlerExactlyOnceOverManyCycles(on kind: BusKind) async throws {
    let (stage, census, cycles) = (try Stage(kind), Census(), 2000 / slowness)
    let deliveries: [Delivery] = [.thread, .inline, .queue(.global()), .main]
    for cycle in 1...cycles {
      let canary = census.makeCanary()
      let delivery = deliveries[cycle % deliveries.count]
      let observation = try stage.center.observe(name, on: delivery) { _ in canary.sing() }
      if cycle.isMultiple(of: 100) { try stage.poster.post(name) }
      if cycle.isMultiple(of: 2) { observation.cancel() }
    }
    await eventually("closures were not released") { census.deaths == cycles }
    try await stage.drain()
    #expect(census.deaths == cycles)
  }
}
