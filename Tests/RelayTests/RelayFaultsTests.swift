// Specifies what is kept when relays are killed, and what happens while a broker hangs.
import DarwinNotify
import Foundation
import Glibc
import Testing
import Wormhole

extension MessageName where Value == Int {
  fileprivate static var steps: Self { MessageName("org.example.steps", keep: .last(10_000)) }
}

@Suite(.bounded, .enabled(if: TestBroker.isInstalled, "mosquitto is not installed"))
struct RelayFaultsTests {
  private let light: NotificationName = "com.example.light"

  /// A count is published before it is stored. After a kill in between, an earlier one is found.
  @Test(arguments: [true, false])
  func aCountThatWasNotStoredHidesNoLaterPost(inTheSameTable isSame: Bool) async throws {
    let pair = try await Pair()
    let (here, there) = try (pair.here.observe(light), pair.there.observe(light))
    try pair.here.center.post(light)
    await there.wait(for: 1)
    // It answers when it has stored the count. Its post at each start distinguishes one table from
    // the next.
    #expect(await pair.here.status() != nil)
    if !isSame { await pair.here.end() }
    let state = try pair.here.saveState()
    if !isSame { try await pair.here.start(pair.realm()) }
    try pair.here.center.post(light)
    await there.wait(for: 2)
    await pair.here.end(SIGKILL)
    try pair.here.restoreState(state)
    try pair.here.center.post(light)
    await here.wait(for: 3)
    try await pair.here.start(pair.realm())
    await there.wait(for: 3)
    #expect(there.posts == 3)
  }

  @Test func aNameThatIsNewIsHeardThoughNoRelayRan() async throws {
    let pair = try await Pair()
    await pair.here.end()
    let (here, there) = try (pair.here.observe(light), pair.there.observe(light))
    try pair.here.center.post(light)
    await here.wait(for: 1)
    try await pair.here.start(pair.realm())
    await there.wait(for: 1)
  }

  /// The new table has counted as often as the old one.
  @Test func aPostIsHeardThoughNoRelayRanAndTheTableIsNew() async throws {
    let pair = try await Pair(settings: ["--share", light.rawValue])
    let there = try pair.there.observe(light)
    _ = try await pair.here.notifyUtil(["-p", light.rawValue])
    await there.wait(for: 1)
    // It answers when it has stored the count.
    #expect(await pair.here.status() != nil)
    try pair.here.removeTable()
    await pair.here.end()
    for name in ["notifyrelay.started", light.rawValue] {
      let observer = try Program(
        "notifyutil", ["--ready", "-1", name], on: pair.here.bus,
        environment: pair.here.environment)
      await eventually("\(name) is not registered") { observer.errors.contains("ready") }
      _ = try await pair.here.notifyUtil(["-p", name])
      #expect(await observer.end().status == 0)
    }
    try await pair.here.start(pair.realm(["--share", light.rawValue]))
    await there.wait(for: 2)
    let fence = try pair.there.observe("com.example.light.fence")
    _ = try await pair.here.notifyUtil(["-p", "com.example.light.fence"])
    await fence.wait(for: 1)
    #expect(there.posts == 2)
  }

