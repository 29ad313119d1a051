// Specifies the sequences of the distributed center.
import DistributedNotifications

@Suite(.bounded)
struct DistributedSequenceTests {
  private let stage: DistributedStage

  init() async throws { stage = try await DistributedStage(.usual) }

  @Test func theFirstAfterTheBusWasLostSaysThatOthersMayBeMissing() async throws {
    let bus = try PrivateBus(.usual)
    let center = try DistributedNotificationCenter(bus: .address(bus.address))
    var states = try center.busStates().makeAsyncIterator()
    var notifications = center.notifications(named: .changed).makeAsyncIterator()
    while await states.next() != true {}
    try center.post(.changed, userInfo: nil)
    #expect(await notifications.next()?.mayHaveMissed == false)
    bus.kill()
    while await states.next() != false {}
    bus.startAgain()
    while await states.next() != true {}
    for isFirst in [true, false] {
      try center.post(.changed, userInfo: nil)
      #expect(await notifications.next()?.mayHaveMissed == isFirst)
    }
  }

  @Test func aSlowConsumerGetsEveryPostInOrder() async throws {
    let notifications = stage.center.notifications(named: .changed)
    for number in 0..<1000 { try stage.poster.post(.changed, userInfo: ["number": number]) }
    var expected = 0
    for await notification in notifications {
      try #require(notification.number == expected)
      #expect(notification.coalesced == 1 && notification.dropped == 0)
      expected += 1
      if expected == 1000 { break }
    }
  }

  @Test func theOldestAreDroppedAndTheNextReportsHowMany() async throws {
    let (limit, count) = (65_536, 70_000)
    var iterator = stage.center.notifications(named: .changed).makeAsyncIterator()
    var own = stage.center.notifications(named: .own).makeAsyncIterator()
    // Its own posts wait for the iteration as soon as they are made, and not on the bus.
    for number in 0..<count { try stage.center.post(.own, userInfo: ["number": number]) }
    for index in 0..<limit {
      let notification = try #require(await own.next())
      try #require(notification.number == count - limit + index)
      try #require(notification.dropped == (index == 0 ? count - limit : 0))
    }
    try stage.poster.post(.changed, userInfo: ["number": 7])
    #expect(await iterator.next()?.number == 7)
  }

  @Test func aPrefixSelectsNames() async throws {
    let notifications = try stage.center.notifications(withPrefix: "com.x")
    for name in ["com.x", "com.y", "com.x.y", "com.xy"] {
      try stage.poster.post(Notification.Name(name), object: name, userInfo: nil)
    }
    var names: [String] = []
    for await notification in notifications {
      #expect(notification.object == notification.name.rawValue)
      names.append(notification.name.rawValue)
      if names.count == 3 { break }
    }
    #expect(names == ["com.x", "com.x.y", "com.xy"])
  }

  @Test func theSenderTellsOwnPostsFromOthers() async throws {
    var iterator = stage.center.notifications(named: .changed).makeAsyncIterator()
    try stage.center.post(.changed, userInfo: nil)
    #expect(await iterator.next()?.sender == .current)
    try stage.poster.post(.changed, userInfo: nil)
    let other = try #require(await iterator.next()?.sender)
    #expect(!other.isOwn && other.connection?.hasPrefix(":1.") == true && other.process == nil)
  }

  @Test func aRefusedSequenceReportsItsErrorOnceAndEndsAtOnce() async throws {
    let errors = Log<DistributedNotificationError>()
    stage.center.onError = { errors.append($0) }
    let notifications = stage.center.notifications(named: Notification.Name(""))
    #expect(errors.entries == [.failed(.invalidArgument)])
    for _ in 1...2 {
      for await _ in notifications { Issue.record("a post of no name") }
    }
    #expect(errors.entries.count == 1)
  }

  @Test func theRegistrationEndsWithTheIteration() async throws {
    let census = Census()
    let waiting = Log<Bool>()
    let task = Task {
      var iterator = try watched(by: census, on: stage).makeAsyncIterator()
      waiting.append(true)
      while await iterator.next() != nil {}
      // The handler goes although the iterator lives.
      await Task { await eventually { census.deaths == 1 } }.value
      withExtendedLifetime(iterator) {}
    }
    await eventually { !waiting.entries.isEmpty }
    task.cancel()
    try await task.value
    let sequence = try watched(by: census, on: stage)
    try stage.poster.post(.changed, userInfo: nil)
    for await _ in sequence { break }
    await eventually { census.deaths == 2 }
    withExtendedLifetime(sequence) {}
    do {
      let sequence = try watched(by: census, on: stage)
      for number in 0..<100 { try stage.center.post(.changed, userInfo: ["number": number]) }
      withExtendedLifetime(sequence) {}
    }
    await eventually("what was not taken stays") { census.deaths == 3 }
  }

  /// A sequence whose registration keeps a canary.
  private func watched(
    by census: Census, on stage: DistributedStage
  ) throws -> QueuedNotifications<DistributedNotification> {
    let canary = Locked<Canary?>(census.makeCanary())
    return try QueuedNotifications { delivery, handler in
      guard let canary = canary.withLock({ $0.take() }) else { throw DarwinNotifyError.outOfMemory }
      return try stage.center.observe(.changed, on: delivery) {
        canary.sing()
        handler($0)
      }
    }
  }
}

extension Notification.Name {
  fileprivate static let own = Notification.Name("self.example.own")
}
