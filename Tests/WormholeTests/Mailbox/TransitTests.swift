// Specifies what every transit keeps.
import Wormhole

@Suite(.bounded)
struct TransitTests {
  private let names: [MessageName<Int>] = [.number, .other, "org.example.third"]

  // MARK: - As MMWormhole tests its transits

  @Test(arguments: TransitKind.allCases)
  func keepsItsFilesInTheDirectoryOfTheWormhole(_ kind: TransitKind) throws {
    let temporary = try TemporaryGroup()
    let hole = try Wormhole(
      group: temporary.group, directory: "test directory", transit: kind.transit)
    #expect(hole.directory.lastPathComponent == "test%20directory")
    #expect(hole.directory.deletingLastPathComponent().path == temporary.path)
    #expect(try mode(hole.directory.path) == 0o700)
  }

  @Test(arguments: TransitKind.allCases)
  func keepsEachNameInFilesOfItsOwn(_ kind: TransitKind) async {
    // Other tests could close the connection of a log, which then has fewer files.
    await #expect(processExitsWith: .success) { [kind] in
      let site = try Site(kind)
      try await site.hole.pass(1, to: .number)
      #expect(!site.files.isEmpty)
      #expect(site.files.allSatisfy { $0.hasPrefix("org.example.number.") })
      for file in site.files { #expect(try mode("\(site.path)/\(file)") == 0o600) }
    }
  }

