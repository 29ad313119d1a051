// Specifies that nothing that others publish ends a relay, or holds it up.
import DarwinNotify
import Foundation
import Testing

@Suite(.bounded, .enabled(if: TestBroker.isInstalled, "mosquitto is not installed"))
struct RelayStrangersTests {
  private let light: NotificationName = "com.example.light"
  private static let stranger = "00000000000000aa"

  @Test func serialNumbersMayBeAsGreatAsTheyCan() async throws {
    let (broker, session) = (try TestBroker(), try Session())
    try await broker.start()
    try await session.start(broker.realm())
    let heard = try session.observe(light)
    try await broker.publish("p/\(Self.stranger)", "1 1 online 1 :1.0")
    for (count, serial) in [(1, UInt64.max), (2, 1)] {
      try await broker.publish("n/\(light)/\(Self.stranger)", "1 \(serial) \(count) 0 0 0")
      await heard.wait(for: count)
    }
  }

  @Test func aRelayDoesNotGoOnFromAnImpossibleCount() async throws {
    let (broker, session) = (try TestBroker(), try Session())
    let origin = try await session.run(["--origin"]).output.dropLast()
    try await broker.start()
    try await broker.publish("n/\(light)/\(origin)", "1 1 \(UInt64.max) 0 0 0", isRetained: true)
    try await session.start(broker.realm())
    #expect(try #require(await session.counts()).malformed > 0)
    try session.center.post(light)
    await eventually { await session.counts()?.sent == 1 }
  }

  /// They are equal for Swift, but not for the table of states.
  @Test func aRelayStartsAfterTwoSpellingsOfOneName() async throws {
    let (broker, session) = (try TestBroker(), try Session())
    try await broker.start()
    let realm = ["--realm", "home", "--broker", broker.url]
    for (name, topic) in [("\u{E9}", "%C3%A9"), ("e\u{301}", "e%CC%81")] {
      try await session.start(realm + ["--share", name])
      try await broker.publish("p/\(Self.stranger)", "1 1 online 1 :1.0")
      try await broker.publish("n/\(topic)/\(Self.stranger)", "1 2 1 0 7 1")
      await eventually { await session.counts()?.posted == 1 }
      await session.end()
    }
    try await session.start(realm + ["--share", "\u{E9}"])
  }

  /// Each name of another machine takes memory and a place in the table.
  @Test func namesOfAStrangerLeaveRoomForOurs() async throws {
    let (broker, session) = (try TestBroker(), try Session())
    try await broker.start()
    try await session.start(broker.realm())
    let stranger = try Stranger(broker)
    try stranger.write(publication("p/\(Self.stranger)", "1 1 online 1 :1.0"))
    for number in 2...17_000 {
      try stranger.write(
        publication("n/com.example.n\(number)/\(Self.stranger)", "1 \(number) 1 0 0 0"))
    }
    await eventually { await (session.counts()?.received ?? 0) >= 17_000 }
    #expect(await session.status()?.realms.first?.problem?.contains("8192") == true)
    try session.center.post(light)
    await eventually("our name is not shared") { await session.counts()?.sent == 1 }
  }

  @Test func theStatusShowsManyMachines() async throws {
    let (broker, session) = (try TestBroker(), try Session())
    try await broker.start()
    try await session.start(broker.realm())
    let stranger = try Stranger(broker)
    for number in 10_001...15_000 {
      try stranger.write(publication("p/00000000000\(number)", "1 1 online 1 :1.0"))
    }
    await eventually { await (session.counts()?.received ?? 0) >= 5_000 }
    let status = try await session.run(["--status"])
    #expect(status.status == 0)
    #expect(status.output.split(separator: "\n").filter { $0.contains("  peer ") }.count == 4096)
    #expect(status.output.contains("problem: new machines are not heard"))
  }
}
