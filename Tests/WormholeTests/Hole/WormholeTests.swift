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

  @Test(arguments: Kept.allCases)
  func passesValuesOfAllTypes(_ kind: Kept) throws {
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
    for codec in [nil, .json, .propertyList] as [MessageCodec?] {
      let name = MessageName<Value>("\(text).\(codec?.rawValue ?? "")", codec: codec)
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

  @Test(arguments: Kept.allCases)
  func refusesWhatIsTooLarge(_ kind: Kept) throws {
    let site = try Site(kind)
    try site.hole.blocking.pass(Data([1]), to: .bytes)
    let error = expect(.tooLarge) {
      try site.hole.blocking.pass(Data(count: 1 << 20 + 1), to: .bytes)
    }
    #expect(error?.expected == "1048576")
    #expect(try site.hole.blocking.message(.bytes) == Data([1]))
  }

  @Test(arguments: Kept.allCases)
  func acceptsAnyTextAsAName(_ kind: Kept) throws {
    let site = try Site(kind)
    let texts = strangeNames.filter { $0.utf8.count <= 255 && !$0.utf8.contains(0) }
    for (index, text) in texts.enumerated() {
      try site.hole.blocking.pass(index, to: MessageName<Int>(text))
    }
    for text in strangeNames where !texts.contains(text) {
      expect(.invalidIdentifier) { try site.hole.blocking.pass(1, to: MessageName<Int>(text)) }
    }
    let other = try site.makeOther()
    for (index, text) in texts.enumerated() {
      #expect(try other.blocking.message(MessageName<Int>(text)) == index)
      #expect(
        try other.blocking.history(MessageName<Int>(text)).map { Array($0.name.utf8) }
          == [Array(text.utf8)])
    }
    let names = try site.store.names().filter(\.hasMessage).map { Array($0.name.utf8) }
    #expect(names.count == texts.count)
    #expect(Set(names) == Set(texts.map { Array($0.utf8) }))
    let found = try FileManager.default.contentsOfDirectory(atPath: site.temporary.path)
    #expect(found == ["wormhole"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: site.temporary.parent).count == 1)
  }

  @Test(arguments: Kept.allCases)
  func hearsUnderAnyName(_ kind: Kept) async throws {
    let site = try Site(kind, on: .usual)
    let (other, log) = (try site.makeOther(), Mail())
    let texts = strangeNames.filter { $0.utf8.count <= 255 && !$0.utf8.contains(0) }
    let names = texts.map { MessageName<Int>($0) }
    let observations = try names.map { name in
      try site.hole.listen(name, starting: .new, on: .thread) { log.append($0) }
    }
    for (index, name) in names.enumerated() { try await other.pass(index, to: name) }
    await eventually { log.entries.count == texts.count }
    #expect(Set(log.values) == Set(texts.indices))
    for message in log.entries {
      let name = texts[try #require(message.value)]
      #expect(Array(message.name.utf8) == Array(name.utf8))
    }
    withExtendedLifetime(observations) {}
  }

  @Test func refusesADirectoryWithoutANameOrThatIsNotPrivate() throws {
    let group = try TemporaryGroup()
    expect(.invalidIdentifier) { try Wormhole(group: group.group, directory: "") }
    expect(.reservedName) { try Wormhole(group: group.group, directory: "defaults") }
    let path = "\(group.path)/wormhole"
    try #require(symlink("/tmp", path) == 0)
    #expect(throws: WormholeError.notPrivate(path: path)) { try Wormhole(group: group.group) }
  }

  // MARK: - Reading

  @Test(arguments: Kept.allCases)
  func returnsTheMessagesThatAreKept(_ kind: Kept) throws {
    let site = try Site(kind)
    for number in 1...200 { try site.hole.blocking.pass(number, to: .number) }
    try site.hole.blocking.ping(.number)
    let history = try site.hole.blocking.history(.number)
    let expected = kind.isAll ? Array(1...200) : [200]
    #expect(history.compactMap(\.value) == expected)
    #expect(history.reduce(0) { $0 + 1 + $1.missed } == 200)
    #expect(history.allSatisfy { $0.sender.isOwn && !$0.isInitial })
    #expect(history.allSatisfy { abs($0.date.timeIntervalSinceNow) < 3600 })
    #expect(try site.hole.blocking.history(.number, since: 199).compactMap(\.value) == [200])
    #expect(try site.hole.blocking.history(.number, since: 200).isEmpty)
    #expect(try site.hole.blocking.history(.number, since: .max).isEmpty)
  }

  @Test(arguments: Kept.allCases)
  func endsWhileOthersPass(_ kind: Kept) async throws {
    let site = try Site(kind)
    try await site.hole.pass(-1, to: .number)
    // A log that grew all the time would take longer at each look.
    let writer = Writer(site.hole, to: .number, count: 5000)
    for _ in 1...20 {
      let history = try await site.hole.history(.number)
      if kind.isAll {
        #expect(history.compactMap(\.value) == Array(-1..<history.count - 1))
      } else {
        #expect(history.count == 1)
      }
    }
    await writer.stop()
  }

  // MARK: - Clearing

  @Test(arguments: Kept.allCases)
  func clearsAllNamesButNoOtherFiles(_ kind: Kept) async throws {
    let site = try Site(kind)
    try await site.hole.pass(1, to: .number)
    try await site.hole.pass(1, to: .other)
    let notes = URL(fileURLWithPath: "\(site.path)/notes.txt")
    try Data("text".utf8).write(to: notes)
    let log = try site.hear(.number)
    try await site.hole.clearAll()
    await eventually { log.texts == ["cleared"] }
    #expect(try await site.hole.message(.other) == nil)
    #expect(try Data(contentsOf: notes) == Data("text".utf8))
  }

  // MARK: - Updates

  @Test(arguments: Kept.allCases)
  func changesTheValueThatIsStored(_ kind: Kept) async throws {
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

  @Test(arguments: Kept.allCases)
  func changesNothingWhenTheUpdateFails(_ kind: Kept) throws {
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
