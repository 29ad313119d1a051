// Specifies shared defaults.
import Wormhole

extension DefaultsKey where Value == String {
  fileprivate static var theme: Self { DefaultsKey("theme", default: "light") }
}

@Suite(.bounded)
struct SharedDefaultsTests {
  private let group: TemporaryGroup
  private let defaults: SharedDefaults

  init() throws {
    group = try TemporaryGroup()
    defaults = group.group.defaults
  }

  private var path: String { "\(group.path)/defaults/store.sqlite" }

  @Test func aValueIsThereForEveryProcessUntilItIsRemoved() throws {
    let other = try group.make().defaults
    #expect(try defaults.blocking[.theme] == "light")
    try defaults.blocking.set("dark", for: .theme)
    #expect(try [defaults.blocking[.theme], other.blocking[.theme]] == ["dark", "dark"])
    try other.blocking.remove(.theme)
    #expect(try defaults.blocking[.theme] == "light")
    #expect(try !defaults.blocking.contains(.theme))
  }

  @Test func aGroupHasOneObject() throws {
    #expect(group.group.defaults === group.group.defaults)
  }

  @Test func anyCodableValueCanBeKept() throws {
    let maybe = DefaultsKey<Int?>("maybe", default: 1)
    try defaults.blocking.set(nil, for: maybe)
    #expect(try defaults.blocking[maybe] == nil)
    let table = DefaultsKey<[String: [Date]]>("table", default: [:])
    let value = ["虫洞\u{0}'\"": [Date(timeIntervalSince1970: 0.5)]]
    try defaults.blocking.set(value, for: table)
    #expect(try defaults.blocking[table] == value)
  }

  @Test func aValueOfAnotherTypeIsAnError() throws {
    try defaults.blocking.set("dark", for: .theme)
    let key = DefaultsKey("theme", default: 1)
    expect(.decoding) { try defaults.blocking[key] }
  }

