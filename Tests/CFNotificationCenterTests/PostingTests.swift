// Specifies what a callback receives, where it runs, and what is refused.
import CFNotificationCenter
import DistributedNotifications
import Synchronization

@Suite(.bounded)
struct CFPostingTests {
  private let log = Log<String>()
  private let bus: PrivateBus

  init() throws { bus = try PrivateBus() }

  @Test func theCentersAreThoseOfTheProcess() throws {
    let centers = [
      CFNotificationCenterGetLocalCenter(), CFNotificationCenterGetDarwinNotifyCenter(),
      CFNotificationCenterGetDistributedCenter(),
    ]
    #expect(Set(centers).count == 3)
    #expect(CFNotificationCenterGetLocalCenter() == centers[0])
    #expect(CFNotificationCenterGetTypeID() == CFNotificationCenterGetTypeID())
    #expect(CFNotificationCenterGetTypeID() != 0)
  }

  @Test func namesAreEqualIfTheirBytesAre() {
    let composed = CFNotificationName("caf\u{E9}")
    #expect(composed != CFNotificationName("cafe\u{301}"))
    #expect(composed == CFNotificationName("caf\u{E9}"))
  }

  @Test func theLocalCenterCallsBeforeAPostReturns() throws {
    let center = try #require(CFNotificationCenterGetLocalCenter())
    let (observer, thread) = (Observer(), pthread_self())
    let depth = Atomic(0)
    add(observer, to: center, observer.name) { [log] center, _, name, _, userInfo in
      log.append("\(pthread_self() == thread) \(userInfo?["key"] as? Int ?? 0)")
      guard depth.add(1, ordering: .relaxed).newValue < 3 else { return }
      CFNotificationCenterPostNotification(center, name, nil, ["key": 7], true)
    }
    post(center, observer.name, nil, ["key": 42])
    #expect(log.entries == ["true 42", "true 7", "true 7"])
  }

  @MainActor
  @Test(arguments: [CenterChoice.darwin, .distributed])
  func aPostReturnsBeforeTheMainQueueCalls(of choice: CenterChoice) async throws {
    let (here, there) = try choice.makeEnds(on: bus)
    let player = MainActorPlayer(here)
    post(here, player.name)
    #expect(player.changes == 0)
    await drain(here, behind: here)
    #expect(player.changes == 1)
    await post(there, player.name, to: here)
    #expect(player.changes == 2)
  }

  @Test func userInfosComeBackAsTheyWere() async throws {
    let (here, there) = try CenterChoice.distributed.makeEnds(on: bus)
    let (observer, object) = (Observer(), Object("sender"))
    // It never changes.
    nonisolated(unsafe) let sent: NSDictionary = [
      "text": "caf\u{E9}", "yes": true, "list": [1, "two", [3.5]],
    ]
    add(observer, to: here, observer.name) { [log] _, _, _, object, userInfo in
      let text = object.map { Unmanaged<NSString>.fromOpaque($0).takeUnretainedValue() }
      let isSame = userInfo.map { sent.isEqual($0 as NSDictionary) } ?? false
      log.append("\(text ?? "nil") \(isSame)")
    }
    await post(there, observer.name, object, try #require(sent as? CFDictionary), to: here)
    #expect(log.entries == ["sender true"])
  }

  @Test func optionsReachObserversThatAreSuspended() async throws {
    let own = try DistributedNotificationCenter(bus: .address(bus.address))
    let here = CFNotificationCenter(own)
    let (_, there) = try CenterChoice.distributed.makeEnds(on: bus)
    let observer = Observer()
    let name = CFNotificationName(observer.name)
    own.suspended = true
    add(observer, to: here, observer.name, nil, .drop) { [log] _, _, _, _, userInfo in
      log.append(userInfo?["text"] as? String ?? "none")
    }
    post(there, observer.name, nil, ["text": "dropped"])
    CFNotificationCenterPostNotificationWithOptions(
      there, name, nil, ["text": "now"] as CFDictionary,
      kCFNotificationDeliverImmediately | kCFNotificationPostToAllSessions | 1 << 20)
    await drain(here, behind: there)
    #expect(log.entries == ["now"])
    own.suspended = false
    await post(there, observer.name, nil, ["text": "again"], to: here)
    #expect(log.entries == ["now", "again"])
  }
}

/// An observer as they are written for apps.
@MainActor private final class MainActorPlayer {
  let name = Observer().name
  private(set) var changes = 0
  private let center: CFNotificationCenter

