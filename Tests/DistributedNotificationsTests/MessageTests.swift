// Specifies typed messages.
import DistributedNotifications

@Suite(.bounded)
struct MessageTests {
  struct Started: InterprocessMessage, Equatable {
    static let name = Notification.Name.changed
    var title: String
  }

  struct Nameless: InterprocessMessage {
    static let name = Notification.Name("")
  }

  private let stage: DistributedStage

  init() async throws { stage = try await DistributedStage(.usual) }

  @Test func messagesArriveInOrderAndWhatIsNoneIsLeftOut() async throws {
    var iterator = stage.center.messages(for: Started.self).makeAsyncIterator()
    stage.poster.post(Started(title: "Naima"))
    try stage.poster.post(.changed, userInfo: ["number": 1])
    stage.poster.post(Started(title: "Resolution"), options: .deliverImmediately)
    #expect(await iterator.next()?.title == "Naima")
    #expect(await iterator.next()?.title == "Resolution")
  }

  @Test func otherObserversSeeADictionary() async throws {
    var iterator = stage.center.notifications(named: .changed).makeAsyncIterator()
    stage.poster.post(Started(title: "Naima"))
    #expect(await iterator.next()?.userInfo as? [String: String] == ["title": "Naima"])
  }

  @Test func anObserverGetsOneMessageAfterTheOther() async throws {
    let (titles, others) = (Log<String>(), Log<String>())
    let observation = stage.center.addObserver(for: Started.self) { message in
      titles.append("begin \(message.title)")
      await Task.yield()
      titles.append("end \(message.title)")
    }
    let other = stage.center.addObserver(for: Started.self) { @MainActor message in
      MainActor.assertIsolated()
      others.append(message.title)
    }
    for number in 1...2 { stage.poster.post(Started(title: "\(number)")) }
    await eventually { titles.entries.count == 4 && others.entries.count == 2 }
    #expect(titles.entries == ["begin 1", "end 1", "begin 2", "end 2"])
    withExtendedLifetime((observation, other)) {}
  }

  @Test func noCallFollowsTheEndOfTheObservation() async throws {
    let (titles, isFree) = (Log<String>(), Log<Bool>())
    let observation = stage.center.addObserver(for: Started.self) { message in
      titles.append(message.title)
      await Task { await eventually { !isFree.entries.isEmpty } }.value
    }
    for number in 1...3 { stage.center.post(Started(title: "\(number)")) }
    await eventually { titles.entries == ["1"] }
    observation.cancel()
    isFree.append(true)
    await observation.end()
    stage.center.post(Started(title: "4"))
    #expect(titles.entries == ["1"])
  }

  @Test func anObserverMayEndItsOwnObservation() async throws {
    let seen = Log<String>()
    let own = Locked<NotificationObservation?>(nil)
    let observation = stage.center.addObserver(for: Started.self) { message in
      await eventually { own.withLock { $0 != nil } }
      let own = own.withLock { $0 }
      await own?.endInside()
      await own?.end()
      seen.append(message.title)
    }
    own.withLock { $0 = observation }
    for number in 1...2 { stage.center.post(Started(title: "\(number)")) }
    await eventually { seen.entries == ["1"] }
    await observation.end()
    own.withLock { $0 = nil }
    #expect(seen.entries == ["1"])
  }

  @Test func errorsAreReported() async throws {
    let errors = Log<DistributedNotificationError>()
    stage.center.onError = { errors.append($0) }
    for await _ in stage.center.messages(for: Nameless.self) { Issue.record("no name") }
    let observation = stage.center.addObserver(for: Nameless.self) { _ in }
    stage.center.post(Nameless())
    #expect(errors.entries == Array(repeating: .failed(.invalidArgument), count: 3))
    await observation.end()
  }

  @Test func onlyForwardedMessagesReachTheCenterOfTheProcess() async throws {
    let titles = Log<String>()
    let center = NotificationCenter()
    let token = center.addObserver(of: stage.center, for: Started.self) { titles.append($0.title) }
    let inProcess = NotificationCenter.default.addObserver(
      forName: nil, object: nil, queue: nil
    ) { if $0.name == .changed { titles.append("by default") } }
    defer { NotificationCenter.default.removeObserver(inProcess) }
    var iterator = stage.center.messages(for: Started.self).makeAsyncIterator()
    stage.poster.post(Started(title: "Naima"))
    let message = try #require(await iterator.next())
    #expect(titles.entries == [])
    center.post(message, subject: stage.center)
    await eventually { titles.entries == ["Naima"] }
    center.removeObserver(token)
  }
}

extension NotificationObservation {
  /// What a handler may call that is no asynchronous function.
  fileprivate func endInside() async {
    func end() { cancelAndWait() }
    end()
  }
}
