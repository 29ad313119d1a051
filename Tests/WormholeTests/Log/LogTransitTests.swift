// Specifies logs of messages.
import Wormhole

@Suite(.bounded)
struct LogTransitTests {
  private let group: TemporaryGroup

  init() throws { group = try TemporaryGroup() }

  private func open(
    _ transit: LogTransit = .log, name: String = "name"
  ) throws -> any Wormhole.Mailbox {
    try transit.openMailbox(for: name, in: group.group.directory)
  }

  private func message(_ text: String, date: Date = Date()) -> Wormhole.Record {
    let data = Data(text.utf8)
    return Wormhole.Record(
      .value(Wormhole.Payload(codec: "raw", type: "String", version: 1, data: data)), date: date)
  }

  @Test func largeRecordsAreReadInSeveralBatches() throws {
    let mailbox = try open()
    let large = message(String(repeating: "x", count: 3 << 20))
    for _ in 1...3 { _ = try mailbox.append(large) }
    let first = try mailbox.records(after: 0, limit: 10)
    #expect(first.records.map(\.number) == [1, 2] && first.hasMore)
    let rest = try mailbox.records(after: 2, limit: 10)
    #expect(rest.records.map(\.number) == [3] && !rest.hasMore)
  }

  @Test func onlyTheLastRecordsAreKept() throws {
    let mailbox = try open(.log(count: 3))
    _ = try mailbox.append(message("kept"))
    for _ in 2...10 { _ = try mailbox.append(Wormhole.Record(.ping)) }
    #expect(try mailbox.records(after: 0, limit: 100).records.map(\.number) == [1, 8, 9, 10])
    #expect(try mailbox.lastMessage()?.text == "kept")
    _ = try mailbox.append(message("new"))
    #expect(try mailbox.records(after: 0, limit: 100).records.map(\.number) == [9, 10, 11])
  }

  @Test func aSixteenthMoreIsKeptAtMost() throws {
    let mailbox = try open(.log(count: 160))
    for _ in 1...1000 { _ = try mailbox.append(message("x")) }
    let count = try mailbox.records(after: 0, limit: 1000).records.count
    #expect((160...170).contains(count))
  }

  @Test(arguments: [nil, 3600] as [TimeInterval?])
  func oldRecordsAreRemoved(clockAhead: TimeInterval?) throws {
    if let clockAhead {
      _ = try open().append(message("future", date: Date() + clockAhead))
    }
    for _ in 1...3 { _ = try open().append(message("old", date: Date() - 7200)) }
    let mailbox = try open(.log(age: .seconds(3600)))
    _ = try mailbox.append(message("new"))
    _ = try mailbox.append(message("newer"))
    #expect(try mailbox.records(after: 0, limit: 10).records.map(\.text) == ["new", "newer"])
  }

  @Test func manyOldRecordsAreRemovedAtOnce() throws {
    let record = message("old", date: Date() - 7200)
    let old = try open()
    for _ in 1...3000 { _ = try old.append(record) }
    _ = try open(.log(age: .seconds(3600))).append(message("new"))
    #expect(try old.records(after: 0, limit: 10).records.map(\.text) == ["new"])
  }

  @Test(
    arguments: [
      .seconds(9_223_372_036) + .milliseconds(900), .milliseconds(-500), .seconds(Int64.min),
      .seconds(Int64.max),
    ] as [Duration])
  func anyAgeIsPossible(age: Duration) throws {
    let mailbox = try open(.log(age: age))
    for number in 1...3 { #expect(try mailbox.append(message("\(number)")) == number) }
    #expect(try mailbox.lastMessage()?.text == "3")
  }

  @Test func aForkedChildCannotUseALog() async throws {
    await (try group.peer("log-fork", "name")).waitForSuccess()
    #expect(try open().records(after: 0, limit: 10).records.map(\.text) == ["parent"])
  }

  // MARK: - What others have written

  @Test func aDatabaseOfAnotherKindIsForeign() throws {
    _ = try group.group.database("name.log")
    let path = "\(group.path)/name.log"
    #expect(throws: WormholeError.foreign(path: path)) { try open().append(message("x")) }
  }

  @Test(arguments: [
    "kind = 9", "kind = 'x'", "pid = 99999999999", "uid = -1", "time = 'x'", "codec = x'00'",
    "type = NULL", "version = -1", "payload = 'text'",
  ])
  func aDamagedRecordConcernsItselfAlone(damage: String) throws {
    let mailbox = try open()
    for index in 1...3 { _ = try mailbox.append(message("\(index)")) }
    let path = "\(group.path)/name.log"
    try ForeignProgram.run("UPDATE records SET \(damage) WHERE number = 2", on: path)
    let records = try mailbox.records(after: 0, limit: 10).records
    #expect(records.map(\.number) == [1, 2, 3])
    #expect(records.map(\.text) == ["1", nil, "3"])
    guard case .unreadable(.damaged) = records[1].record.content else {
      Issue.record("\(records[1])")
      return
    }
  }
}

extension Wormhole.NumberedRecord {
  /// The text of a message.
  fileprivate var text: String? {
    guard case .value(let payload) = record.content else { return nil }
    return String(decoding: payload.data, as: UTF8.self)
  }
}
