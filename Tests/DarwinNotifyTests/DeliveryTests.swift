// Specifies where handlers run.

@Suite(.bounded)
struct DeliveryTests {
  private let name: NotificationName = "com.example.changed"

  @Test(arguments: BusKind.grounds)
  func onMainIsTheMainQueueAndTheMainActor(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let seen = Recorder()
    let observation = try bus.makeCenter().observe(name) { event in
      dispatchPrecondition(condition: .onQueue(.main))
      MainActor.assumeIsolated { seen.record(event) }
    }
    try bus.makePoster().post(name)
    await eventually { seen.posts == 1 }
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: BusKind.grounds)
  func onAQueueIsOnThatQueue(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let queue = DispatchQueue(label: "com.example.queue")
    let seen = Recorder()
    let observation = try bus.makeCenter().observe(name, on: .queue(queue)) { event in
      dispatchPrecondition(condition: .onQueue(queue))
      seen.record(event)
    }
    try bus.makePoster().post(name)
    await eventually { seen.posts == 1 }
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: BusKind.grounds)
  func onAQueueHandlersKeepTheOrderOfTheirRegistration(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let center = try bus.makeCenter()
    let queue = DispatchQueue(label: "com.example.queue")
    let log = Log<Int>()
    let observations = try (0..<20).map { number in
      try center.observe(name, on: .queue(queue)) { _ in log.append(number) }
    }
    try bus.makePoster().post(name)
    await eventually { log.entries.count == 20 }
    #expect(log.entries == Array(0..<20))
    withExtendedLifetime(observations) {}
  }

  @Test(arguments: BusKind.grounds)
  func onAConcurrentQueueCallsDoNotOverlap(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let (center, peer) = (try bus.makeCenter(), try bus.makePoster())
    let queue = DispatchQueue(label: "com.example.queue", attributes: .concurrent)
    let (seen, log) = (Recorder(), Log<String>())
    let observation = try center.observe(name, on: .queue(queue)) { event in
      log.append("begin")
      sched_yield()
      log.append("end")
      seen.record(event)
    }
    for _ in 1...200 { try peer.post(name) }
    await eventually { seen.posts == 200 }
    let expected = seen.events.flatMap { _ in ["begin", "end"] }
    #expect(log.entries == expected)
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: BusKind.grounds)
  func onTheThreadsOfTheLibraryHandlersRunOffMain(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let center = try bus.makeCenter()
    let log = Log<String>()
    let direct = try center.observe(name, on: .direct) { _ in log.append(currentThreadName()) }
    let thread = try center.observe(name, on: .thread) { _ in log.append(currentThreadName()) }
    try bus.makePoster().post(name)
    await eventually { log.entries.count == 2 }
    #expect(Set(log.entries) == ["dn-direct", "dn-delivery"])
    withExtendedLifetime((direct, thread)) {}
  }

  @Test(arguments: BusKind.grounds)
  func onAnExecutorIsInTheIsolationOfItsActors(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let peer = try bus.makePoster()
    let executor = QueueExecutor()
    let resident = Resident(executor)
    let (seen, log) = (Recorder(), Log<Int>())
    let observation = try bus.makeCenter().observe(name, on: .executor(executor)) { event in
      dispatchPrecondition(condition: .onQueue(executor.queue))
      resident.assumeIsolated { resident in
        resident.visit()
        log.append(resident.visits)
      }
      seen.record(event)
    }
    for _ in 1...100 { try peer.post(name) }
    await eventually { seen.posts == 100 }
    #expect(log.entries == Array(1...seen.events.count))
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: BusKind.grounds)
  func inALoopTheHostRunsTheWork(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let center = try bus.makeCenter()
    let loop = Log<@Sendable () -> Void>()
    let seen = try Recorder(center, name, on: .loop { loop.append($0) })
    try bus.makePoster().post(name)
    await eventually { loop.entries.count == 1 }
    #expect(seen.posts == 0)
    loop.entries.forEach { $0() }
    #expect(seen.posts == 1)
  }

  @Test(arguments: BusKind.grounds)
  func whatItHoldsIsFreedWithTheObservation(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let center = try bus.makeCenter()
    let census = Census()
    func observeInALoop() throws -> NotificationObservation {
      let canary = census.makeCanary()
      return try center.observe(
        name,
        on: .loop { work in
          canary.sing()
          work()
        }
      ) { _ in }
    }
    try observeInALoop().cancel()
    await eventually("the loop was not released") { census.deaths == 1 }
  }

  @Test(arguments: BusKind.grounds)
  @MainActor
  func aClosureWrittenOnTheMainActorRunsAnywhere(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let center = try bus.makeCenter()
    let seen = Recorder()
    let deliveries: [Delivery] = [.main, .direct, .thread, .queue(.global())]
    let observations = try deliveries.map { delivery in
      try center.observe(name, on: delivery) { event in seen.record(event) }
    }
    try center.bind(Listener("label", on: .direct) { event in seen.record(event) }, to: name)
    try bus.makePoster().post(name)
    await eventually { seen.posts == 5 }
    withExtendedLifetime(observations) {}
  }
}

private func currentThreadName() -> String {
  let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
  return name?.trimmingCharacters(in: .newlines) ?? ""
}
