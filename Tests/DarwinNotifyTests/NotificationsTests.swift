// Specifies the sequence.

@Suite(.bounded)
struct NotificationsTests {
  private let name: NotificationName = "com.example.changed"

  @Test(arguments: BusKind.grounds)
  func isRegisteredBeforeItIsReturned(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let notifications = try bus.makeCenter().notifications(named: name)
    try bus.makePoster().post(name)
    for await event in notifications {
      #expect(event == NotificationEvent(name: name))
      break
    }
  }

  @Test(arguments: BusKind.grounds)
  func losesNothingToASlowConsumer(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let (center, poster) = (try bus.makeCenter(), try bus.makeCenter())
    let notifications = try center.notifications(named: name)
    let posting = Task.detached {
      for _ in 1...1000 { try poster.post("com.example.changed") }
    }
    var posts = 0
    for await event in notifications {
      posts += event.coalesced
      if posts >= 1000 { break }
      try await Task.sleep(for: .milliseconds(1))
    }
    try await posting.value
    #expect(posts == 1000)
  }

  @Test(arguments: BusKind.grounds)
  func keepsOneEventThatStandsForAllThatArrived(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let (center, poster) = (try bus.makeCenter(), try bus.makeCenter())
    let notifications = try center.notifications(named: name)
    for _ in 1...1000 { try poster.post(name) }
    try await drain(center, behind: poster, on: .direct)
    var iterator = notifications.makeAsyncIterator()
    let event = await iterator.next()
    #expect(event == NotificationEvent(name: name, coalesced: 1000))
  }

  @Test(arguments: BusKind.grounds)
  func givesEveryIteratorEveryPost(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let (center, peer) = (try bus.makeCenter(), try bus.makePoster())
    let notifications = try center.notifications(named: name)
    var first = notifications.makeAsyncIterator()
    var second = notifications.makeAsyncIterator()
    for _ in 1...10 { try peer.post(name) }
    let firstPosts = await posts(10, from: &first)
    let secondPosts = await posts(10, from: &second)
    #expect(firstPosts == 10)
    #expect(secondPosts == 10)
  }

  @Test(arguments: BusKind.installed)
  func unregistersWhenTheLoopIsLeft(on kind: BusKind) async throws {
    try await expectRegistrationEnds(on: kind) { center, peer, awaitRule in
      let notifications = try center.notifications(named: name)
      await awaitRule()
      peer.post(name)
      for await _ in notifications { break }
      withExtendedLifetime(notifications) {}
    }
  }

  @Test(arguments: BusKind.installed)
  func unregistersWhenItIsDroppedWithoutAnIteration(on kind: BusKind) async throws {
    try await expectRegistrationEnds(on: kind) { center, _, awaitRule in
      let notifications = try center.notifications(named: name)
      await awaitRule()
      withExtendedLifetime(notifications) {}
    }
  }

  @Test func unregistersWhenTheTaskIsCancelled() async throws {
    let bus = try PrivateBus(.usual)
    let (center, peer) = (try bus.makeCenter(), try bus.makePeer())
    let connection = try peer.connection(of: center)
    let rulesBefore = peer.countRules(of: connection)
    let notifications = try center.notifications(named: name)
    let waiting = Recorder()
    let task = Task {
      var iterator = notifications.makeAsyncIterator()
      waiting.record(NotificationEvent(name: "com.example.waiting"))
      while await iterator.next() != nil {}
      // A separate task, not cancelled, waits while the iterator lives.
      await Task {
        await eventually("the rule remains") { peer.countRules(of: connection) == rulesBefore }
      }.value
      withExtendedLifetime(iterator) {}
    }
    await eventually { waiting.posts == 1 }
    task.cancel()
    await task.value
  }

  @Test func endsForATaskThatWasCancelledBefore() async throws {
    let bus = try PrivateBus(.usual)
    let notifications = try bus.makeCenter().notifications(named: name)
    try bus.makePeer().post(name)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      var iterator = notifications.makeAsyncIterator()
      let (first, second) = (await iterator.next(), await iterator.next())
      return first == nil && second == nil
    }
    #expect(await task.value)
  }

  @Test func standsForOnePostUnlessTold() {
    let event = NotificationEvent(name: "com.example.changed")
    #expect(event.coalesced == 1)
    #expect(NotificationEvent(name: event.name, coalesced: 3).coalesced == 3)
  }

  /// Takes events until they stand for a number of posts. Returns the number reached.
  private func posts(_ wanted: Int, from iterator: inout Notifications.Iterator) async -> Int {
    var posts = 0
    while posts < wanted, let event = await iterator.next() {
      posts += event.coalesced
    }
    return posts
  }

  /// The bus has a rule for the sequence while it is used, and none afterwards.
  private func expectRegistrationEnds(
    on kind: BusKind,
    use: (DarwinNotificationCenter, Peer, _ awaitRule: () async -> Void) async throws -> Void
  ) async throws {
    let bus = try PrivateBus(kind)
    let (center, peer) = (try bus.makeCenter(), try bus.makePeer())
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
