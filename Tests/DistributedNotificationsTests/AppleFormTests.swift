// Specifies the functions with Apple's signatures.
import DistributedNotifications

@Suite(.bounded)
struct AppleFormTests {
  private let stage: DistributedStage

  init() async throws { stage = try await DistributedStage(.usual) }

  private let queue = OperationQueue()

  /// Adds an observer that writes down the object and the number of what it gets.
  private func add(
    to stage: DistributedStage, name: Notification.Name? = .changed, object: String? = nil,
    behavior: DistributedNotificationCenter.SuspensionBehavior = .hold, _ seen: Log<String>
  ) -> any NSObjectProtocol {
    stage.center.addObserver(
      forName: name, object: object, suspensionBehavior: behavior, queue: queue
    ) { notification in
      let number = notification.userInfo?["number"] as? Int ?? 0
      seen.append("\(notification.object as? String ?? "-") \(number)")
    }
  }

  private func post(
    _ number: Int, object: String? = nil, from center: DistributedNotificationCenter
  ) {
    center.postNotificationName(.changed, object: object, userInfo: ["number": number])
  }

  @Test func anObjectSelects() async throws {
    let (x, any, everyName) = (Log<String>(), Log<String>(), Log<String>())
    let built = ["send", "er"].joined()
    let observers = [
      add(to: stage, object: built, x), add(to: stage, any),
      add(to: stage, name: nil, object: "sender", everyName),
    ]
    post(1, from: stage.poster)
    post(2, object: "sender", from: stage.poster)
    post(3, object: "other", from: stage.poster)
    stage.poster.post(name: Notification.Name("com.example.other"), object: "sender")
    await eventually { any.entries.count + everyName.entries.count + x.entries.count == 6 }
    #expect(any.entries == ["- 1", "sender 2", "other 3"])
    #expect(x.entries == ["sender 2"])
    #expect(everyName.entries == ["sender 2", "sender 0"])
    observers.forEach { stage.center.removeObserver($0) }
  }

  @Test func anObserverIsRemovedByItsTokenNameAndObject() async throws {
    let (named, all, dropped) = (Log<String>(), Log<String>(), Log<String>())
    let token = add(to: stage, object: "x", named)
    let everyName = add(to: stage, name: nil, all)
    _ = add(to: stage, dropped)
    stage.center.removeObserver("no token")
    stage.center.removeObserver(token, name: Notification.Name("com.example.other"), object: nil)
    stage.center.removeObserver(token, name: nil, object: "y")
    stage.center.removeObserver(everyName, name: .changed, object: nil)
    post(1, object: "x", from: stage.poster)
    await eventually { named.entries.count + all.entries.count + dropped.entries.count == 3 }
    stage.center.removeObserver(token, name: .changed, object: "x")
    stage.center.removeObserver(token)
    stage.center.removeObserver(everyName, name: nil, object: nil)
    post(2, object: "x", from: stage.poster)
    await eventually { dropped.entries.count == 2 }
    #expect(named.entries == ["x 1"] && all.entries == ["x 1"])
  }

  // A post of the center itself has arrived when it returns.
  @Test func resumingDeliversWhatWasKept() async throws {
    let (hold, coalesce, drop) = (Log<String>(), Log<String>(), Log<String>())
    _ = add(to: stage, hold)
    _ = stage.center.addObserver(forName: .changed, object: nil, queue: queue) {
      coalesce.append("- \($0.userInfo?["number"] as? Int ?? 0)")
    }
    _ = add(to: stage, behavior: .drop, drop)
    #expect(!stage.center.suspended)
    stage.center.suspended = true
    #expect(stage.center.suspended && !stage.poster.suspended)
    for number in 1...3 { post(number, from: stage.center) }
    #expect(hold.entries + coalesce.entries + drop.entries == [])
    stage.center.suspended = false
    await eventually { hold.entries.count == 3 && coalesce.entries.count == 1 }
    post(4, from: stage.center)
    await eventually { hold.entries.count + coalesce.entries.count + drop.entries.count == 7 }
    #expect(hold.entries == ["- 1", "- 2", "- 3", "- 4"])
    #expect(coalesce.entries == ["- 3", "- 4"] && drop.entries == ["- 4"])
  }

  @Test func aBlockWithoutAQueueRunsOnTheMainActor() async throws {
    let seen = Log<Bool>()
    let tokens = [nil, OperationQueue.main].map { queue in
      stage.center.addObserver(forName: .changed, object: nil, queue: queue) { _ in
        MainActor.assumeIsolated { seen.append(true) }
      }
    }
    stage.poster.post(Notification(name: .changed))
    await eventually { seen.entries.count == 2 }
    tokens.forEach(stage.center.removeObserver)
  }

  @Test func errorsGoWhereTheProgramSays() async throws {
    let errors = Log<DistributedNotificationError>()
    for center in [stage.center, stage.poster] { center.onError = { errors.append($0) } }
    let seen = Log<String>()
    _ = add(to: stage, seen)
    _ = add(to: stage, name: Notification.Name(""), seen)
    _ = add(to: stage, name: Notification.Name(String(repeating: "n", count: 512)), seen)
    _ = add(to: stage, object: String(repeating: "o", count: 65_537), seen)
    let userInfo = ["url": URL(fileURLWithPath: "/"), "fine": 1] as [AnyHashable: Any]
    stage.poster.post(name: .changed, object: nil, userInfo: userInfo)
    stage.poster.postNotificationName(.changed, object: nil, userInfo: userInfo)
    stage.poster.post(Notification(name: .changed, object: 5))
    stage.poster.post(name: Notification.Name("a\0b"), object: nil)
    post(1, from: stage.poster)
    await eventually { seen.entries == ["- 1"] }
    let refused = DistributedNotificationError.notAPropertyList(
      path: #"userInfo["url"]"#, type: "URL")
    #expect(
      errors.entries == [
        .failed(.invalidArgument), .failed(.nameTooLong), .failed(.tooLarge), refused, refused,
        .notAPropertyList(path: "object", type: "Int"), .failed(.invalidArgument),
      ])
    #expect(refused.description == #"userInfo["url"] cannot be in a property list: it is a URL"#)
  }

  @Test func removalComparesTheBytesOfNames() async throws {
    let center = try DistributedNotificationCenter(bus: .noBus)
    let (name, seen) = (Notification.Name("caf\u{E9}"), Log<String>())
    let token = center.addObserver(forName: name, object: nil, queue: queue) { _ in
      seen.append("seen")
    }
    center.removeObserver(token, name: Notification.Name("cafe\u{301}"), object: nil)
    center.post(name: name, object: nil)
    await eventually { seen.entries == ["seen"] }
    center.removeObserver(token, name: name, object: nil)
  }

  @Test func withoutABusThePostReachesTheProcessAndIsNoError() async throws {
    let (center, other) = (try DistributedNotificationCenter.isolated(), Log<Bool>())
    let another = try DistributedNotificationCenter.isolated()
    _ = another.addObserver(forName: .changed, object: nil, queue: queue) { _ in
      other.append(true)
    }
    let (errors, seen) = (Log<DistributedNotificationError>(), Log<Int>())
    center.onError = { errors.append($0) }
    _ = center.addObserver(forName: .changed, object: nil, queue: queue) {
      seen.append($0.userInfo?["number"] as? Int ?? 0)
    }
    center.post(name: .changed, object: nil, userInfo: ["number": 1])
    await eventually { seen.entries == [1] }
    #expect(errors.entries == [] && other.entries == [])
    #expect(throws: DistributedNotificationError.failed(.notConnected)) {
      try center.post(.changed, userInfo: nil)
    }
  }
}
