// Specifies how several names of a store change as one.
@testable import Wormhole

@Suite(.bounded)
struct StoreTransactionTests {
  private let test: TestStore
  private var store: MessageStore { test.store }

  init() throws {
    test = try TestStore()
  }

  private struct Failure: Error {}

  @Test func allNamesChangeOrNone() throws {
    try store.transaction { values in
      #expect(try values.content(of: "a") == nil)
      try values.set(.json("1"), of: "a")
      try values.set(.json("2"), of: "b")
      #expect(try values.content(of: "a") == .value(.json("1")))
      #expect(try test.openAgain().newest(of: "a") == nil)
    }
    #expect(try ["a", "b"].map { try store.newest(of: $0)?.text } == ["1", "2"])
    #expect(throws: Failure.self) {
      try store.transaction { values in
        try values.set(.json("3"), of: "a")
        throw Failure()
      }
    }
    #expect(try store.newest(of: "a")?.text == "1")
  }

  @Test func theSameValueIsNoChange() throws {
    try store.transaction { try $0.set(.json("1"), of: "a") }
    #expect(try store.set(.json("1"), of: "a").number == 1)
    try store.transaction { values in
      try values.set(.json("1"), of: "a")
      try values.set(nil, of: "b")
    }
    #expect(try store.set(nil, of: "b").number == 0)
    #expect(try store.names().map(\.last) == [1])
    #expect(try store.set(nil, of: "a").number == 2)
    #expect(try store.newestChange(of: "a").records.map(\.content) == [.cleared])
  }

  @Test func aBodyRunsAgainIfWhatItHasReadChanges() throws {
    let other = test.openAgain()
    var runs = 0
    try store.transaction { values in
      runs += 1
      let found = try values.content(of: "a")
      if runs == 1 { try other.set(.json("1"), of: "a") }
      try values.set(found == nil ? .json("none") : .json("some"), of: "b")
    }
    #expect(runs == 2)
    #expect(try store.newest(of: "b")?.text == "some")
    // What it has not read may change.
    try store.transaction { values in
      runs += 1
      try other.set(.json("2"), of: "a")
      try values.set(.json("3"), of: "b")
    }
    #expect(runs == 3)
  }

  @Test func allThatABodyReadsIsOfOneMoment() throws {
    let other = test.openAgain()
    func change(_ number: Int) throws {
      try other.transaction { values in
        for name in ["a", "b"] { try values.set(.json("\(number)"), of: name) }
      }
    }
    try change(0)
    var pairs: [[StoredContent?]] = []
    try store.transaction { values in
      let first = try values.content(of: "a")
      if pairs.isEmpty {
        pairs.append([])
        try change(1)
      }
      pairs.append([first, try values.content(of: "b")])
    }
    #expect(pairs == [[], [.value(.json("1")), .value(.json("1"))]])
  }

  @Test func aBodyThatIgnoresAChangeRunsAgain() throws {
    let other = test.openAgain()
    try test.pass(1...1)
    var runs = 0
    try store.transaction { values in
      runs += 1
      _ = try values.content(of: "a")
      if runs == 1 { try other.clear("a") }
      _ = try? values.content(of: "b")
    }
    #expect(runs == 2)
  }

  @Test func aReplacedFileIsAChange() throws {
    try test.pass(1...1)
    var runs = 0
    try store.transaction { values in
      runs += 1
      let found = try values.content(of: "a")
      if runs == 1 {
        try store.startAnew()
        try test.openAgain().pass(.json("2"), to: "a")
      }
      try values.set(found == .value(.json("2")) ? .json("new") : .json("old"), of: "b")
    }
    #expect(runs == 2)
    #expect(try store.newest(of: "b")?.text == "new")
  }

  @Test func itEndsInTimeIfOthersKeepChanging() throws {
    let other = test.openAgain()
    let limit = WorkLimit(on: "test", timeout: .milliseconds(50))
    #expect(throws: WormholeError.timedOut("test")) {
      try store.transaction(within: limit) { values in
        _ = try values.content(of: "a")
        try other.pass(.json("1"), to: "a")
        try values.set(.json("2"), of: "a")
      }
    }
  }

  @Test func itEndsInTimeIfWhatItReadsKeepsChanging() throws {
    // Enough for what comes first.
    let (other, limit) = (test.openAgain(), WorkLimit(on: "test", timeout: .seconds(2)))
    #expect(throws: WormholeError.timedOut("test")) {
      try store.transaction(within: limit) { values in
        _ = try values.content(of: "a")
        try other.pass(.json("1"), to: "a")
        do {
          _ = try values.content(of: "b")
        } catch {
          while limit.failure == nil { usleep(1_000) }
          throw error
        }
      }
    }
  }

  @Test func allOtherNamesCanBeRemoved() throws {
    for name in ["a", "b", "c"] { try test.pass(1...1, to: name) }
    try store.transaction { values in
      values.removeAll()
      #expect(try values.content(of: "a") == nil)
      try values.set(.json("2"), of: "b")
    }
    #expect(try store.names().map(\.hasMessage) == [false, true, false])
    #expect(try store.newest(of: "b")?.text == "2")
  }

  @Test func aStoreMayHaveOneNotificationForAllNames() async throws {
    let store = test.openAgain("org.example.one")
    let count = Log<Int>()
    let observation = try store.observe("a") { count.append(1) }
    try store.transaction { values in
      for name in ["a", "b", "c"] { try values.set(.json("1"), of: name) }
    }
    try store.center.post("org.example.one")
    await eventually { count.entries.count >= 2 }
    #expect(count.entries.count == 2)
    observation.cancel()
    try ForeignProgram.run(
      """
      CREATE TEMP TABLE one(post CHECK(post = 'org.example.one'));
      INSERT INTO one SELECT post FROM messages
      """, on: test.path)
  }
}

extension StoredValue {
  fileprivate static func json(_ text: String) -> Self {
    Self(codec: "json", data: Data(text.utf8))
  }
}
