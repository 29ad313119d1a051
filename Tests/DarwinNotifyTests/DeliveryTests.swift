// Specifies where handlers run.

@Suite(.bounded)
struct DeliveryTests {
  private let name: NotificationName = "com.example.changed"
  private let stage: Stage

  init() throws { stage = try Stage() }

  @Test func onAQueueHandlersRunThereInTheOrderOfTheirRegistration() async throws {
    let (queue, log) = (DispatchQueue(label: "com.example.queue"), Log<Int>())
    let observations = try (0..<20).map { number in
      try stage.center.observe(name, on: .queue(queue)) { _ in
        dispatchPrecondition(condition: .onQueue(queue))
        log.append(number)
      }
    }
    try stage.poster.post(name)
    await eventually { log.entries.count == 20 }
    #expect(log.entries == Array(0..<20))
    withExtendedLifetime(observations) {}
  }

  @Test func onTheThreadsOfTheLibraryHandlersRunOffMain() async throws {
    let log = Log<String>()
    let observations = try [Delivery.inline, .thread].map {
      try stage.center.observe(name, on: $0) { _ in log.append(currentThreadName()) }
    }
    try stage.poster.post(name)
    await eventually { log.entries.count == 2 }
    #expect(Set(log.entries) == ["dn-direct", "dn-delivery"])
    withExtendedLifetime(observations) {}
  }

  @Test func onAnExecutorIsInTheIsolationOfItsActors() async throws {
    let executor = QueueExecutor()
    let (resident, log) = (Resident(executor), Log<Int>())
    let seen = try Recorder(stage.center, name, on: .executor(executor)) { _ in
      dispatchPrecondition(condition: .onQueue(executor.queue))
      resident.assumeIsolated { resident in
        resident.visit()
        log.append(resident.visits)
      }
    }
    for _ in 1...100 { try stage.poster.post(name) }
    await eventually { seen.posts == 100 }
    #expect(log.entries == Array(1...seen.events.count))
  }

  @Test func inALoopTheHostRunsTheWork() async throws {
    let loop = Log<@Sendable () -> Void>()
    let seen = try Recorder(stage.center, name, on: .loop { loop.append($0) })
    try stage.poster.post(name)
    await eventually { loop.entries.count == 1 }
    #expect(seen.posts == 0)
    loop.entries.forEach { $0() }
    #expect(seen.posts == 1)
  }

  @Test func capturedObjectsAreFreedWithTheObservation() async throws {
    let census = Census()
    func observeInALoop() throws -> NotificationObservation {
      let canary = census.makeCanary()
      let loop = Delivery.loop { work in
        canary.sing()
        work()
      }
      return try stage.center.observe(name, on: loop) { _ in }
    }
    try observeInALoop().cancel()
    await eventually("the loop was not released") { census.deaths == 1 }
  }

  @Test @MainActor func aClosureWrittenOnTheMainActorRunsAnywhere() async throws {
    let seen = Recorder()
    let deliveries: [Delivery] = [.main, .inline, .thread, .queue(.global())]
    let observations = try deliveries.map { delivery in
      try stage.center.observe(name, on: delivery) { event in seen.record(event) }
    }
    try stage.center.bind(Listener("label", on: .inline) { event in seen.record(event) }, to: name)
    try stage.poster.post(name)
    await eventually { seen.posts == 5 }
    withExtendedLifetime(observations) {}
  }
}
