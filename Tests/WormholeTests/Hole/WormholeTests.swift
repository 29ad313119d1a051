// Specifies what is stored under names.
import Wormhole

@Suite(.bounded)
struct WormholeTests {
  private struct Lamp: Codable, Equatable, Sendable {
    var isOn: Bool
    var colors: [String: Double]
    var next: [Lamp]
  }

  // MARK: - Passing

  @Test(arguments: TransitKind.kinds)
  func passesValuesOfAllTypes(_ kind: TransitKind) throws {
    let site = try Site(kind)
    let lamp = Lamp(isOn: true, colors: ["虫洞": 0.1], next: [])
    try check(Lamp(isOn: false, colors: [:], next: [lamp, lamp]), "lamp", site)
    try check("caf\u{E9} \0 \"", "text", site)
    try check(Data([0, 255]), "data", site)
    try check(Data(), "nothing", site)
    try check(Int?.none, "none", site)
    try check([Int](), "list", site)
    try check(Date(timeIntervalSince1970: 0.25), "date", site)
    try check(UInt64.max, "large", site)
  }

  private func check<Value: Codable & Equatable & Sendable>(
    _ value: Value, _ text: String, _ site: Site
  ) throws {
    for codec in [nil, .json, .propertyList] as [(any MessageCodec)?] {
      let name = MessageName<Value>("\(text).\(codec?.identifier ?? "")", codec: codec)
      try site.hole.blocking.pass(value, to: name)
      #expect(try site.hole.blocking.message(name) == .some(value))
    }
  }

  @Test func saysWhyAValueCannotBeEncoded() throws {
    let site = try Site()
    let name: MessageName<Double> = "double"
    try site.hole.blocking.pass(1, to: name)
    expect(.encoding) { try site.hole.blocking.pass(.nan, to: name) }
    expect(.encoding) { try site.hole.blocking.pass("x", to: MessageName("text", codec: .raw)) }
    #expect(try site.hole.blocking.message(name) == 1)
    #expect(try site.hole.blocking.ping(name) == 2)
  }

