// Specifies the sequence.

@Suite(.bounded)
struct NotificationsTests {
  private let name: NotificationName = "com.example.changed"
  private let stage: Stage

  init() throws { stage = try Stage() }

  @Test func keepsOneEventThatStandsForAllThatArrived() async throws {
    let notifications = try stage.center.notifications(named: name)
    for _ in 1...1000 { try stage.poster.post(name) }
    try await stage.drain(on: .inline)
    var iterator = notifications.makeAsyncIterator()
    #expect(await iterator.next() == NotificationEvent(name: name, coalesced: 1000))
  }

  @Test func mergedPostsOfTwoSendersHaveNone() async throws {
    let notifications = try stage.center.notifications(named: name)
    for poster in [stage.poster, stage.center] {
      try poster.post(name)
      try await stage.drain(on: .inline)
    }
    var iterator = notifications.makeAsyncIterator()
    #expect(await iterator.next() == NotificationEvent(name: name, coalesced: 2))
  }

  @Test func givesEveryIteratorEveryPost() async throws {
    let notifications = try stage.center.notifications(named: name)
    var iterators = (1...2).map { _ in notifications.makeAsyncIterator() }
    for _ in 1...10 { try stage.poster.post(name) }
    for index in iterators.indices {
      var posts = 0
      while posts < 10, let event = await iterators[index].next() { posts += event.coalesced }
      #expect(posts == 10)
    }
  }

  @Test func unregistersWhenTheLoopIsLeftOrTheSequenceDropped() async throws {
    try await expectRegistrationEnds { center, peer, awaitRule in
      let notifications = try center.notifications(named: name)
      await awaitRule()
      peer.post(name)
      for await _ in notifications { break }
      withExtendedLifetime(notifications) {}
    }
    try await expectRegistrationEnds { center, _, awaitRule in
      let notifications = try center.notifications(named: name)
      await awaitRule()
      withExtendedLifetime(notifications) {}
    }
  }

  @Test func unregistersWhenTheTaskIsCancelled() async throws {
    let (center, peer) = (stage.center, try stage.bus.makePeer())
    let connection = try peer.connection(of: center)
    let rulesBefore = peer.countRules(of: connection)
    let notifications = try center.notifications(named: name)
    let waiting = Flag()
    let task = Task {
      var iterator = notifications.makeAsyncIterator()
      waiting.set()
      while await iterator.next() != nil {}
      // A separate task, not cancelled, waits while the iterator lives.
      await Task {
        await eventually("the rule remains") { peer.countRules(of: connection) == rulesBefore }
      }.value
      withExtendedLifetime(iterator) {}
    }
    await eventually { waiting.isSet }
    task.cancel()
    await task.value
  }

  @Test func endsForATaskThatWasCancelledBefore() async throws {
    let notifications = try stage.center.notifications(named: name)
    try stage.poster.post(name)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      var iterator = notifications.makeAsyncIterator()
      let (first, second) = (await iterator.next(), await iterator.next())
      return first == nil && second == nil
    }
    #expect(await task.value)
  }

  /// The bus has a rule for the sequence while it is used, and none afterwards.
  private func expectRegistrationEnds(
    use: (DarwinNotificationCenter, Peer, _ awaitRule: () async -> Void) async throws -> Void
  ) async throws {
    let (center, peer) = (stage.center, try stage.bus.makePeer())
    let connection = try peer.connection(of: center)
    let rulesBefore = peer.countRules(of: connection)
    try await use(center, peer) {
      await eventually("there is no rule") {
        rulesBefore == nil || peer.countRules(of: connection) == rulesBefore.map { $0 + 1 }
      }
    }
    await eventually("the rule is still there") { peer.countRules(of: connection) == rulesBefore }
  }
}
