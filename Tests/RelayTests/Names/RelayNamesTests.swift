// Specifies how posts get from one machine to another.
import DarwinNotify
import Foundation
import Glibc
import Testing

@Suite(.bounded, .enabled(if: TestBroker.isInstalled, "mosquitto is not installed"))
struct RelayNamesTests {
  @Test(arguments: [BusKind.daemon, .broker, .none].filter { $0 == .none || $0.isInstalled })
  func aPostIsHeardOnTheOtherMachineOnce(on kind: BusKind) async throws {
    let pair = try await Pair(kind)
    let (here, there) = try (
      pair.here.observe("com.example.light"), pair.there.observe("com.example.light")
    )
    // Without a bus a relay hears of a name when a peer has posted it, or it is shared by itself.
    let name = "com.example.light"
    if kind == .none {
      for session in [pair.here, pair.there] {
        await session.end()
        try await session.start(pair.realm() + ["--share", name])
      }
      await pair.meet()
    }
    try pair.there.center.post(NotificationName(name))
    await here.wait(for: 1)
    try pair.here.center.post(NotificationName(name))
    await there.wait(for: 2)
    // What was heard goes back to nobody.
    try pair.there.center.post(NotificationName(name))
    await here.wait(for: 3)
    #expect(here.posts == 3 && there.posts == 3)
    #expect(await pair.here.counts()?.posted == 2)
    #expect(await pair.there.counts()?.posted == 1)
  }

