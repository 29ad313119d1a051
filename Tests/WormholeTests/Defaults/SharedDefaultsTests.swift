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
    defaults = try group.group.defaults
  }

  @Test func aValueIsThereForEveryProcessUntilItIsRemoved() throws {
    let other = try group.make().defaults
    #expect(try defaults.blocking[.theme] == "light")
    try defaults.blocking.set("dark", for: .theme)
    #expect(try [defaults.blocking[.theme], other.blocking[.theme]] == ["dark", "dark"])
    try other.blocking.remove(.theme)
    #expect(try defaults.blocking[.theme] == "light")
  }

  @Test func aGroupHasOneObject() throws {
    #expect(try group.group.defaults === group.group.defaults)
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
    #expect(throws: WormholeError.invalidIdentifier) {
      try defaults.blocking.set(1, for: DefaultsKey("", default: 0))
    }
  }

  @Test func keysThatLookAlikeDiffer() throws {
    let keys = ["\u{e9}", "e\u{301}"].map { DefaultsKey($0, default: 0) }
    #expect(Set(keys).count == 2)
    for (value, key) in keys.enumerated() { try defaults.blocking.set(value, for: key) }
    #expect(try keys.map { try defaults.blocking[$0] } == [0, 1])
  }

  @Test func aRecreatedFileIsReadFromItsBeginning() async throws {
    try defaults.blocking.set(1, for: .number)
    var changes = try defaults.changes().makeAsyncIterator()
    var counts = try defaults.changes(of: .number, initial: false).makeAsyncIterator()
    ForeignProgram.remove("\(group.path)/defaults.sqlite")
    try defaults.blocking.set(2, for: .number)
    try defaults.blocking.set("dark", for: .theme)
    #expect(try await changes.next()?.name == "number")
    #expect(try await changes.next()?.name == "theme")
    #expect(try await counts.next()?.value == 2)
  }

  @Test func aChangeInsideATransactionByOtherMeansIsRefused() throws {
    try defaults.blocking.transaction { values in
      try values.set("dark", for: .theme)
      #expect(try defaults.blocking[.theme] == "light")
      #expect(throws: WormholeError.busy(path: "\(group.path)/defaults.sqlite")) {
        try defaults.blocking.set("red", for: .theme)
      }
    }
    #expect(try defaults.blocking[.theme] == "dark")
  }

  @Test func processesThatAddAtTheSameTimeLoseNothing() async throws {
    let programs = try (0..<4).map { try group.peer("defaults-add", "key-\($0)", "1000") }
    for program in programs { await program.waitForSuccess() }
    #expect(try defaults.blocking[DefaultsKey("sum", default: 0)] == 4000)
    for index in 0..<4 {
      #expect(try defaults.blocking[DefaultsKey("key-\(index)", default: 0)] == 1000)
    }
  }

  @Test func changesByAnotherProcessAreSeen() async throws {
    let bus = try PrivateBus(.usual)
    let group = try TemporaryGroup(bus)
    try group.group.defaults.blocking.set(1, for: .number)
    var changes = try group.group.defaults.changes(of: .number).makeAsyncIterator()
    var all = try group.group.defaults.changes().makeAsyncIterator()
    #expect(try await changes.next()?.value == 1)
    let setter = try group.peer("defaults-set", "number", "2", on: bus)
    let change = try await changes.next()
    #expect(try change?.value == 2)
    #expect(change?.sender?.pid == setter.processIdentifier)
    #expect(change?.isRemoved == false)
    let any = try await all.next()
    #expect(any?.name == "number" && any?.sender.pid == setter.processIdentifier)
    await setter.waitForSuccess()
    await (try group.peer("defaults-remove", "number", on: bus)).waitForSuccess()
    let removal = try await changes.next()
    #expect(try removal?.value == 0)
    #expect(removal?.isRemoved == true)
    #expect(try await all.next()?.isRemoved == true)
  }

  @Test func changesBeforeTheIterationAreNotMissed() async throws {
    try defaults.blocking.set(1, for: .number)
    let changes = try defaults.changes(of: .number, initial: false)
    for number in 2...9 { try defaults.blocking.set(number, for: .number) }
    for _ in 1...2 {
      var iterator = changes.makeAsyncIterator()
      #expect(try await iterator.next()?.value == 9)
    }
  }

  @Test func anUnreadableChangeDoesNotEndTheSequence() async throws {
    var changes = try defaults.changes(of: .number, initial: false).makeAsyncIterator()
    try defaults.blocking.set("x", for: DefaultsKey("number", default: ""))
    let change = try #require(try await changes.next())
    #expect(throws: WormholeError.self) { try change.value }
    try defaults.blocking.set(3, for: .number)
    #expect(try await changes.next()?.value == 3)
  }

  @Test func settingTheSameValueNotifiesNobody() async throws {
    // The change notifications of other tests' groups have another name.
    let group = try TemporaryGroup(identifier: "org.example.quiet")
    let defaults = try group.group.defaults
    try defaults.blocking.set(1, for: .number)
    let changeName: NotificationName = "wormhole.org.example.quiet.defaults"
    let recorder = Recorder()
    let center = group.group.center
    let observation = try center.observe(changeName, on: .inline) { recorder.record($0) }
    try defaults.blocking.set(1, for: .number)
    try defaults.blocking.remove(.theme)
    try defaults.blocking.transaction { _ = try $0[.number] }
    try defaults.blocking.transaction { values in
      try values.set(2, for: .number)
      try values.set("dark", for: .theme)
    }
    await eventually { recorder.posts > 0 }
    #expect(recorder.posts == 1)
    withExtendedLifetime(observation) {}
  }
}
