// Kills relays and restarts brokers at random, and looks whether anything is lost or comes twice.
import DarwinNotify
import Foundation
import Glibc
import Testing
import Wormhole

extension MessageName where Value == Int {
  fileprivate static var value: Self { "org.example.value" }
  fileprivate static var record: Self { MessageName("org.example.record", keep: .last(10_000)) }
}

/// A few rounds; `Scripts/soak-relay` makes 200.
private let kills = getenv("DN_RELAY_KILLS").flatMap { Int(String(cString: $0)) } ?? 6

private let isSoak = kills > 10

@Suite(
  .serialized, .timeLimit(.minutes(isSoak ? 60 : 4 * slowness)),
  .enabled(if: TestBroker.isInstalled, "mosquitto is not installed"))
struct RelaySoakTests {
  private static let grounds =
    isSoak ? BusKind.allCases.filter { $0 == .none || $0.isInstalled } : BusKind.grounds

  @Test(arguments: grounds, [true, false])
  func nothingIsLostOrDoubled(on kind: BusKind, keepingData keeps: Bool) async throws {
    let settings = Pair.settings + names.flatMap { ["--share", $0.rawValue] }
    let pair = try await Pair(kind, keeps: keeps, settings: settings)
    let realm = pair.realm(settings)
    let (here, there) = (try pair.here.hole(), try pair.there.hole())
    let heard = try names.map { try pair.there.observe($0) }
    // How often a name was posted, and what was heard when it was posted last.
    var (posted, before) = (names.map { _ in 0 }, names.map { _ in -1 })
    for round in 1...kills {
      for _ in 1...5 {
        let name = Int.random(in: names.indices)
        before[name] = heard[name].posts
        posted[name] += 1
        try pair.here.center.post(names[name])
      }
      try await here.pass(round, to: .value)
      for step in 1...3 { try await here.pass(3 * round + step, to: .record) }
      try await there.pass(-round, to: .record)
      if round.isMultiple(of: 5) { await pair.broker.stop() }
      let session = Bool.random() ? pair.here : pair.there
      // The point at which it is killed is what varies.
      usleep(.random(in: 0...30_000))
      await session.end(SIGKILL)
      if round.isMultiple(of: 5) { try await pair.broker.start() }
      try await session.start(realm, isOnline: false)
    }
    await pair.meet()
    for (index, name) in names.enumerated() where before[index] >= 0 {
      await heard[index].wait(for: before[index] + 1)
      #expect(heard[index].posts > before[index], "\(name)")
      // Each kill repeats a notification at most once.
      #expect(heard[index].posts <= posted[index] + kills, "\(name)")
    }
    let ours = (1...kills).flatMap { round in (1...3).map { 3 * round + $0 } }
    let theirs = (1...kills).map { -$0 }
    for hole in [here, there] {
      await eventually("records are missing") {
        let values = (try? await hole.history(.record).compactMap(\.value)) ?? []
        return values.contains(-kills) && values.contains(3 * kills + 3)
      }
      let records = try await hole.history(.record).compactMap(\.value)
      #expect(records.filter { $0 > 0 } == ours)
      #expect(records.filter { $0 < 0 } == theirs)
      await eventually { (try? await hole.message(.value)) == kills }
    }
  }

  /// In the soak the broker is away for a minute, else for some hundred posts.
  @Test(arguments: grounds, [true, false])
  func postsAndMessagesArriveAfterTheBrokerWasAway(on kind: BusKind, keepingData keeps: Bool)
    async throws
  {
    let settings = Pair.settings + names.flatMap { ["--share", $0.rawValue] }
    let pair = try await Pair(kind, keeps: keeps, settings: settings)
    let (here, there) = (try pair.here.hole(), try pair.there.hole())
    let heard = try names.map { try pair.there.observe($0) }
    await pair.broker.stop()
    let end = ContinuousClock.now + .seconds(isSoak ? 60 : 0)
    var rounds = 0
    while rounds < 100 || .now < end {
      rounds += 1
      for name in names { try pair.here.center.post(name) }
      if rounds <= 100 {
        try await here.pass(rounds, to: .record)
        try await there.pass(-rounds, to: .record)
      }
      try await (rounds.isMultiple(of: 2) ? here : there).pass(rounds, to: .value)
      if isSoak { usleep(10_000) }
    }
    let last = rounds
    try await pair.broker.start()
    // They may wait for another minute before they try again.
    for session in [pair.here, pair.there] {
      // Other tests need the thread.
      while await session.status()?.realms.first?.state != "online" {
        try await Task.sleep(for: .milliseconds(10))
      }
    }
    await pair.meet()
    for heard in heard { await heard.wait(for: 1) }
    for hole in [here, there] {
      await eventually("records are missing") {
        (try? await hole.history(.record).count) == 200
      }
      let records = try await hole.history(.record).compactMap(\.value)
      #expect(records.filter { $0 > 0 } == Array(1...100))
      #expect(records.filter { $0 < 0 } == (1...100).map { -$0 })
      await eventually { (try? await hole.message(.value)) == last }
    }
    // What was posted before they met again is heard once.
    #expect(heard.map(\.posts) == [1, 1, 1, 1])
  }

  private var names: [NotificationName] { (1...4).map { NotificationName("com.example.n\($0)") } }
}