  @Test func aStateArrivesBeforeThePost() async throws {
    let pair = try await Pair()
    let name: NotificationName = "com.example.level"
    let (here, there) = try (pair.here.observe(name), pair.there.observe(name))
    let first = try await pair.here.notifyUtil(["-s", name.rawValue, "7", "-p", name.rawValue])
    #expect(first.status == 0)
    await there.wait(for: 1)
    #expect(
      try await pair.there.notifyUtil(["-g", name.rawValue]).output == "com.example.level 7\n")
    _ = try await pair.there.notifyUtil(["-s", name.rawValue, "8", "-p", name.rawValue])
    await here.wait(for: 2)
    #expect(
      try await pair.here.notifyUtil(["-g", name.rawValue]).output == "com.example.level 8\n")
    // A post by somebody who has not set the state leaves it alone.
    try pair.here.center.post(name)
    await there.wait(for: 3)
    #expect(
      try await pair.there.notifyUtil(["-g", name.rawValue]).output == "com.example.level 8\n")
  }

  @Test func aStateReplacesOneThatWasSetByAClockThatIsAhead() async throws {
    let pair = try await Pair()
    let name: NotificationName = "com.example.level"
    let (here, there) = try (pair.here.observe(name), pair.there.observe(name))
    let ahead = Int64(Date().timeIntervalSince1970 + 3600) * 1_000_000_000
    try await pair.broker.publish("p/00000000000000aa", "1 1 online 1 :1.0")
    try await pair.broker.publish("n/\(name)/00000000000000aa", "1 2 1 0 7 \(ahead)")
    for heard in [here, there] { await heard.wait(for: 1) }
    _ = try await pair.here.notifyUtil(["-s", name.rawValue, "8", "-p", name.rawValue])
    await there.wait(for: 2)
    #expect(try await pair.there.state(of: name) == 8)
  }

  @Test func theCommandSaysHowTheRelayIsDoing() async throws {
    let pair = try await Pair()
    let heard = try pair.there.observe("com.example.light")
    try pair.here.center.post("com.example.light")
    await heard.wait(for: 1)
    let origin = try #require(await pair.there.status()?.origin)
    let text = try await pair.here.run(["--status"])
    #expect(text.status == 0 && text.errors.isEmpty)
    #expect(text.output.contains("realm home at 127.0.0.1:"), "\(text.output)")
    #expect(text.output.contains("  peer \(origin): online, last seen "), "\(text.output)")
    let json = try await pair.there.run(["--status", "--json"])
    let status = try JSONDecoder().decode(SeenStatus.self, from: Data(json.output.utf8))
    #expect(json.status == 0 && status.origin == origin)
    #expect(status.realms.map(\.state) == ["online"] && status.realms.first?.counts.posted == 1)
  }

  @Test(OpenMetrics.isNeeded) func theStatusIsPrintedAsMetrics() async throws {
    let pair = try await Pair()
    let heard = try pair.there.observe("com.example.light")
    try pair.here.center.post("com.example.light")
    await heard.wait(for: 1)
    let status = try #require(await pair.there.status())
    let samples = try await OpenMetrics.samples(of: try await pair.there.run(["--metrics"]))
    let values = Dictionary(
      samples.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    #expect(values["darwin_notify_relay_online"] == 1, "\(samples)")
    #expect(values["darwin_notify_relay_posted_total"] == 1)
    #expect(values["darwin_notify_relay_peer_online"] == 1)
    let origin = try #require(await pair.here.status()?.origin)
    #expect(samples.contains { $0.labels == ["realm": "home", "peer": origin] })
    let relay = samples.first { $0.name == "darwin_notify_relay_info" }
    #expect(relay?.labels["origin"] == status.origin)
    #expect(try await Session().run(["--metrics"]).status == 2)
  }

  @Test func onlySharedNamesLeaveAndEnter() async throws {
    let pair = try await Pair()
    let names: [NotificationName] = ["com.other.a", "wormhole.com.example", "com.example.fence"]
    let heard = try names.map { try pair.there.observe($0) }
    for name in names { try pair.here.center.post(name) }
    await heard[2].wait(for: 1)
    // A stranger publishes what is not shared.
    for name in ["com.other.a", "self.a", "user.uid.0.a", "com.apple.system.a", "wormhole.a"] {
      try await pair.broker.publish("n/\(name)/00000000000000aa", "1 1 5 0 0 0")
    }
    try await pair.broker.publish("n/com.example.fence/00000000000000aa", "1 1 1 0 0 0")
    await eventually { await pair.there.counts()?.notShared == 5 }
    #expect(heard.map(\.posts) == [0, 0, 1])
  }

  @Test func aPostFromOneRealmGoesToNoOther() async throws {
    let broker = try TestBroker()
    let (left, middle, right) = (try Session(), try Session(), try Session())
    try await broker.start()
    let work = ["--realm", "work", "--broker", broker.url, "--share", "com.example."]
    try await left.start(broker.realm())
    try await middle.start(broker.realm() + work)
    try await right.start(work)
    await eventually("they do not meet") {
      await middle.status()?.realms.allSatisfy { $0.peers.first?.state == "online" } == true
    }
    let names: [NotificationName] = ["com.example.light", "com.example.fence"]
    let (between, beyond) = try (
      names.map { try middle.observe($0) }, names.map { try right.observe($0) }
    )
    try left.center.post(names[0])
    await between[0].wait(for: 1)
    // What is posted in the middle goes to both.
    try middle.center.post(names[1])
    await beyond[1].wait(for: 1)
    #expect(beyond[0].posts == 0)
  }

  @Test func aUserHasOneRelay() async throws {
    let broker = try TestBroker()
    let session = try Session()
    try await broker.start()
    try await session.start(broker.realm())
    let second = try await session.run(broker.realm())
    #expect(second.status == 3)
    #expect(second.errors.contains("a relay of this user is already running"), "\(second)")
  }

  @Test func theFirstContactSetsTheBaseline() async throws {
    let pair = try await Pair()
    let there = try pair.there.observe("com.example.old")
    try pair.here.center.post("com.example.old")
    await there.wait(for: 1)
    let third = try Session()
    let heard = try (third.observe("com.example.old"), third.observe("com.example.new"))
    try await third.start(pair.realm())
    try pair.here.center.post("com.example.new")
    await heard.1.wait(for: 1)
    #expect(heard.0.posts == 0)
    try pair.here.center.post("com.example.old")
    await heard.0.wait(for: 1)
  }

  /// The broker has lost what it kept, so all of it is published again.
  @Test func theFirstContactSetsTheBaselineThoughTheOriginComesLater() async throws {
    let (broker, here, there) = (try TestBroker(), try Session(), try Session())
    try await broker.start()
    try await here.start(broker.realm())
    try here.center.post("com.example.old")
    await eventually { await here.counts()?.sent == 1 }
    let relay = try await here.stopRelay()
    await broker.stop()
    try await broker.start()
    try await there.start(broker.realm())
    let heard = try (there.observe("com.example.old"), there.observe("com.example.new"))
    relay.send(SIGCONT)
    await eventually { await there.status()?.realms.first?.peers.first?.state == "online" }
    try here.center.post("com.example.new")
    await heard.1.wait(for: 1)
    #expect(heard.0.posts == 0)
  }

  @Test func postsMadeMeanwhileAreHeardAsOne() async throws {
    let broker = try TestBroker()
    let there = try Session()
    try await broker.start()
    try await there.start(broker.realm())
    let heard = try there.observe("com.example.light")
    func publish(_ count: Int) async throws {
      let payload = "1 \(count + 1) \(count) 0 0 0"
      try await broker.publish("n/com.example.light/00000000000000aa", payload)
    }
    try await broker.publish("p/00000000000000aa", "1 1 online 1 :1.0")
    try await publish(1)
    await heard.wait(for: 1)
    await there.end()
    // The broker keeps each of them for the session, and sends 20 before it waits for the first to
    // be acknowledged.
    for count in 2...25 { try await publish(count) }
    try await there.start(broker.realm())
    await heard.wait(for: 2)
    // Restarting it once more repeats nothing.
    await there.end()
    try await there.start(broker.realm())
    try await publish(26)
    await heard.wait(for: 3)
    #expect(heard.posts == 3)
  }

  @Test func aRelayThatWasKilledSendsWhatItHasNotSeen() async throws {
    let pair = try await Pair()
    let (there, here) = try (
      pair.there.observe("com.example.light"), pair.here.observe("com.example.light")
    )
    try pair.here.center.post("com.example.light")
    await there.wait(for: 1)
    await pair.here.end(SIGKILL)
    try pair.here.center.post("com.example.light")
    await here.wait(for: 2)
    try await pair.here.start(pair.realm())
    await there.wait(for: 2)
  }

  @Test func oneDirectionIsEnough() async throws {
    let pair = try await Pair()
    await pair.here.end()
    await pair.there.end()
    try await pair.here.start(pair.realm() + ["--send-only"])
    try await pair.there.start(pair.realm() + ["--receive-only"])
    await pair.meet()
    let (here, there) = try (
      pair.here.observe("com.example.a"), pair.there.observe("com.example.a")
    )
    try pair.there.center.post("com.example.a")
    await there.wait(for: 1)
    try pair.here.center.post("com.example.a")
    await there.wait(for: 2)
    #expect(here.posts == 1)
    #expect(await pair.there.counts()?.sent == 0)
  }

  @Test func aRelayThatOnlySendsMissesNothing() async throws {
    let (broker, session) = (try TestBroker(), try Session())
    try await broker.start()
    try await session.start(broker.realm() + ["--send-only"])
    // It does not get what an origin publishes between its presences.
    for (serial, state) in [(1, "online"), (9, "online"), (10, "offline")] {
      try await broker.publish("p/00000000000000aa", "1 \(serial) \(state) 1 :1.0")
    }
    await eventually { await session.status()?.realms.first?.peers.first?.state == "offline" }
    #expect(await session.counts()?.gaps == 0)
  }
}