  @Test(arguments: TransitKind.kinds)
  func refusesWhatIsTooLarge(_ kind: TransitKind) throws {
    let site = try Site(kind)
    try site.hole.blocking.pass(Data([1]), to: .bytes)
    let (bytes, limit) = (MessageLimits.payloadBytes + 1, MessageLimits.payloadBytes)
    #expect(throws: WormholeError.tooLarge(bytes: bytes, limit: limit)) {
      try site.hole.blocking.pass(Data(count: bytes), to: .bytes)
    }
    #expect(try site.hole.blocking.message(.bytes) == Data([1]))
  }

  @Test(arguments: TransitKind.files)
  func leavesNothingBehindWhenANameIsTooLong(_ kind: TransitKind) throws {
    let site = try Site(kind)
    let name = MessageName<Int>("name", type: String(repeating: "x", count: 70_000))
    for _ in 1...20 { expect(.tooLarge) { try site.hole.blocking.pass(1, to: name) } }
    #expect(!site.files.contains { $0.hasSuffix(".new") })
    #expect(try openFiles(in: site.path).filter { !$0.hasSuffix(".mailbox") } == [])
  }

  @Test(arguments: TransitKind.allCases)
  func acceptsAnyTextAsAName(_ kind: TransitKind) throws {
    let site = try Site(kind)
    for (index, text) in strangeNames.enumerated() {
      try site.hole.blocking.pass(index, to: MessageName<Int>(text))
    }
    let other = try site.makeOther()
    for (index, text) in strangeNames.enumerated() {
      #expect(try other.blocking.message(MessageName<Int>(text)) == index)
      #expect(
        try other.blocking.history(MessageName<Int>(text)).map { Array($0.name.utf8) }
          == [Array(text.utf8)])
    }
    let names = try kind.transit.names(in: site.hole.directory).map { Array($0.utf8) }
    #expect(names.count == strangeNames.count)
    #expect(Set(names) == Set(strangeNames.map { Array($0.utf8) }))
    let found = try FileManager.default.contentsOfDirectory(atPath: site.temporary.path)
    #expect(found == ["wormhole"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: site.temporary.parent).count == 1)
  }

  @Test(arguments: TransitKind.kinds)
  func hearsUnderAnyName(_ kind: TransitKind) async throws {
    let site = try Site(kind, on: .usual)
    let (other, log) = (try site.makeOther(), Mail())
    let names = strangeNames.map { MessageName<Int>($0) }
    let observations = try names.map { name in
      try site.hole.listen(name, starting: .new, on: .thread) { log.append($0) }
    }
    for (index, name) in names.enumerated() { try await other.pass(index, to: name) }
    await eventually { log.entries.count == strangeNames.count }
    #expect(Set(log.values) == Set(strangeNames.indices))
    for message in log.entries {
      let name = strangeNames[try #require(message.value)]
      #expect(Array(message.name.utf8) == Array(name.utf8))
    }
    withExtendedLifetime(observations) {}
  }

  @Test func refusesADirectoryWithoutANameOrThatIsNotPrivate() throws {
    let group = try TemporaryGroup()
    #expect(throws: WormholeError.invalidIdentifier) {
      try Wormhole(group: group.group, directory: "")
    }
    let path = "\(group.path)/wormhole"
    try #require(symlink("/tmp", path) == 0)
    #expect(throws: WormholeError.notPrivate(path: path)) { try Wormhole(group: group.group) }
  }

  // MARK: - Reading

  @Test(arguments: TransitKind.kinds)
  func returnsTheMessagesThatAreKept(_ kind: TransitKind) throws {
    let site = try Site(kind)
    for number in 1...200 { try site.hole.blocking.pass(number, to: .number) }
    try site.hole.blocking.ping(.number)
    let history = try site.hole.blocking.history(.number)
    let expected = kind.keepsAll ? Array(1...200) : [200]
    #expect(history.compactMap(\.value) == expected)
    #expect(history.reduce(0) { $0 + 1 + $1.missed } == 200)
    #expect(history.allSatisfy { $0.sender == .current && !$0.isInitial })
    #expect(history.allSatisfy { abs($0.date.timeIntervalSinceNow) < 3600 })
    #expect(try site.hole.blocking.history(.number, since: 199).compactMap(\.value) == [200])
    #expect(try site.hole.blocking.history(.number, since: 200).isEmpty)
    #expect(try site.hole.blocking.history(.number, since: .max).isEmpty)
  }

  @Test(arguments: TransitKind.kinds)
  func endsWhileOthersPass(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    try await site.hole.pass(-1, to: .number)
    // A log that grew all the time would take longer at each look.
    let writer = Writer(site.hole, to: .number, count: 5000)
    for _ in 1...20 {
      let history = try await site.hole.history(.number)
      if kind.keepsAll {
        #expect(history.compactMap(\.value) == Array(-1..<history.count - 1))
      } else {
        #expect(history.count == 1)
      }
    }
    await writer.stop()
  }

  // MARK: - Clearing

  @Test(arguments: TransitKind.kinds)
  func clearsOnlyOurFiles(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    try await site.hole.pass(1, to: .number)
    try await site.hole.pass(1, to: .other)
    let strangers = ["notes.txt", "a.message", "org.example.number.message.new", "x.log"]
    for name in strangers { try Data("text".utf8).write(to: url(site, name)) }
    try #require(symlink("/etc/passwd", "\(site.path)/link.message") == 0)
    try #require(mkdir("\(site.path)/directory.message", 0o700) == 0)
    let log = try site.hear(.number)
    try site.hole.blocking.clearAll()
    await eventually { log.texts == ["cleared"] }
    for name in strangers { #expect(try Data(contentsOf: url(site, name)) == Data("text".utf8)) }
    #expect(Set(["link.message", "directory.message"]).isSubset(of: site.files))
    #expect(try await site.hole.message(.other) == nil)
    #expect(access("/etc/passwd", F_OK) == 0)
  }

  private func url(_ site: Site, _ name: String) -> URL {
    URL(fileURLWithPath: "\(site.path)/\(name)")
  }

  // MARK: - Updates

  @Test(arguments: TransitKind.coordinated)
  func changesTheValueThatIsStored(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    let log = try site.hear(.number)
    let first = try await site.hole.update(.number) { value in
      #expect(value == nil)
      value = 1
      return "made"
    }
    #expect(first == "made")
    await eventually { log.texts == ["value(1)"] }
    try await site.hole.update(.number) { $0 = $0.map { $0 + 1 } }
    await eventually { log.texts == ["value(1)", "value(2)"] }
    try await site.hole.update(.number) { $0 = nil }
    await eventually { log.texts == ["value(1)", "value(2)", "cleared"] }
    #expect(try await site.hole.message(.number) == nil)
    try await site.hole.update(.number) { #expect($0 == nil) }
    #expect(try await site.hole.ping(.number) == 4)
  }

  @Test(arguments: TransitKind.coordinated)
  func changesNothingWhenTheUpdateFails(_ kind: TransitKind) throws {
    let site = try Site(kind)
    try site.hole.blocking.pass(1, to: .number)
    #expect(throws: CancellationError.self) {
      try site.hole.blocking.update(.number) { value in
        value = 2
        throw CancellationError()
      }
    }
    #expect(try site.hole.blocking.message(.number) == 1)
    #expect(try site.hole.blocking.pass(2, to: .number) == 2)
  }
}

/// The files below a directory that this process has open.
func openFiles(in directory: String) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { descriptor in
    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
  }.filter { $0.hasPrefix("\(directory)/") }
}
