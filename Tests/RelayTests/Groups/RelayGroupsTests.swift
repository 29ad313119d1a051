// Specifies how messages get from one machine to another.
import DarwinNotify
import Foundation
import Glibc
import Testing
import Wormhole

extension MessageName where Value == Int {
  fileprivate static var level: Self { "org.example.level" }
  fileprivate static var steps: Self { MessageName("org.example.steps", transit: .log) }
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

  /// Another machine passes a value; it arrives while a program here clears a newer one.
  @Test func aClearingIsNotUndoneByAnEarlierValue() async throws {
    let broker = try TestBroker()
    let here = try Session()
    try await broker.start()
    try await here.start(broker.realm())
    let hole = try here.hole()
    let name = MessageName<Int>("org.example.level", transit: .coordinatedFile)
    try await hole.pass(1, to: name)
    await eventually { await here.counts()?.sent ?? 0 >= 1 }
    let time = Int64(Date().timeIntervalSince1970 * 1e9)
    try await hole.update(name) { value in
      // The relay has to wait for us until the value is cleared.
      let payload = "1 1 1 0 \(time) 1 0 value 1 :json :Int\n2"
      let topic = "w/org.example.lights/org.example.level/00000000000000aa"
      let publisher = try broker.publisher(topic, payload)
      try here.waitUntilRelayLocks("org.example.level.mailbox")
      value = nil
      withExtendedLifetime(publisher) {}
    }
    await eventually("\(here.relay?.errors ?? "")") {
      await here.counts().map { $0.stored + $0.superseded } == 1
    }
    #expect(try await hole.message(name) == nil)
    #expect(await here.counts()?.superseded == 1)
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
    #expect(seen.entries.first?.sender.process == UInt64(origin, radix: 16))
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

  /// That machine has replaced our value, since its clock is behind.
  @Test func aValueThatAnEarlierOneHasReplacedIsPublishedAgain() async throws {
    let broker = try TestBroker()
    let here = try Session()
    try await broker.start()
    try await here.start(broker.realm())
    try await here.hole().pass(1, to: .level)
    await eventually { await (here.counts()?.sent ?? 0) > 0 }
    for time in 1...3 {
      let sent = await here.counts()?.sent ?? 0
      try await broker.publish(
        "w/org.example.lights/org.example.level/00000000000000aa",
        "1 \(time) \(time) 0 \(time)000000000 1 0 value 1 :json :Int\n2")
      await eventually { await here.counts()?.superseded == time }
      await eventually { await (here.counts()?.sent ?? 0) > sent }
    }
    #expect(try await here.hole().message(.level) == 1)
  }

  @Test func ofTwoValuesOfOneTimeThatOfTheLargerOriginWins() async throws {
    let broker = try TestBroker()
    let here = try Session()
    try await broker.start()
    try await here.start(broker.realm())
    let hole = try here.hole()
    for (origin, value) in [("aa", 1), ("cc", 3), ("bb", 2)] {
      try await broker.publish(
        "w/org.example.lights/org.example.level/00000000000000\(origin)",
        "1 1 1 0 1000000000 1 0 value 1 :json :Int\n\(value)")
    }
    // A group that is not shared does not enter.
    try await broker.publish(
      "w/org.example.other/org.example.level/00000000000000aa",
      "1 2 1 0 1000000000 1 0 value 1 :json :Int\n4")
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

  @Test func aLogHasNoHistoryOnlyForWhomItIsNew() async throws {
    let broker = try TestBroker()
    let (here, there) = (try Session(), try Session())
    let hole = try here.hole()
    try await hole.pass(1, to: .steps)
    try await broker.start()
    for session in [here, there] { try await session.start(broker.realm()) }
    try await hole.pass(2, to: .steps)
    let other = try there.hole()
    await eventually { (try? await other.history(.steps).count) == 1 }
    #expect(try await other.history(.steps).compactMap(\.value) == [2])
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
    let name = MessageName<String>("org.example.texts", transit: .log)
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

  @Test func recordsAreNotAskedForWhereTheirNameHasNoLog() async throws {
    let pair = try await Pair()
    let (here, there) = try (pair.here.hole(), pair.there.hole())
    await pair.here.end()
    try await there.pass(0, to: MessageName<Int>("org.example.steps"))
    for step in 1...3 { try await here.pass(step, to: .steps) }
    try await pair.here.start(pair.realm())
    await eventually { await pair.here.counts()?.sent ?? 0 >= 3 }
    // It arrives behind the records, and its answer behind what the other machine asks for.
    let fence = MessageName<Int>("org.example.fence")
    try await here.pass(1, to: fence)
    await eventually { (try? await there.message(fence)) == 1 }
    try await there.pass(2, to: fence)
    await eventually { (try? await here.message(fence)) == 2 }
    // Once each, and the fence at most twice: it is found and changes.
    #expect(await pair.here.counts()?.sent ?? 0 < 6)
    await eventually { pair.there.relay?.errors.contains("has no log here") == true }
  }

  /// Both machines know each other before they share the group.
  @Test(arguments: [true, false])
  func aLogHasNoHistoryForAnAcquaintance(sharingFirst isHereFirst: Bool) async throws {
    let pair = try await Pair(settings: ["--share", "com.example."])
    let (here, there) = try (pair.here.hole(), pair.there.hole())
    try await here.pass(1, to: .steps)
    for session in isHereFirst ? [pair.here, pair.there] : [pair.there, pair.here] {
      await session.end()
      try await session.start(pair.realm())
      await pair.meet()
    }
    for step in 2...3 {
      try await here.pass(step, to: .steps)
      await eventually { (try? await there.history(.steps).last?.value) == step }
      #expect(try await there.history(.steps).compactMap(\.value) == Array(2...step))
    }
  }

  @Test func aLogOfManyRecordsKeepsThemAll() async throws {
    let broker = try TestBroker()
    let (here, there) = (try Session(), try Session())
    let name = MessageName<Int>("org.example.steps", transit: .log(count: 1_000_000))
    let hole = try there.hole()
    for step in 1...2 { try await hole.pass(step, to: name) }
    // The next number is one at which a log with the usual limits removes records.
    let log = hole.directory.path + "/org.example.steps.log"
    try ForeignProgram.run("UPDATE records SET number = 101375 WHERE number = 2", on: log)
    try await broker.start()
    for session in [here, there] { try await session.start(broker.realm()) }
    try await here.hole().pass(3, to: .steps)
    await eventually { (try? await hole.history(name).last?.value) == 3 }
    #expect(try await hole.history(name).compactMap(\.value) == [1, 2, 3])
  }

  @Test func aLogThatCannotBeReadIsReadAgain() async throws {
    let pair = try await Pair()
    let (here, there) = try (pair.here.hole(), pair.there.hole())
    try await here.pass(1, to: .steps)
    await eventually { (try? await there.history(.steps).count) == 1 }
    await pair.here.end()
    try await here.pass(2, to: .steps)
    let log = here.directory.path + "/org.example.steps.log"
    try #require(rename(log, log + ".moved") == 0 && mkdir(log, 0o700) == 0)
    try await pair.here.start(pair.realm())
    await eventually { pair.here.relay?.errors.contains("lights cannot be read") == true }
    try #require(rmdir(log) == 0 && rename(log + ".moved", log) == 0)
    await eventually { (try? await there.history(.steps).compactMap(\.value)) == [1, 2] }
  }

  @Test func logsWhoseNamesDifferBehindANULAreKeptApart() async throws {
    let pair = try await Pair()
    let (here, there) = try (pair.here.hole(), pair.there.hole())
    let names = ["org.example.a", "org.example.a\0b"].map { MessageName<Int>($0, transit: .log) }
    try await here.pass(1, to: names[0])
    for step in 1...3 { try await here.pass(step, to: names[1]) }
    await eventually { (try? await there.history(names[1]).count) == 3 }
    for session in [pair.here, pair.there] {
      await session.end()
      try await session.start(pair.realm())
    }
    for name in names { try await here.pass(4, to: name) }
    await eventually { (try? await there.history(names[0]).compactMap(\.value)) == [1, 4] }
    await eventually { (try? await there.history(names[1]).compactMap(\.value)) == [1, 2, 3, 4] }
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
