// Specifies how messages get from one machine to another.
import DarwinNotify
import Foundation
import Glibc
import Testing
import Wormhole

extension MessageName where Value == Int {
  fileprivate static var level: Self { "org.example.level" }
  fileprivate static var steps: Self { MessageName("org.example.steps", keep: .last(10_000)) }
}

@Suite(.bounded, .enabled(if: TestBroker.isInstalled, "mosquitto is not installed"))
struct RelayGroupsTests {
  @Test(arguments: [BusKind.usual, .none])
  func aValueArrives(on kind: BusKind) async throws {
    let pair = try await Pair(kind)
    let (here, there) = try (pair.here.hole(), pair.there.hole())
    try await here.pass(1, to: .level)
    await eventually { (try? await there.message(.level)) == 1 }
    try await there.pass(2, to: .level)
    await eventually { (try? await here.message(.level)) == 2 }
    try await here.clear(.level)
    await eventually { (try? await there.message(.level)) == .some(nil) }
    #expect(try await here.message(.level) == nil)
  }

  @Test func aClearingIsNotUndoneByAnEarlierValue() async throws {
    let broker = try TestBroker()
    let here = try Session()
    try await broker.start()
    try await here.start(broker.realm())
    let hole = try here.hole()
    try await hole.pass(1, to: .level)
    let time = Int64(Date().timeIntervalSince1970 * 1e9)
    try await hole.clear(.level)
    try await broker.publish(
      "r/org.example.lights/org.example.level/00000000000000aa",
      "1 1 7 1 0 1 \(time) 1 - value 1 :json :Int\n2")
    await eventually("\(here.relay?.errors ?? "")") { await here.counts()?.superseded == 1 }
    #expect(try await hole.message(.level) == nil)
  }

  @Test func aMessageKeepsItsTimeAndTypeAndNamesItsOrigin() async throws {
    let pair = try await Pair()
    let name = MessageName<[String]>("org.example.list", codec: .propertyList, version: 3)
    let (here, there) = try (pair.here.hole(), pair.there.hole())
    let seen = Log<Wormhole.Message<[String]>>()
    let observation = try there.listen(name, starting: .new, on: .thread) { seen.append($0) }
    try await here.pass(["a", "b"], to: name)
    await eventually { seen.entries.count == 1 }
    let sent = try #require(await here.history(name).first)
    let origin = try #require(await pair.here.status()?.origin)
    #expect(seen.entries.first?.value == ["a", "b"])
    #expect(seen.entries.first?.date == sent.date)
    #expect(seen.entries.first?.sender.machine == origin)
    observation.cancel()
  }

  @Test func theLaterValueWinsEverywhere() async throws {
    let pair = try await Pair()
    let (here, there) = try (pair.here.hole(), pair.there.hole())
    try await here.pass(1, to: .level)
    await eventually { (try? await there.message(.level)) == 1 }
    await pair.broker.stop()
    try await here.pass(2, to: .level)
    try await there.pass(3, to: .level)
    try await pair.broker.start()
    await eventually { (try? await here.message(.level)) == 3 }
    await pair.meet()
    #expect(try await there.message(.level) == 3)
  }

  @Test func aValueReplacesTheOneBeforeThoughItsClockIsBehind() async throws {
    let pair = try await Pair()
    let (here, there) = try (pair.here.hole(), pair.there.hole())
    let future = Int64(Date().timeIntervalSince1970 * 1e9) + 3_600_000_000_000
    try await pair.broker.publish(
      "r/org.example.lights/org.example.level/00000000000000aa",
      "1 1 7 1 0 1 \(future) 1 - value 1 :json :Int\n1", isRetained: true)
    for hole in [here, there] { await eventually { (try? await hole.message(.level)) == 1 } }
    for value in 2...4 {
      let (from, to) = value.isMultiple(of: 2) ? (here, there) : (there, here)
      try await from.pass(value, to: .level)
      await eventually { (try? await to.message(.level)) == value }
    }
  }