  @Test(arguments: TransitKind.allCases)
  func refusesANameThatIsEmpty(_ kind: TransitKind) throws {
    let site = try Site(kind)
    let name: MessageName<Int> = ""
    #expect(throws: WormholeError.invalidIdentifier) { try site.hole.blocking.pass(1, to: name) }
    #expect(throws: WormholeError.invalidIdentifier) { try site.hole.blocking.ping(name) }
    #expect(throws: WormholeError.invalidIdentifier) { try site.hole.blocking.message(name) }
    #expect(throws: WormholeError.invalidIdentifier) { try site.hole.blocking.clear(name) }
    #expect(throws: WormholeError.invalidIdentifier) {
      try site.hole.listen(name, starting: .new) { _ in }
    }
    #expect(throws: WormholeError.invalidIdentifier) { try site.hole.messages(name) }
    #expect(site.files.isEmpty)
  }

  @Test(arguments: TransitKind.allCases)
  func removesTheMessageOfOneNameOrOfAll(_ kind: TransitKind) throws {
    let site = try Site(kind)
    for name in names { try site.hole.blocking.pass(1, to: name) }
    try site.hole.blocking.ping("pinged" as MessageName<Int>)
    try site.hole.blocking.clear(.number)
    #expect(try names.map { try site.hole.blocking.message($0) } == [nil, 1, 1])
    #expect(!site.files.contains { $0 == "org.example.number.message" })
    let stored = try kind.transit.names(in: site.hole.directory)
    #expect(stored.sorted() == ["org.example.other", "org.example.third"])
    try site.hole.blocking.clearAll()
    #expect(try names.map { try site.hole.blocking.message($0) } == [nil, nil, nil])
    #expect(!site.files.contains { $0.hasSuffix(".message") })
    #expect(try kind.transit.names(in: site.hole.directory) == [])
  }

  // MARK: - Mailboxes

  @Test(arguments: TransitKind.allCases)
  func numbersRecordsOfAllKinds(_ kind: TransitKind) throws {
    let site = try Site(kind)
    let mailbox = try kind.transit.openMailbox(for: "n", in: site.hole.directory)
    #expect(try mailbox.lastNumber() == 0)
    #expect(try mailbox.lastMessage() == nil)
    #expect(try mailbox.records(after: 0, limit: 9).records.isEmpty)
    #expect(site.files.isEmpty)
    let payload = Wormhole.Payload(codec: "c", type: "t", version: 7, data: Data([1, 2, 3]))
    let contents: [Wormhole.Content<Wormhole.Payload>] = [
      .value(payload), .ping, .value(payload), .ping,
    ]
    for (index, content) in contents.enumerated() {
      #expect(try mailbox.append(Wormhole.Record(content)) == UInt64(index + 1))
      #expect(try mailbox.lastNumber() == UInt64(index + 1))
    }
    #expect(try mailbox.lastMessage()?.number == 3)
    for limit in [1, 9] {
      var numbers: [UInt64] = []
      var batch = Wormhole.RecordBatch([], hasMore: true)
      while batch.hasMore {
        batch = try mailbox.records(after: numbers.last ?? 2, limit: limit)
        numbers += batch.records.map(\.number)
      }
      #expect(numbers == [3, 4])
    }
    #expect(try mailbox.records(after: 4, limit: 9).records.isEmpty)
    #expect(try mailbox.append(Wormhole.Record(.cleared)) == 5)
    #expect(try mailbox.lastMessage() == nil)
    #expect(try mailbox.lastNumber() == 5)
  }

  @Test(arguments: TransitKind.allCases)
  func keepsARecordAsItWas(_ kind: TransitKind) throws {
    let site = try Site(kind)
    let mailbox = try kind.transit.openMailbox(for: "n", in: site.hole.directory)
    let payload = Wormhole.Payload(codec: "c\0", type: "t虫", version: .max, data: Data([0, 255]))
    let date = Date(timeIntervalSince1970: 1_234_567_890.5)
    let sender = Wormhole.Sender(pid: 4711, uid: 12345)
    #expect(throws: WormholeError.self) {
      try mailbox.append(Wormhole.Record(.unreadable(.damaged(path: "x"))))
    }
    _ = try mailbox.append(Wormhole.Record(.value(payload), date: date, sender: sender))
    let record = try #require(try mailbox.lastMessage()).record
    guard case .value(let found) = record.content else {
      Issue.record("\(record.content)")
      return
    }
    #expect(found == payload)
    #expect(record.date == date)
    #expect(record.sender == sender)
  }

  @Test(arguments: [TransitKind.file, .durableFile])
  func refusesUpdatesWithoutALock(_ kind: TransitKind) throws {
    let site = try Site(kind)
    let error = WormholeError.notCoordinated(
      name: MessageName<Int>.number.rawValue, transit: kind.transit.identifier)
    #expect(throws: error) { try site.hole.blocking.update(.number) { $0 = 1 } }
    #expect(try site.hole.blocking.message(.number) == nil)
  }

  @Test func aNameMayHaveATransitOfItsOwn() throws {
    let site = try Site(.file)
    let logged = MessageName<Int>("org.example.logged", transit: .log)
    for number in 1...3 { try site.hole.blocking.pass(number, to: logged) }
    #expect(try site.hole.blocking.history(logged).compactMap(\.value) == [1, 2, 3])
    try site.hole.blocking.pass(1, to: .number)
    try site.hole.blocking.clearAll()
    #expect(try site.hole.blocking.message(logged) == nil)
    #expect(try site.hole.blocking.message(.number) == nil)
  }

  // MARK: - Programs that disagree about a name

  private let asFile = MessageName<Int>("org.example.mixed")
  private let asLog = MessageName<Int>("org.example.mixed", transit: .log)

  private func isOtherTransit(_ error: any Error) -> Bool {
    (error as? WormholeError).map { .otherTransit ~= $0 && $0.name == asFile.rawValue } ?? false
  }

  @Test(arguments: [false, true])
  func aNameIsNotReadOrWrittenThroughAnotherTransit(startsAsLog: Bool) throws {
    let site = try Site()
    let (used, other) = startsAsLog ? (asLog, asFile) : (asFile, asLog)
    try site.hole.blocking.pass(1, to: used)
    #expect(performing: { try site.hole.blocking.message(other) }, throws: isOtherTransit)
    #expect(performing: { try site.hole.blocking.pass(2, to: other) }, throws: isOtherTransit)
    #expect(performing: { _ = try site.hole.messages(other) }, throws: isOtherTransit)
    #expect(try site.hole.blocking.message(used) == 1)
  }

  @Test func aListenerLearnsThatAnotherTransitIsUsed() async throws {
    let site = try Site()
    let log = try site.hear(asFile, starting: .last)
    try await site.hole.pass(1, to: asLog)
    await eventually { log.entries.last?.error.map(isOtherTransit) == true }
  }

  @Test func twoSpellingsWithOtherLimitsAreOneName() async throws {
    let site = try Site()
    let (short, long) = (
      MessageName<Int>("n", transit: .log(count: 10)), MessageName<Int>("n", transit: .log)
    )
    let log = Log<Int>()
    for (index, name) in [short, long].enumerated() {
      try site.hole.bind(
        Listener("label", on: .queue(site.queue)) { _ in log.append(index) }, to: name,
        starting: .new)
    }
    try await site.hole.pass(1, to: short)
    await eventually { !log.entries.isEmpty }
    try await site.settle()
    #expect(log.entries == [1])
    site.hole.unbind("label", from: short)
    try await site.hole.pass(2, to: long)
    try await site.settle()
    #expect(log.entries == [1])
  }
}
