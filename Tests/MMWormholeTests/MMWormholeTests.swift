// Specifies what listeners of MMWormhole hear.
import MMWormhole
import Wormhole

@Suite(.bounded)
struct MMWormholeTests {
  private let temporary: TemporaryGroup
  private let wormhole: MMWormhole

  init() throws {
    temporary = try TemporaryGroup()
    wormhole = MMWormhole(group: temporary.group, optionalDirectory: "wormhole")
  }

  private var store: MessageStore { temporary.group.store(named: "wormhole") }

  /// Listens with a listener that records the messages.
  private func hear(_ identifier: String, in wormhole: MMWormhole? = nil) -> Log<String> {
    let log = Log<String>()
    (wormhole ?? self.wormhole).listenForMessage(withIdentifier: identifier) { message in
      dispatchPrecondition(condition: .onQueue(.main))
      log.append(message.map { "\($0)" } ?? "nil")
    }
    return log
  }

  /// Returns when everything passed before has been heard.
  private func settle() async {
    let fence = hear("fence")
    // The records of a name are read in turn with those of all others.
    for number in 1...2 {
      wormhole.passMessageObject(number as NSNumber, identifier: "fence")
      await eventually { fence.entries.last == "\(number)" }
    }
    wormhole.stopListeningForMessage(withIdentifier: "fence")
  }

  @Test func aListenerHearsNewMessagesOnTheMainQueue() async throws {
    wormhole.passMessageObject("old" as NSString, identifier: "text")
    let log = hear("text")
    wormhole.passMessageObject("new" as NSString, identifier: "text")
    await eventually("\(log.entries)") { log.entries == ["new"] }
    wormhole.passMessageObject(["a": 1] as NSDictionary, identifier: "other")
    wormhole.passMessageObject(NSNumber(value: 2.5), identifier: "text")
    await eventually("\(log.entries)") { log.entries == ["new", "2.5"] }
  }

  @Test func aMessageOfNilBringsTheStoredOne() async throws {
    let log = hear("text")
    wormhole.passMessageObject(nil, identifier: "text")
    await eventually { log.entries == ["nil"] }
    wormhole.passMessageObject("stored" as NSString, identifier: "text")
    await eventually { log.entries == ["nil", "stored"] }
    wormhole.passMessageObject(nil, identifier: "text")
    await eventually { log.entries == ["nil", "stored", "stored"] }
  }

  @Test func aClearedMessageIsGoneAndNobodyHearsThat() async throws {
    let log = hear("text")
    wormhole.passMessageObject("1" as NSString, identifier: "text")
    await eventually { log.entries == ["1"] }
    wormhole.clearMessageContents(forIdentifier: "text")
    #expect(wormhole.message(withIdentifier: "text") == nil)
    await settle()
    wormhole.passMessageObject(nil, identifier: "text")
    await eventually("\(log.entries)") { log.entries == ["1", "nil"] }
  }

  @Test func aListenerMayClearWhatItHears() async throws {
    let log = Log<String>()
    wormhole.listenForMessage(withIdentifier: "command") { [wormhole] message in
      // First, so that it does not remove the next command.
      wormhole.clearMessageContents(forIdentifier: "command")
      log.append("\(message ?? "nil")")
    }
    for command in ["start", "stop"] {
      wormhole.passMessageObject(command as NSString, identifier: "command")
      await eventually { log.entries.last == command }
    }
    await settle()
    #expect(log.entries == ["start", "stop"])
    #expect(wormhole.message(withIdentifier: "command") == nil)
  }

  @Test func theNewestListenerOfAnIdentifierReplacesTheOthers() async throws {
    let old = hear("text")
    let new = hear("text")
    wormhole.passMessageObject("x" as NSString, identifier: "text")
    await eventually { new.entries == ["x"] }
    wormhole.listenForMessage(withIdentifier: "text", listener: nil)
    wormhole.passMessageObject("y" as NSString, identifier: "text")
    await settle()
    #expect(old.entries.isEmpty)
    #expect(new.entries == ["x"])
  }

  @Test func aListenerThatFailedDoesNotStandInTheWayOfTheNext() async throws {
    try Data(repeating: 65, count: 5000).write(to: URL(fileURLWithPath: store.path))
    let failed = hear("text")
    try FileManager.default.removeItem(atPath: store.path)
    let log = hear("text")
    wormhole.passMessageObject("x" as NSString, identifier: "text")
    await eventually { log.entries == ["x"] }
    #expect(failed.entries.isEmpty)
  }