  /// Each passes as soon as it has what the other one has passed.
  @Test func writersThatWaitForEachOtherAgree() async throws {
    let pair = try await Pair()
    let names = (1...10).map { MessageName<Int>("org.example.turn\($0)") }
    let holes = try (pair.here.hole(), pair.there.hole())
    for name in names {
      try await holes.0.pass(0, to: name)
      await eventually { (try? await holes.1.message(name)) == 0 }
      async let first = holes.0.pass(1, to: name)
      async let second = holes.1.pass(2, to: name)
      _ = try await (first, second)
    }
    for name in names {
      await eventually("\(name)") {
        let values = (try? await holes.0.message(name), try? await holes.1.message(name))
        return values.0 != nil && values.0 == values.1
      }
    }
  }

  @Test func aGroupThatWasRemovedAndMadeAgainIsFound() async throws {
    let pair = try await Pair()
    let there = try pair.there.hole()
    for name in [MessageName.level, .steps] {
      for value in 1...2 { try await pair.here.hole().pass(value, to: name) }
    }
    await eventually { (try? await there.history(.steps).compactMap(\.value)) == [1, 2] }
    let group = try AppGroup("org.example.lights", in: pair.here.groups).directory
    try FileManager.default.removeItem(at: group)
    for name in [MessageName.level, .steps] { try await pair.here.hole().pass(3, to: name) }
    await eventually { (try? await there.history(.steps).compactMap(\.value)) == [1, 2, 3] }
    await eventually { (try? await there.message(.level)) == 3 }
    try await there.pass(4, to: .steps)
    let here = try pair.here.hole()
    await eventually { (try? await here.history(.steps).compactMap(\.value)) == [3, 4] }
  }

  @Test func ofTwoValuesOfOneTimeThatOfTheLargerOriginWins() async throws {
    let broker = try TestBroker()
    let here = try Session()
    try await broker.start()
    try await here.start(broker.realm())
    let hole = try here.hole()
    for (origin, value) in [("aa", 1), ("cc", 3), ("bb", 2)] {
      try await broker.publish(
        "r/org.example.lights/org.example.level/00000000000000\(origin)",
        "1 1 7 1 0 1 1000000000 1 - value 1 :json :Int\n\(value)")
    }
    // A group that is not shared does not enter.
    try await broker.publish(
      "r/org.example.other/org.example.level/00000000000000aa",
      "1 2 7 1 0 1 1000000000 1 - value 1 :json :Int\n4")
    await eventually { await here.counts()?.notShared == 1 }
    #expect(await here.counts()?.superseded == 1)
    #expect(try await hole.message(.level) == 3)
    #expect(try await here.hole("org.example.other").message(.level) == nil)
  }

  @Test(arguments: [BusKind.usual, .none])
  func recordsArriveOnceInOrder(on kind: BusKind) async throws {
    let pair = try await Pair(kind)
    let (here, there) = try (pair.here.hole(), pair.there.hole())
    for step in 1...200 { try await here.pass(step, to: .steps) }
    await eventually { (try? await there.history(.steps).count) == 200 }
    #expect(try await there.history(.steps).compactMap(\.value) == Array(1...200))
    try await there.pass(0, to: .steps)
    await eventually { (try? await here.history(.steps).count) == 201 }
    #expect(try await there.history(.steps).count == 201)
  }

  @Test(arguments: [true, false])
  func noRecordIsLostWithTheBroker(keepingData keeps: Bool) async throws {
    let pair = try await Pair(keeps: keeps)
    let (here, there) = try (pair.here.hole(), pair.there.hole())
    try await here.pass(1, to: .steps)
    await eventually { (try? await there.history(.steps).count) == 1 }
    await pair.there.end(SIGKILL)
    try await here.pass(2, to: .steps)
    await eventually { await pair.here.counts()?.sent ?? 0 >= 2 }
    await pair.broker.stop()
    try await here.pass(3, to: .steps)
    try await pair.broker.start()
    try await pair.there.start(pair.realm())
    await eventually { (try? await there.history(.steps).count) == 3 }
    #expect(try await there.history(.steps).compactMap(\.value) == [1, 2, 3])
  }