  @Test(arguments: BusKind.grounds)
  func aSecondRelayInTheSameSessionIsRefused(on kind: BusKind) async throws {
    let (broker, session) = (try TestBroker(), try Session(kind))
    try await broker.start()
    try await session.start(broker.realm())
    let other = try makeDirectory("state")
    let outcome = try await session.run(broker.realm(), changing: ["XDG_STATE_HOME": other])
    #expect(outcome.status == 3)
    let process = try #require(session.relay).processIdentifier
    #expect(
      outcome.errors.contains("a relay of this session is already running, as process \(process)"))
    #expect(await session.end()?.status == 0)
    // One that was killed is not in the way.
    try await session.start(broker.realm())
    await session.end(SIGKILL)
    try await session.start(broker.realm())
  }

  @Test func aStartThatFailsRepeatsNothing() async throws {
    let pair = try await Pair()
    let (here, there) = try (pair.here.observe(light), pair.there.observe(light))
    try pair.here.center.post(light)
    await there.wait(for: 1)
    await pair.here.end()
    // A directory is in the way of the socket on which the relay answers.
    let file = try pair.here.write("", to: "run/notifyrelay/file")
    #expect(try await pair.here.run(pair.realm()).status == 2)
    try FileManager.default.removeItem(
      at: URL(fileURLWithPath: file).deletingLastPathComponent())
    try await pair.here.start(pair.realm())
    let fence = try pair.there.observe("com.example.fence")
    try pair.here.center.post("com.example.fence")
    await fence.wait(for: 1)
    #expect(here.posts == 1 && there.posts == 1)
  }

  @Test func aStateThatWasSetToZeroStaysSo() async throws {
    let broker = try TestBroker()
    let session = try Session()
    try await broker.start()
    try await session.start(broker.realm())
    let heard = try session.observe(light)
    _ = try await session.notifyUtil(["-s", light.rawValue, "5", "-p", light.rawValue])
    await eventually { await session.counts()?.sent == 1 }
    _ = try await session.notifyUtil(["-s", light.rawValue, "0"])
    await session.end()
    try await session.start(broker.realm())
    #expect(try await session.state(of: light) == 0)
    #expect(heard.posts == 1)
  }

  /// When a relay is killed that has received a post with a state.
  enum Kill: CaseIterable {
    case atThePost
    case beforeItStores
  }

  /// After the kill the state is in the table. It must not count as one that was set here.
  @Test(arguments: Kill.allCases)
  func anOlderStateDoesNotReturnWithAKilledRelay(_ kill: Kill) async throws {
    let pair = try await Pair()
    let (here, there) = try (
      pair.here.observe(light, killing: kill == .atThePost), pair.there.observe(light)
    )
    if kill == .beforeItStores { try await pair.here.killWhenItStores() }
    for state in 1...2 {
      let arguments = ["-s", light.rawValue, "\(state)", "-p", light.rawValue]
      _ = try await pair.there.notifyUtil(arguments)
      await eventually { await pair.there.counts()?.sent == state }
      if state == 1 { _ = await pair.here.outcome() }
    }
    try await pair.here.start(pair.realm())
    let fence = try pair.there.observe("com.example.fence")
    for name in [light, "com.example.fence"] { try pair.here.center.post(name) }
    await fence.wait(for: 1)
    for session in [pair.here, pair.there] { #expect(try await session.state(of: light) == 2) }
    // Two posts there, one here, and one that is repeated.
    #expect(here.posts <= 4 && there.posts <= 4)
  }

  /// The broker forgets a post when it is acknowledged. Chance decides whether the relay reads the
  /// post or the signal first.
  @Test func aPostThatArrivesWithTheSignalToEndIsHeardOnce() async throws {
    let (broker, there) = try await machineThatKnowsAnOrigin()
    let heard = try there.observe(light)
    for count in 1...8 {
      let relay = try await there.stopRelay()
      let payload = "1 \(count + 1) \(count) 0 0 0"
      try await broker.publish("n/\(light)/\(Self.origin)", payload)
      for signal in [SIGTERM, SIGCONT] { relay.send(signal) }
      await relay.waitForSuccess()
      try await there.start(broker.realm())
      await heard.wait(for: count)
      try #require(heard.posts == count)
    }
  }

  /// Here a thread connects to a broker that never answers.
  @Test func onlyTheMainThreadTakesSignals() async throws {
    let broker = try FakeBroker { _ in }
    defer { broker.stop() }
    let session = try Session()
    let realm = ["--realm", "home", "--broker", "mqtts://127.0.0.1:\(broker.port)"]
    try await session.start(realm + ["--share", "com.example."], isOnline: false)
    await eventually { broker.connections == 1 }
    let relay = try #require(session.relay).processIdentifier
    let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(relay)/task")
      .filter { $0 != "\(relay)" }
      .compactMap {
        try? String(contentsOfFile: "/proc/\(relay)/task/\($0)/status", encoding: .utf8)
      }
    #expect(!threads.isEmpty)
    for status in threads {
      let blocked = try #require(status.firstMatch(of: /SigBlk:\s*([0-9a-f]+)/)?.1)
      #expect(try #require(UInt64(blocked, radix: 16)) & 1 << (SIGTERM - 1) != 0, "\(status)")
    }
  }

  /// The broker forgets a post when it is acknowledged.
  @Test func aPostThatIsNotStoredComesAgain() async throws {
    let (broker, there) = try await machineThatKnowsAnOrigin()
    let heard = try there.observe(light)
    try await there.killWhenItStores()
    try await broker.publish("n/\(light)/\(Self.origin)", "1 2 1 0 0 0")
    _ = await there.outcome()
    try await there.start(broker.realm())
    await heard.wait(for: 2)
    #expect(heard.posts == 2)
  }

  /// The relay is killed by the change notification of the first record.
  @Test func recordsOfANewOriginAreStoredOnceThoughTheRelayIsKilled() async throws {
    let (broker, there) = (try TestBroker(), try Session())
    try await broker.start()
    try await there.start(broker.realm())
    let change: NotificationName = "wormhole.org.example.lights.wormhole.org.example.steps"
    let heard = try there.observe(change, killing: true)
    let relay = try await there.stopRelay()
    for number in 5...6 { _ = try await publisher(of: number, broker).end() }
    relay.send(SIGCONT)
    _ = await there.outcome()
    #expect(heard.posts > 0)
    try await there.start(broker.realm())
    let hole = try there.hole()
    await eventually { (try? await hole.history(.steps).last?.value) == 6 }
    let stored = try await hole.history(.steps).compactMap(\.value)
    #expect(stored == [5, 6], "\(stored)")
  }

  /// The broker forgets a record when it is acknowledged. Its origin may be gone then.
  @Test func aRecordIsStoredBeforeItIsAcknowledged() async throws {
    let (broker, there) = try await machineThatKnowsAnOrigin()
    let hole = try there.hole()
    _ = try await publisher(of: 1, broker).end()
    await eventually { (try? await hole.history(.steps).count) == 1 }
    // While the store is locked, the relay waits in the middle of storing.
    let lock = try await there.lockStore()
    let publisher = try publisher(of: 2, broker)
    try there.waitUntilRelayIsBusy()
    there.killNow()
    _ = await there.outcome()
    lock.send(SIGKILL)
    _ = await (lock.end(), publisher.end())
    try await there.start(broker.realm())
    await eventually("the record is lost") {
      (try? await hole.history(.steps).compactMap(\.value)) == [1, 2]
    }
  }

  @Test func aRecordThatComesAgainIsStoredOnce() async throws {
    let (broker, there) = try await machineThatKnowsAnOrigin()
    let hole = try there.hole()
    for number in [1, 1, 2] { _ = try await publisher(of: number, broker).end() }
    await eventually { (try? await hole.history(.steps).compactMap(\.value).contains(2)) == true }
    #expect(try await hole.history(.steps).compactMap(\.value) == [1, 2])
  }

  /// No other machine asks for the record.
  @Test func aRecordThatTheBrokerRefusedIsPublishedAgain() async throws {
    let broker = try TestBroker("allow_anonymous true\nacl_file DIRECTORY/acl")
    let here = try Session()
    func permit(_ topics: String) async throws {
      await broker.stop()
      try topics.write(toFile: "\(broker.directory)/acl", atomically: true, encoding: .utf8)
      try await broker.start()
    }
    try await permit("topic readwrite #\ntopic deny darwinnotify/1/home/r/#\n")
    try await here.start(broker.realm())
    try await here.hole().pass(1, to: .steps)
    await eventually { await here.counts()?.refused == 1 }
    #expect(await here.counts()?.sent == 1)
    try await permit("topic readwrite #\n")
    await eventually { await here.counts()?.sent == 2 }
    #expect(await here.counts()?.refused == 1)
  }

  private static let origin = "00000000000000aa"

  private func machineThatKnowsAnOrigin() async throws -> (TestBroker, Session) {
    let (broker, session) = (try TestBroker(), try Session())
    try await broker.start()
    try await session.start(broker.realm())
    try await broker.publish("p/\(Self.origin)", "1 1 online 1 :1.0")
    // What it posts before is the baseline.
    await eventually { await session.status()?.realms.first?.peers.first?.state == "online" }
    return (broker, session)
  }

  /// Publishes a record of that origin, whose value is its number.
  private func publisher(of number: Int, _ broker: TestBroker) throws -> Program {
    try broker.publisher(
      "r/org.example.lights/org.example.steps/\(Self.origin)",
      "1 \(number + 1) 7 \(number) \(number - 1) 100 \(number) 1 - value 1 :json :Int\n\(number)")
  }

  @Test func aBrokerThatHangsHoldsNobodyUp() async throws {
    let pair = try await Pair()
    let (here, there) = try (pair.here.observe(light), pair.there.observe(light))
    let before = try #require(await pair.here.counts()?.sent)
    pair.broker.hang(true)
    for _ in 1...20_000 { try pair.here.center.post(light) }
    await here.wait(for: 20_000)
    #expect(await pair.here.status()?.realms.first?.state == "online")
    pair.broker.hang(false)
    await there.wait(for: 1)
    let fence = try pair.there.observe("com.example.fence")
    try pair.here.center.post("com.example.fence")
    await fence.wait(for: 1)
    // A name waits once, however often it was posted.
    #expect(try #require(await pair.here.counts()?.sent) - before <= 4)
    #expect(there.posts <= 3)
  }
}