  init(_ center: CFNotificationCenter) {
    self.center = center
    CFNotificationCenterAddObserver(
      center, Unmanaged.passUnretained(self).toOpaque(),
      { _, observer, _, _, _ in
        guard let observer else { return }
        Unmanaged<MainActorPlayer>.fromOpaque(observer).takeUnretainedValue().changes += 1
      },
      name as CFString, nil, .deliverImmediately)
  }

  deinit {
    CFNotificationCenterRemoveEveryObserver(center, Unmanaged.passUnretained(self).toOpaque())
  }
}

/// One handler for the whole process receives the errors.
@Suite(.serialized, .bounded)
struct CFErrorTests {
  private let bus: PrivateBus

  init() throws { bus = try PrivateBus() }

  /// The errors of one call, which reports them on its own thread.
  private func errors(of body: () -> Void) -> [String] {
    let (before, log, thread) = (CFNotificationCenter.onError, Log<String>(), pthread_self())
    CFNotificationCenter.onError = { if pthread_self() == thread { log.append("\($0)") } }
    defer { CFNotificationCenter.onError = before }
    body()
    return log.entries
  }

  @Test(arguments: CenterChoice.allCases)
  func missingArgumentsDoNothing(of choice: CenterChoice) async throws {
    let (here, _) = try choice.makeEnds(on: bus)
    let observer = Observer()
    let missing = errors {
      CFNotificationCenterAddObserver(
        here, observer.pointer, nil, observer.name as CFString, nil, .drop)
      CFNotificationCenterPostNotification(here, nil, nil, nil, true)
      CFNotificationCenterPostNotification(here, CFNotificationName(""), nil, nil, true)
      CFNotificationCenterRemoveObserver(here, nil, CFNotificationName("a"), nil)
      CFNotificationCenterRemoveEveryObserver(here, nil)
      CFNotificationCenterPostNotification(here, CFNotificationName("a\0b"), nil, nil, true)
    }
    #expect(missing.count == 6)
    #expect(
      missing.prefix(5) == [
        "CFNotificationCenterAddObserver: there is no callback (name \"\(observer.name)\")",
        "CFNotificationCenterPostNotification: there is no name",
        "CFNotificationCenterPostNotification: invalid argument (name \"\")",
        "CFNotificationCenterRemoveObserver: there is no observer (name \"a\")",
        "CFNotificationCenterRemoveEveryObserver: there is no observer",
      ])
    let ignored = errors {
      CFNotificationCenterAddObserver(nil, nil, { _, _, _, _, _ in }, nil, nil, .drop)
      CFNotificationCenterRemoveObserver(nil, nil, nil, nil)
      CFNotificationCenterRemoveEveryObserver(nil, nil)
      CFNotificationCenterPostNotification(nil, nil, nil, nil, false)
      CFNotificationCenterPostNotificationWithOptions(nil, nil, nil, nil, 0)
      CFNotificationCenterRemoveObserver(here, observer.pointer, nil, nil)
    }
    #expect(ignored == [])
  }

  @Test func theDarwinCenterRefusesEveryName() throws {
    let (here, _) = try CenterChoice.darwin.makeEnds(on: bus)
    let (census, observer) = (Census(), Observer())
    let refused = errors {
      let canary = census.makeCanary()
      add(observer, to: here, nil) { _, _, _, _, _ in canary.sing() }
    }
    #expect(refused.count == 1)
    #expect(census.deaths == 1, "what is refused is freed at once")
    withExtendedLifetime(here) {}
  }

  @Test func beingWithoutABusIsNoError() throws {
    let here = CFNotificationCenter(try DistributedNotificationCenter(bus: .noBus))
    let observer = Observer()
    let reported = errors {
      add(observer, to: here, observer.name) { _, _, _, _, _ in }
      post(here, observer.name)
      CFNotificationCenterRemoveEveryObserver(here, observer.pointer)
    }
    #expect(reported == [])
  }

  @Test func aUserInfoThatIsNoPropertyListIsRefused() async throws {
    let (here, there) = try CenterChoice.distributed.makeEnds(on: bus)
    let (observer, log) = (Observer(), Log<String>())
    add(observer, to: here, observer.name) { _, _, _, _, userInfo in
      log.append("\(userInfo?.count ?? 0)")
    }
    let refused = errors {
      let link = URL(fileURLWithPath: "/")
      post(there, observer.name, nil, ["good": 1, "link": link])
      post(there, observer.name, nil, [7: "a key that is no string"])
    }
    #expect(refused.count == 2)
    #expect(refused.first?.contains(#"userInfo["link"]"#) == true)
    await post(there, observer.name, nil, ["good": 1], to: here)
    #expect(log.entries == ["1"])
  }
}