  @MainActor @Test func aStoppedListenerIsNotCalled() async throws {
    let log = hear("text")
    wormhole.passMessageObject("x" as NSString, identifier: "text")
    wormhole.stopListeningForMessage(withIdentifier: "text")
    await settle()
    #expect(log.entries.isEmpty)
    let again = hear("text")
    wormhole.passMessageObject("y" as NSString, identifier: "text")
    await eventually { again.entries == ["y"] }
  }

  @Test func listenersEndWithTheirWormholeAndReleaseWhatTheyCapture() async throws {
    var other: MMWormhole? = MMWormhole(
      group: temporary.group, optionalDirectory: "wormhole")
    let log = hear("text", in: other)
    let both = hear("text")
    wormhole.passMessageObject("x" as NSString, identifier: "text")
    await eventually { log.entries == ["x"] && both.entries == ["x"] }
    let census = Census()
    do {
      let canary = census.makeCanary()
      other?.listenForMessage(withIdentifier: "more") { _ in canary.sing() }
    }
    other = nil
    #expect(census.deaths == 1)
    wormhole.passMessageObject("y" as NSString, identifier: "text")
    await eventually { both.entries == ["x", "y"] }
    await settle()
    #expect(log.entries == ["x"])
  }

  @Test func everyListenerOfAProcessHearsTheNewestMessageInTheEnd() async throws {
    let log = hear("number")
    for number in 1...200 {
      wormhole.passMessageObject(number as NSNumber, identifier: "number")
    }
    await eventually { log.entries.last == "200" }
    let numbers = log.entries.compactMap { Int($0) }
    #expect(numbers == numbers.sorted())
    #expect(Set(numbers).count == numbers.count)
  }

  @Test func allMessagesOfADirectoryAreCleared() throws {
    let plain = MMWormhole(group: temporary.group, optionalDirectory: nil)
    let other = MMWormhole(group: temporary.group, optionalDirectory: "a/../b")
    for wormhole in [wormhole, other] {
      wormhole.passMessageObject("x" as NSString, identifier: "../one")
      wormhole.passMessageObject("y" as NSString, identifier: "two")
    }
    #expect(plain.message(withIdentifier: "two") as? String == "y")
    plain.clearAllMessageContents()
    #expect(wormhole.message(withIdentifier: "../one") as? String == "x")
    wormhole.clearAllMessageContents()
    #expect(wormhole.message(withIdentifier: "../one") == nil)
    #expect(wormhole.message(withIdentifier: "two") == nil)
    #expect(other.message(withIdentifier: "two") as? String == "y")
  }

  // MARK: - The module Wormhole

  @Test func theModuleWormholeReadsWhatIsPassed() async throws {
    let hole = try Wormhole(group: temporary.group)
    wormhole.passMessageObject(["a": 1, "b": 2] as NSDictionary, identifier: "table")
    #expect(try await hole.message(MessageName<[String: Int]>("table")) == ["a": 1, "b": 2])
    wormhole.passMessageObject(NSNumber(value: true), identifier: "flag")
    #expect(try await hole.message(MessageName<Bool>("flag")) == true)
    wormhole.passMessageObject(Data([1, 2]) as NSData, identifier: "bytes")
    #expect(try await hole.message(MessageName<Data>("bytes")) == Data([1, 2]))
    let date = Date(timeIntervalSinceReferenceDate: 0.125)
    wormhole.passMessageObject(["at": date] as NSDictionary, identifier: "dates")
    let dates = MessageName<[String: Date]>("dates", codec: .propertyList)
    #expect(try await hole.message(dates) == ["at": date])
  }

  @Test func aListenerHearsTheModuleWormhole() async throws {
    let hole = try Wormhole(group: temporary.group)
    let log = hear("number")
    try await hole.pass(7, to: MessageName<Int>("number", keep: .last(5)))
    try await hole.clear(MessageName<Int>("number"))
    try await hole.pass(8, to: MessageName<Int>("number", codec: .propertyList))
    await eventually("\(log.entries)") { log.entries.last == "8" }
    #expect(wormhole.message(withIdentifier: "number") as? Int == 8)
    try await hole.ping(MessageName<Int>("number"))
    await eventually("\(log.entries)") { Array(log.entries.suffix(2)) == ["8", "8"] }
  }
}
