// Specifies how message files are handled that are not as they were written.

@testable import Wormhole

@Suite(.bounded)
struct MessageFileTests {
  /// Something that can happen to a file, and the kind of error it causes.
  struct Damage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let kind: WormholeError
    let apply: @Sendable (_ path: String) throws -> Void

    init(
      _ text: String, _ kind: WormholeError, _ apply: @escaping @Sendable (String) throws -> Void
    ) {
      (testDescription, self.kind, self.apply) = (text, kind, apply)
    }
  }

  static let damages: [Damage] = [
    Damage("emptied", .foreign) { try edit($0) { $0 = Data() } },
    Damage("another text", .foreign) { try edit($0) { $0 = Data("text".utf8) } },
    Damage("zeros", .foreign) { try edit($0) { $0 = Data(count: 4096) } },
    Damage("a symbolic link", .foreign) { try replace($0) { symlink("x", $0) } },
    Damage("a pipe", .foreign) { try replace($0) { mkfifo($0, 0o600) } },
    Damage("a directory", .foreign) { try replace($0) { mkdir($0, 0o700) } },
    Damage("a copy of another", .foreign, copyOther),
    Damage("without its end", .damaged) { try edit($0) { $0.removeLast() } },
    Damage("longer", .damaged) { try edit($0) { $0.append(0) } },
    Damage("with a wrong byte", .damaged) { try edit($0) { $0[$0.count - 1] ^= 1 } },
    Damage("with a wrong number", .damaged) { try edit($0) { $0[16] ^= 1 } },
    Damage("of a later version", .unknownFormat) { try edit($0) { $0[8] = 2 } },
    Damage("huge", .tooLarge) { truncate($0, 1 << 40) },
  ]

  @Test(arguments: TransitKind.files, damages)
  func isReportedToReaders(over kind: TransitKind, _ damage: Damage) async throws {
    let site = try Site(kind)
    let (hole, queue) = (site.hole, DispatchQueue(label: "com.example.queue"))
    try await hole.pass(7, to: .number)
    let path = try site.messageFile()
    for _ in 1...9 { try await hole.pass(8, to: .other) }
    try damage.apply(path)

    let error = expect(damage.kind) { try hole.blocking.message(.number) }
    #expect(error?.path == path || damage.kind ~= .tooLarge)
    #expect(try await hole.history(.number).map(\.error) == [error])
    let log = Mail()
    try hole.record(in: log, on: .queue(queue), starting: .lastOrAbsent)
    try await site.settle(queue)
    #expect(log.entries.map(\.error) == [error])
    #expect(log.entries.first?.isInitial == true)

    #expect(try await hole.message(.other) == 8)
    try await hole.ping(.number)
    await eventually { log.texts.last == "ping" }
    guard damage.testDescription != "a directory" else {
      #expect(throws: WormholeError.system(code: EISDIR, path: path)) {
        try hole.blocking.pass(9, to: .number)
      }
      return
    }
    try await hole.pass(9, to: .number)
    await eventually { log.values == [9] }
    #expect(try await hole.message(.number) == 9)
    try hole.blocking.clearAll()
    #expect(site.files.allSatisfy { $0.hasSuffix(".mailbox") })
  }

  @Test(arguments: TransitKind.files)
  func doesNotHideTheMessageThatReplacesItFromANewListener(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    try await site.hole.pass(0, to: .number)
    let path = try site.messageFile()
    for number in 1...20 {
      try edit(path) { $0 = Data("text".utf8) }
      let log = Mail()
      let writer = Task.detached { try site.hole.blocking.pass(number, to: .number) }
      try site.hole.record(in: log, on: .thread, starting: .last)
      _ = try await writer.value
      await eventually("\(number) is not heard") { log.values == [number] }
      site.hole.unbindAll(from: .number)
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
  func isForeignWhenSomebodyElseWroteIt() throws {
    let site = try Site()
    try site.hole.blocking.pass(7, to: .number)
    let path = try site.messageFile()
    try #require(chown(path, 12345, 12345) == 0)
    #expect(throws: WormholeError.foreign(path: path)) { try site.hole.blocking.message(.number) }
    try site.hole.blocking.pass(8, to: .number)
    #expect(try site.hole.blocking.message(.number) == 8)
  }

  @Test func isKnownToBeWrongAtEveryLengthAndInEveryByte() throws {
    let site = try Site()
    try site.hole.blocking.pass(Data(0..<200), to: .bytes)
    let path = try site.messageFile()
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    for place in 0..<whole.count {
      try edit(path) { $0 = whole.prefix(place) }
      let expected = place < 8 ? WormholeError.foreign(path: path) : .damaged(path: path)
      #expect(throws: expected, "\(place) of \(whole.count) bytes") {
        try site.hole.blocking.message(.bytes)
      }
      let bit = Int.random(in: 0..<8)
      try edit(path) {
        $0 = whole
        $0[place] ^= 1 << bit
      }
      #expect(throws: WormholeError.self, "bit \(bit) of byte \(place)") {
        try site.hole.blocking.message(.bytes)
      }
    }
    try edit(path) { $0 = whole }
    #expect(try site.hole.blocking.message(.bytes) == Data(0..<200))
  }

  @Test func isKnownToBeWrongAnywhereInAMebibyte() throws {
    let (site, count) = (try Site(), 1 << 20)
    try site.hole.blocking.pass(Data(count: count), to: .bytes)
    let path = try site.messageFile()
    for offset in [0, 1, 63, 64, 65_535, count - 1] {
      try edit(path) { $0[$0.count - 1 - offset] ^= 0x10 }
      #expect(throws: WormholeError.damaged(path: path)) { try site.hole.blocking.message(.bytes) }
      try edit(path) { $0[$0.count - 1 - offset] ^= 0x10 }
    }
    #expect(try site.hole.blocking.message(.bytes) == Data(count: count))
  }

  @Test(arguments: TransitKind.kinds)
  func saysWhichCodecTypeOrVersionWasMeant(_ kind: TransitKind) throws {
    let site = try Site(kind)
    let text = "org.example.number"
    try site.hole.blocking.pass(7, to: MessageName<Int>(text, version: 2))
    #expect(throws: WormholeError.codecMismatch(name: text, expected: "plist", found: "json")) {
      try site.hole.blocking.message(MessageName<Int>(text, codec: .propertyList, version: 2))
    }
    let asText = MessageName<String>(text, version: 2)
    let error = WormholeError.typeMismatch(name: text, expected: "String", found: "Int")
    #expect(throws: error) { try site.hole.blocking.message(asText) }
    if kind != .file {
      #expect(throws: error) { try site.hole.blocking.update(asText) { $0 = "x" } }
    }
    #expect(throws: WormholeError.versionMismatch(name: text, expected: 1, found: 2)) {
      try site.hole.blocking.message(.number)
    }
    #expect(throws: WormholeError.self) {
      try site.hole.blocking.message(MessageName<String>(text, type: "Int", version: 2))
    }
    #expect(
      try site.hole.blocking.history(.number).map(\.error) == [
        .versionMismatch(name: text, expected: 1, found: 2)
      ])
    #expect(try site.hole.blocking.message(MessageName<Int>(text, version: 2)) == 7)
    try site.hole.blocking.pass("x", to: asText)
    #expect(try site.hole.blocking.message(asText) == "x")
  }

  @Test func staysWhatItWasForThoseWhoHaveReadIt() throws {
    let site = try Site()
    let count = 1 << 20
    try site.hole.blocking.pass(Data(repeating: 1, count: count), to: .bytes)
    let data = try #require(try site.hole.blocking.message(.bytes))
    for byte in 2...5 as ClosedRange<UInt8> {
      try site.hole.blocking.pass(Data(repeating: byte, count: count), to: .bytes)
    }
    try site.hole.blocking.clear(.bytes)
    #expect(data == Data(repeating: 1, count: count))
  }

  @Test func countsNoStrayFileAsAMessage() throws {
    let site = try Site()
    try site.hole.blocking.pass(7, to: .number)
    let path = try site.messageFile()
    for name in ["x.message.new", "org.example.other.message.new", "x.messages", "copy.message"] {
      try FileManager.default.copyItem(atPath: path, toPath: "\(site.path)/\(name)")
    }
    #expect(try FileTransit().names(in: site.hole.directory) == ["org.example.number"])
    #expect(try site.hole.blocking.message(.other) == nil)
    try site.hole.blocking.pass(8, to: .other)
    #expect(try site.hole.blocking.message(.other) == 8)
  }

  // MARK: - Numbers

  @Test(arguments: [Data(), Data("text".utf8), Data(count: 112), nil])
  func continuesCountingFromTheMessageIfTheNumbersAreLost(_ contents: Data?) async throws {
    let site = try Site()
    for number in 1...3 { try await site.hole.pass(number, to: .number) }
    let log = try site.hear(.number)
    let state = "\(site.path)/org.example.number.mailbox"
    if let contents { try contents.write(to: URL(fileURLWithPath: state)) } else { unlink(state) }
    #expect(try await site.hole.message(.number) == 3)
    #expect(try await site.hole.history(.number).map(\.sequence) == [3])
    #expect(try await site.hole.ping(.number) == 4)
    #expect(try await site.hole.history(.number).map(\.sequence) == [3])
    #expect(try await site.hole.pass(5, to: .number) == 5)
    await eventually { log.entries.last?.value == 5 }
    // Nobody can know whether the message that was there has been heard: it may arrive once more.
    #expect([[5], [3, 5]].contains(log.values))
  }

  @Test(arguments: ["pipe", "directory", "link"])
  func saysWhatIsInPlaceOfTheNumbers(_ kind: String) throws {
    let site = try Site()
    let path = "\(site.path)/org.example.number.mailbox"
    switch kind {
    case "pipe": try #require(mkfifo(path, 0o600) == 0)
    case "directory": try #require(mkdir(path, 0o700) == 0)
    default: try #require(symlink("/tmp/nowhere", path) == 0)
    }
    #expect(throws: WormholeError.self) { try site.hole.blocking.pass(1, to: .number) }
    #expect(try site.hole.blocking.message(.number) == nil)
    #expect(try site.hole.blocking.pass(1, to: .other) == 1)
    #expect(access("/tmp/nowhere", F_OK) != 0)
  }

  @Test func passesNothingUnreadableAfterTheGreatestNumber() throws {
    let site = try Site()
    let path = "\(site.path)/org.example.number"
    let header = MessageHeader(
      number: .max - 1, time: 0, sender: .current, payloadBytes: 1,
      payloadChecksum: Data("7".utf8).withUnsafeBytes { checksum($0) }, identity: 1, version: 1,
      codec: "json", type: "Int", name: "org.example.number")
    try Data(try header.encoded() + "7".utf8).write(to: URL(fileURLWithPath: "\(path).message"))
    #expect(throws: WormholeError.damaged(path: "\(path).mailbox")) {
      try site.hole.blocking.pass(8, to: .number)
    }
    #expect(try site.hole.blocking.message(.number) == 7)
  }

  // MARK: - Locks

  @Test func keepsOthersOutUntilTheTimeoutUnlessAllOnlyRead() throws {
    let site = try Site()
    let path = "\(site.path)/lock"
    func expectBusy(_ kind: FileLock.Kind) {
      #expect(throws: WormholeError.busy(path: path)) {
        _ = try FileLock(kind, path, timeout: .milliseconds(5))
      }
    }
    let writer = try FileLock(.exclusive, path)
    expectBusy(.shared)
    expectBusy(.exclusive)
    _ = consume writer
    let reader = try FileLock(.shared, path, timeout: .zero)
    _ = try FileLock(.shared, path, timeout: .zero)
    expectBusy(.exclusive)
    _ = consume reader
  }

  /// After a machine has stood still, who holds a lock has not been slow.
  @Test func isWaitedForAFewTimesEvenIfTheTimeIsUp() {
    var backoff = Backoff(from: .now - .seconds(60))
    for _ in 1...50 {
      let isInTime = backoff.wait()
      #expect(isInTime)
    }
    var limited = Backoff(timeout: .seconds(1), from: .now - .seconds(60))
    let isInTime = limited.wait()
    #expect(!isInTime)
  }

  @Test func isWaitedForAsLongAsTheWorkMayTake() {
    let limit = WorkLimit(on: "name", timeout: .seconds(600))
    WorkLimit.$current.withValue(limit) { #expect(Backoff().deadline == limit.deadline) }
  }
}

private func replace(_ path: String, _ make: (String) -> CInt) throws {
  try #require(unlink(path) == 0 && make(path) == 0)
}

/// Puts the message of another name in its place.
@Sendable private func copyOther(_ path: String) throws {
  try replace(path) { path in
    link("\((path as NSString).deletingLastPathComponent)/org.example.other.message", path)
  }
}
