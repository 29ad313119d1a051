// Specifies what is released when a registration ends.
import Observation
import Synchronization
import Wormhole

@Suite(.bounded)
struct MessageObservationTests {
  /// How a registration can be ended.
  enum End: CaseIterable, Sendable {
    case cancel, cancelAndWait, letGo

    func callAsFunction(_ observation: inout NotificationObservation?) {
      switch self {
      case .cancel: observation?.cancel()
      case .cancelAndWait: observation?.cancelAndWait()
      case .letGo: observation = nil
      }
    }
  }

  private let queue = DispatchQueue(label: "com.example.queue")

  @Test(arguments: Kept.allCases, End.allCases)
  func endingItReleasesTheHandler(_ kind: Kept, _ end: End) async throws {
    let site = try Site(kind)
    let (log, census) = (Mail(), Census())
    var observations = try (1...3).map { _ -> NotificationObservation? in
      let canary = census.makeCanary()
      return try site.hole.listen(.number, starting: .new, on: .queue(queue)) { message in
        canary.sing()
        log.append(message)
      }
    }
    try await site.hole.pass(1, to: .number)
    await eventually { log.entries.count == 3 }
    for index in observations.indices { end(&observations[index]) }
    await eventually("handlers were not released") { census.deaths == 3 }
    withExtendedLifetime(observations) {}
  }

  @Test(arguments: End.allCases)
  func endingItReleasesAHandlerThatWasNeverCalled(_ end: End) async throws {
    let site = try Site()
    let census = Census()
    let canary = census.makeCanary()
    var observation: NotificationObservation? = try site.hole.listen(
      .number, starting: .new, on: .queue(queue)
    ) { [canary] _ in canary.sing() }
    // Calls that are on their way keep nothing alive, either.
    queue.suspend()
    try await site.hole.pass(1, to: .number)
    end(&observation)
    _ = consume canary
    await eventually("the handler was not released") { census.deaths == 1 }
    queue.resume()
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: [End.cancel, .cancelAndWait])
  func aHandlerThatEndsItselfIsReleasedWhenItReturns(_ end: End) async throws {
    let site = try Site(.history)
    let (log, census) = (Log<Bool>(), Census())
    let held = Locked<NotificationObservation?>(nil)
    do {
      let canary = census.makeCanary()
      let observation = try site.hole.listen(.number, starting: .new, on: .queue(queue)) { _ in
        canary.sing()
        var observation = held.withLock { $0 }
        end(&observation)
        log.append(census.deaths == 0)
      }
      held.withLock { $0 = observation }
    }
    queue.suspend()
    for number in 1...3 { try await site.hole.pass(number, to: .number) }
    queue.resume()
    await eventually("the handler lives") { census.deaths == 1 }
    #expect(log.entries == [true])
    #expect(held.withLock { $0.take() } != nil)
  }

  @Test func aHandlerOnAConcurrentQueueDoesNotWaitForItself() async throws {
    let site = try Site(.history)
    let (first, ended) = (Locked<pthread_t?>(nil), Flag())
    let held = Locked<NotificationObservation?>(nil)
    let (allPassed, cancelled, firstReturned) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    // As a concurrent queue may: the run after the first one with messages calls the handler before
    // that one has returned.
    let concurrent = Delivery.loop { work in
      Thread.detachNewThread {
        work()
        if first.withLock({ $0 }) == pthread_self() { firstReturned.signal() }
      }
      if first.withLock({ $0 }) == pthread_self() { cancelled.wait() }
    }
    let observation = try site.hole.listen(.number, starting: .new, on: concurrent) { message in
      if message.value == 1 {
        first.withLock { $0 = pthread_self() }
        allPassed.wait()
      }
      // The first run delivers 16.
      guard message.value == 17, let observation = held.withLock({ $0 }) else { return }
      observation.cancel()
      cancelled.signal()
      firstReturned.wait()
      observation.cancelAndWait()
      ended.set()
    }
    held.withLock { $0 = observation }
    for number in 1...17 { try await site.hole.pass(number, to: .number) }
    allPassed.signal()
    await eventually { ended.isSet }
    held.withLock { $0 = nil }
  }

  @Test func nothingIsHeldOnceItsEndWasWaitedFor() async throws {
    let site = try Site(.history)
    let name = MessageName<Parting>("org.example.parting")
    for _ in 1...2 { try await site.hole.pass(Parting(), to: name) }
    for delivery in [.queue(queue), .inline] as [Delivery] {
      let (begun, goOn) = (Flag(), DispatchSemaphore(value: 0))
      let observation = try site.hole.listen(name, starting: .all, on: delivery) { _ in
        begun.set()
        goOn.wait()
      }
      await eventually { begun.isSet }
      observation.cancel()
      #expect(Parting.living.load(ordering: .acquiring) == 1)
      goOn.signal()
      await observation.end()
      #expect(Parting.living.load(ordering: .acquiring) == 0)
    }
  }

  /// A value that takes a moment to go.
  private final class Parting: Codable, Sendable {
    static let living = Atomic(0)

    init() { Self.living.add(1, ordering: .acquiringAndReleasing) }

    convenience init(from decoder: any Decoder) throws { self.init() }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(7)
    }

    deinit {
      usleep(10_000)
      Self.living.subtract(1, ordering: .acquiringAndReleasing)
    }
  }

  @Test @MainActor func anObservedMessageThatCannotBeReadHasAnError() async throws {
    let site = try Site()
    try await site.hole.pass("x", to: MessageName<String>("org.example.number"))
    let number = try ObservedMessage(.number, in: site.hole)
    #expect(number.value == nil && number.error == .typeMismatch)
    try await number.pass(2)
    await eventually { await MainActor.run { number.value == 2 && number.error == nil } }
    try await site.hole.ping(.number)
    try await site.settle()
    await turn(.main)
    #expect(number.value == 2 && number.error == nil)
  }

  @Test @MainActor func anObservedMessageThatIsClearedAsItIsReadHasNoValue() async throws {
    let (site, name) = (try Site(), MessageName<Fleeting>("org.example.fleeting"))
    let hole = site.hole
    try await hole.pass(Fleeting(), to: name)
    Fleeting.whenDecoded.withLock { $0 = { try? hole.blocking.clear(name) } }
    let fleeting = try ObservedMessage(name, in: hole)
    await eventually { await fleeting.value == nil }
    #expect(try await hole.message(name) == nil)
  }

  /// A value that does something when it is decoded for the first time.
  private struct Fleeting: Codable, Sendable, Equatable {
    static let whenDecoded = Locked<(@Sendable () -> Void)?>(nil)

    init() {}

    init(from decoder: any Decoder) throws {
      Self.whenDecoded.withLock { $0.take() }?()
    }
  }

  @Test @MainActor func anObservedMessageFollowsWhatIsPassed() async throws {
    let site = try Site(.history)
    try await site.hole.pass(1, to: .number)
    let number = try ObservedMessage(.number, in: site.hole)
    #expect(number.value == 1)
    let changes = Log<Bool>()
    withObservationTracking {
      _ = number.value
    } onChange: {
      changes.append(true)
    }
    try await number.pass(2)
    await eventually { await number.value == 2 }
    #expect(changes.entries == [true])
    try await site.hole.pass("x", to: MessageName<String>("org.example.number"))
    await eventually { await number.error != nil }
    #expect(number.value == 2)
    try await site.hole.clear(.number)
    await eventually { await MainActor.run { number.value == nil && number.error == nil } }
  }
}