  @Test func ofWhatWasPassedBeforeOnlyTheNewestMessageTravels() async throws {
    let broker = try TestBroker()
    let (here, there) = (try Session(), try Session())
    let hole = try here.hole()
    for step in 1...2 { try await hole.pass(step, to: .steps) }
    try await broker.start()
    for session in [here, there] { try await session.start(broker.realm()) }
    try await hole.pass(3, to: .steps)
    let other = try there.hole()
    await eventually { (try? await other.history(.steps).compactMap(\.value)) == [2, 3] }
  }

  /// For whom one record of a log is too large.
  enum Limit: CaseIterable {
    case ofTheBroker
    case ofTheReceiver
  }

  @Test(arguments: Limit.allCases)
  func aRecordThatIsTooLargeHoldsBackNoOther(_ limit: Limit) async throws {
    let isOfBroker = limit == .ofTheBroker
    let broker = try TestBroker(
      "allow_anonymous true" + (isOfBroker ? "\nmessage_size_limit 2000" : ""))
    let pair = try await Pair(on: broker)
    if !isOfBroker {
      await pair.there.end()
      try await pair.there.start(broker.realm(Pair.settings + ["--max-payload", "2000"]))
      await pair.meet()
    }
    let (here, there) = try (pair.here.hole(), pair.there.hole())
    let name = MessageName<String>("org.example.texts", keep: .last(100))
    let texts = ["a", String(repeating: "x", count: 3000), "b"]
    for text in texts { try await here.pass(text, to: name) }
    await eventually { (try? await there.history(name).last?.value) == "b" }
    #expect(try await there.history(name).compactMap(\.value) == ["a", "b"])
    let counts = await (isOfBroker ? pair.here : pair.there).counts()
    #expect((isOfBroker ? counts?.refused : counts?.tooLarge) == 1)
    // The other machine asks once at most.
    try await here.pass("c", to: name)
    await eventually { (try? await there.history(name).last?.value) == "c" }
    #expect(try #require(await pair.here.counts()?.sent) <= 5)
  }

  /// Both machines know each other before they share the group.
  @Test(arguments: [true, false])
  func anAcquaintanceGetsTheNewestMessageAndAllLaterOnes(sharingFirst isHereFirst: Bool)
    async throws
  {
    let pair = try await Pair(settings: ["--share", "com.example."])
    let (here, there) = try (pair.here.hole(), pair.there.hole())
    for step in 0...1 { try await here.pass(step, to: .steps) }
    for session in isHereFirst ? [pair.here, pair.there] : [pair.there, pair.here] {
      await session.end()
      try await session.start(pair.realm())
      await pair.meet()
    }
    for step in 2...3 {
      try await here.pass(step, to: .steps)
      await eventually { (try? await there.history(.steps).last?.value) == step }
      #expect(try await there.history(.steps).compactMap(\.value) == Array(1...step))
    }
  }

  @Test func malformedAndTooLargeMessagesAreCountedAndIgnored() async throws {
    let pair = try await Pair(settings: Pair.settings + ["--max-payload", "2000"])
    let payloads = ["", "1", "1 1 x 0 0 0", "1 1 -1 0 0 0", "0 1 1 0 0 0", "\u{1}"]
    for payload in payloads {
      try await pair.broker.publish("n/com.example.a/00000000000000aa", payload)
    }
    for topic in [
      "n/com.example.%61/00000000000000aa", "n/com.example.a/1", "q/a/00000000000000aa",
    ] {
      try await pair.broker.publish(topic, "1 1 1 0 0 0")
    }
    try await pair.broker.publish("n/com.example.a/00000000000000aa", "2 1 1 0 0 0")
    let large = String(repeating: "x", count: 3000)
    try await pair.broker.publish("n/com.example.a/00000000000000aa", "1 1 1 0 0 0 \(large)")
    await eventually {
      let counts = await pair.there.counts()
      return counts?.malformed == payloads.count + 3 && counts?.newer == 1 && counts?.tooLarge == 1
    }
    try await pair.here.hole().pass(1, to: "org.example.fence")
    let there = try pair.there.hole()
    await eventually { (try? await there.message(MessageName<Int>("org.example.fence"))) == 1 }
  }
}