  @Test func aValueThatCannotBeEncodedIsAnError() throws {
    #expect(throws: WormholeError.self) {
      try defaults.blocking.set(.nan, for: DefaultsKey<Double>("number", default: 0))
    }
    let text = String(repeating: "x", count: 1 << 20)
    expect(.tooLarge) { try defaults.blocking.set(text, for: .theme) }
    expect(.tooLarge) { try defaults.blocking.transaction { try $0.set(text, for: .theme) } }
  }

  @Test(arguments: ["", "a\0b", String(repeating: "x", count: 256)])
  func namesThatCannotBeKeptAreRefused(name: String) throws {
    let key = DefaultsKey(name, default: 7)
    #expect(throws: WormholeError.invalidIdentifier) { try defaults.blocking.set(1, for: key) }
    #expect(throws: WormholeError.invalidIdentifier) { try defaults.blocking.remove(key) }
    #expect(throws: WormholeError.invalidIdentifier) {
      try defaults.blocking.transaction { try $0.set(1, for: key) }
    }
    #expect(try defaults.blocking[key] == 7)
  }

  @Test func keysThatLookAlikeDiffer() throws {
    let keys = ["\u{e9}", "e\u{301}"].map { DefaultsKey($0, default: 0) }
    #expect(keys[0] != keys[1] && keys[0] == DefaultsKey("\u{e9}", default: 1))
    #expect(Set(keys).count == 2)
    for (value, key) in keys.enumerated() { try defaults.blocking.set(value, for: key) }
    #expect(try keys.map { try defaults.blocking[$0] } == [0, 1])
    try defaults.blocking.transaction { values in
      for (value, key) in keys.enumerated() { try values.set(value + 2, for: key) }
    }
    #expect(try keys.map { try defaults.blocking[$0] } == [2, 3])
  }

  // MARK: - Transactions

  @Test func aChangeByOtherMeansLetsATransactionBeginAgain() throws {
    var runs = 0
    try defaults.blocking.transaction { values in
      runs += 1
      let theme = try values[.theme]
      if runs == 1 { try defaults.blocking.set("red", for: .theme) }
      try values.set("\(theme) \(runs)", for: .theme)
      #expect(try defaults.blocking[.theme] == "red")
    }
    #expect(try defaults.blocking[.theme] == "red 2")
  }

  @Test func aBodyHoldsNobodyUp() async throws {
    let (begun, isOver, defaults) = (Flag(), DispatchSemaphore(value: 0), defaults)
    let transaction = Task {
      try await defaults.transaction { values in
        begun.set()
        isOver.wait()
        try values.set(1, for: .number)
      }
    }
    await eventually { begun.isSet }
    try await defaults.set("dark", for: .theme)
    try await defaults.update(.theme) { $0 += "er" }
    #expect(try await defaults[.theme] == "darker")
    isOver.signal()
    try await transaction.value
    #expect(try await defaults[.number] == 1)
  }

  @Test func processesThatAddAtTheSameTimeLoseNothing() async throws {
    let programs = try (0..<4).map { try group.peer("defaults-add", "key-\($0)", "1000") }
    for program in programs { await program.waitForSuccess() }
    #expect(try await defaults[DefaultsKey("sum", default: 0)] == 4000)
    for index in 0..<4 {
      #expect(try await defaults[DefaultsKey("key-\(index)", default: 0)] == 1000)
    }
  }

  // MARK: - Changes

  @Test func changesByAnotherProcessAreSeen() async throws {
    let bus = try PrivateBus(.usual)
    let group = try TemporaryGroup(bus)
    try await group.group.defaults.set(1, for: .number)
    var changes = try group.group.defaults.changes(of: .number).makeAsyncIterator()
    #expect(try await changes.next()?.value == 1)
    let setter = try group.peer("defaults-set", "number", "2", on: bus)
    let change = try await changes.next()
    #expect(try change?.value == 2)
    #expect(change?.sender?.process == setter.processIdentifier)
    #expect(change?.isRemoved == false)
    await setter.waitForSuccess()
    let remover = try group.peer("defaults-remove", "number", on: bus)
    await remover.waitForSuccess()
    let removal = try await changes.next()
    #expect(try removal?.value == 0)
    #expect(removal?.isRemoved == true)
    #expect(removal?.sender?.process == remover.processIdentifier)
  }

  @Test func changesBeforeTheIterationAreNotMissed() async throws {
    try await defaults.set(1, for: .number)
    let changes = try defaults.changes(of: .number, initial: false)
    for number in 2...9 { try await defaults.set(number, for: .number) }
    for _ in 1...2 {
      var iterator = changes.makeAsyncIterator()
      #expect(try await iterator.next()?.value == 9)
    }
  }

  @Test func anUnreadableChangeDoesNotEndTheSequence() async throws {
    var changes = try defaults.changes(of: .number, initial: false).makeAsyncIterator()
    try await defaults.set("x", for: DefaultsKey("number", default: ""))
    let change = try #require(try await changes.next())
    #expect(throws: WormholeError.self) { try change.value }
    try await defaults.set(3, for: .number)
    #expect(try await changes.next()?.value == 3)
  }

  @Test func changesOfOtherValuesAreNotReported() async throws {
    var changes = try defaults.changes(of: .number).makeAsyncIterator()
    #expect(try await changes.next()?.value == 0)
    try await defaults.set("dark", for: .theme)
    try await defaults.set(1, for: .number)
    #expect(try await changes.next()?.value == 1)
  }

  @Test func settingTheSameValueNotifiesNobody() async throws {
    // The change notifications of other tests' groups have another name.
    let group = try TemporaryGroup(identifier: "org.example.quiet")
    let defaults = group.group.defaults
    try await defaults.set(1, for: .number)
    let recorder = try Recorder(
      group.group.center, "wormhole.org.example.quiet.defaults", on: .inline)
    try await defaults.set(1, for: .number)
    try await defaults.remove(.theme)
    try await defaults.transaction { _ = try $0[.number] }
    try await defaults.transaction { values in
      try values.set(2, for: .number)
      try values.set("dark", for: .theme)
    }
    await eventually { recorder.posts > 0 }
    #expect(recorder.posts == 1)
  }

  // MARK: - The file

  @Test func otherProgramsPassAndReadValues() async throws {
    try await defaults.set("dark", for: .theme)
    try ForeignProgram.run("INSERT INTO pass(name, value) VALUES('number', '5')", on: path)
    #expect(try await defaults[.number] == 5)
    #expect(try await defaults.keys == ["number", "theme"])
    try ForeignProgram.run(
      """
      CREATE TEMP TABLE one(value CHECK(value = '"dark"'), post CHECK(post LIKE '%.defaults'));
      INSERT INTO one SELECT value, post FROM messages WHERE name = 'theme';
      INSERT INTO pass(name, value, codec) VALUES('theme', x'00', 'raw');
      """, on: path)
    let error = WormholeError.codecMismatch(name: "theme", expected: "json", found: "raw")
    await #expect(throws: error) {
      try await defaults[.theme]
    }
    try await defaults.set("light", for: .theme)
    #expect(try await defaults[.theme] == "light")
    #expect(try await defaults[.number] == 5)
  }

  @Test func theirDirectoryIsNeitherAWormholeNorADatabase() throws {
    let group = group.group
    let error = WormholeError.reservedName("defaults")
    #expect(throws: error) { try Wormhole(group: group, directory: "defaults") }
    #expect(throws: error) { try group.database("defaults") }
  }

  @Test func aRecreatedFileIsReadFromItsBeginning() async throws {
    try await defaults.set(1, for: .number)
    var changes = try defaults.changes(of: .number, initial: false).makeAsyncIterator()
    ForeignProgram.remove(path)
    try await defaults.set(2, for: .number)
    #expect(try await changes.next()?.value == 2)
  }

  @Test func defaultsThatAreDamagedCanBeReset() async throws {
    try await defaults.set(1, for: .number)
    ForeignProgram.remove(path)
    try Data("no database".utf8).write(to: URL(fileURLWithPath: path))
    await #expect(throws: WormholeError.foreign(path: path)) { try await defaults[.number] }
    try group.make().resetDefaults()
    #expect(try await defaults[.number] == 0)
    try await defaults.set(2, for: .number)
    #expect(try await group.make().defaults[.number] == 2)
  }

  @Test func valuesCanBeSetWhileTheDefaultsAreReset() throws {
    let isOver = Flag()
    Thread.detachNewThread { [group] in
      do {
        for _ in 1...300 / slowness { try group.group.resetDefaults() }
      } catch { Issue.record("\(error)") }
      isOver.set()
    }
    var number = 0
    while !isOver.isSet {
      number += 1
      try defaults.blocking.set(number, for: .number)
      _ = try defaults.blocking[.number]
    }
    try defaults.blocking.set(-1, for: .number)
    #expect(try defaults.blocking[.number] == -1)
  }

  @Test func observersHearOfAReset() async throws {
    try await defaults.set(1, for: .number)
    var changes = try defaults.changes(of: .number).makeAsyncIterator()
    #expect(try await changes.next()?.value == 1)
    try group.group.resetDefaults()
    let reset = try await changes.next()
    #expect(try reset?.value == 0)
    #expect(reset?.isRemoved == true)
    try await defaults.set(3, for: .number)
    #expect(try await changes.next()?.value == 3)
  }
}
