// Specifies which records a store keeps for its names.
@testable import Wormhole

@Suite(.bounded)
struct StoreTests {
  private let test: TestStore
  private var store: MessageStore { test.store }

  init() throws {
    test = try TestStore()
  }

  @Test func aNameKeepsItsNewestMessage() throws {
    #expect(try store.newest(of: "a") == nil)
    #expect(try test.pass(1...3) == 3)
    let newest = try #require(try store.newest(of: "a"))
    #expect((newest.number, newest.text) == (3, "3"))
    #expect(newest.sender == .current)
    #expect(try test.history() == ["3"])
  }

  @Test func aNameKeepsAsManyMessagesAsItShall() throws {
    try test.pass(1...100, keep: 10)
    #expect(try test.history() == (91...100).map(String.init))
    #expect(try test.history(after: 95) == (96...100).map(String.init))
    #expect(try store.names().first?.keep == 10)
  }

  @Test func whatANameKeepsOnlyGrowsUnlessItIsSet() throws {
    try test.pass(1...20, keep: 10)
    try test.pass(21...30, keep: 3)
    #expect(try test.history().count == 10)
    try store.setKeep(3, of: "a")
    #expect(try test.history() == ["28", "29", "30"])
    try test.pass(31...31)
    #expect(try test.history() == ["29", "30", "31"])
  }

  @Test func manyMessagesAreTrimmedInSeveralTransactions() throws {
    try test.pass(1...3_500, keep: 5_000)
    try store.setKeep(2, of: "a")
    #expect(try test.history() == ["3499", "3500"])
  }

  @Test(arguments: [1, 2, 40])
  func pingsEvictNoMessage(keep: Int) throws {
    try test.pass(1...40, keep: keep)
    for _ in 1...200 { try store.pass(RecordDraft(.ping), to: "a") }
    #expect(try test.history() == (41 - keep...40).map(String.init))
    #expect(try store.newest(of: "a")?.text == "40")
    // Pings themselves are not kept forever.
    #expect(try store.records(of: "a", after: 0, limit: .max).records.count <= 2 * keep + 1)
    try test.pass(41...41)
    #expect(try store.newest(of: "a")?.number == 241)
  }

  @Test func aClearingIsARecord() throws {
    try test.pass(1...5, keep: 10)
    #expect(try store.clear("a") == 6)
    #expect(try store.newest(of: "a") == nil)
    let records = try store.records(of: "a", after: 0, limit: 10).records
    #expect(records.map(\.content) == [.cleared])
    #expect(try store.pass(RecordDraft(.ping), to: "a") == 7)
    #expect(try store.newest(of: "a") == nil)
    #expect(try test.pass(6...6) == 8)
    #expect(try test.history() == ["6"])
  }

  @Test func allNamesOfAPrefixAreCleared() throws {
    for name in ["a.1", "a.2", "b"] { try test.pass(1...1, to: name) }
    #expect(try store.clearAll(prefix: "a.") == ["a.1", "a.2"])
    #expect(try store.clearAll(prefix: "a.") == [])
    #expect(try store.names().map(\.hasMessage) == [false, false, true])
  }

  @Test func namesAreFoundByTheirPrefix() throws {
    let names = ["a", "a.b", "a.b.c", "a%", "ab", "b", "虫.洞", "é", "e\u{301}"]
    for name in names { try test.pass(1...1, to: name) }
    #expect(try store.names(prefix: "a.").map(\.name) == ["a.b", "a.b.c"])
    #expect(try store.names(prefix: "虫").map(\.name) == ["虫.洞"])
    #expect(try store.names().count == names.count)
    #expect(try store.names(prefix: "x").isEmpty)
  }

  @Test(arguments: ["", "a\0b", String(repeating: "é", count: 128)])
  func namesThatCannotBePostedAreRefused(name: String) throws {
    #expect(throws: WormholeError.invalidIdentifier) { try store.clear(name) }
  }

  @Test func valuesMayHaveOneMebibyte() throws {
    let value = { StoredValue(codec: "raw", data: Data(repeating: 7, count: $0)) }
    try store.pass(RecordDraft(.value(value(1 << 20))), to: "a")
    #expect(try store.newest(of: "a")?.content == .value(value(1 << 20)))
    #expect(throws: WormholeError.tooLarge(bytes: 1 << 20 | 1, limit: 1 << 20)) {
      try store.pass(RecordDraft(.value(value(1 << 20 | 1))), to: "a")
    }
    try store.pass(RecordDraft(.value(value(0))), to: "a")
    #expect(try store.newest(of: "a")?.content == .value(value(0)))
  }

  @Test func aBatchIsBounded() throws {
    let value = StoredValue(codec: "raw", data: Data(repeating: 7, count: 400 << 10))
    for _ in 1...5 { try store.pass(RecordDraft(.value(value), keep: 9), to: "a") }
    var batch = try store.records(of: "a", after: 0, limit: 100)
    #expect(batch.records.map(\.number) == [1, 2])
    #expect(batch.hasMore)
    #expect(batch.last == 5)
    batch = try store.records(of: "a", after: 4, limit: 100)
    #expect(batch.records.map(\.number) == [5])
    #expect(!batch.hasMore)
    #expect(try store.records(of: "a", after: 1, limit: 1).records.map(\.number) == [2])
    #expect(try test.history().count == 5)
  }

  @Test func aDurablePassThatIsOverDoesNotMakeLaterOnesDurable() throws {
    try test.pass(1...1)
    let writer = try ForeignWriter(of: test.path)
    let limit = WorkLimit(on: "test", timeout: .milliseconds(50))
    #expect(throws: WormholeError.timedOut("test")) {
      try store.pass(RecordDraft(.ping, isDurable: true), to: "a", within: limit)
    }
    withExtendedLifetime(writer) {}
    let mode = try store.connections.use(\.writer, within: nil) {
      (connection) throws(WormholeError) in try connection.integer("PRAGMA synchronous")
    }
    #expect(mode == 1)
  }

  /// The time of some is up while they commit.
  @Test func aTransactionThatIsOverHasChangedNothing() throws {
    try test.pass(1...1)
    var committed: Int64 = 0
    let found = try store.connections.use(\.writer, within: nil) {
      (connection) throws(WormholeError) -> Int64? in
      for number in 1...40_000 {
        let timeout = Duration.microseconds(Int.random(in: 0..<100))
        connection.begin(Backoff(limit: WorkLimit(timeout: timeout)))
        do throws(WormholeError) {
          try connection.storeTransaction { () throws(WormholeError) in
            try connection.run("UPDATE names SET keep = keep + 1")
          }
          committed += 1
        } catch .timedOut {}
        // The log must not grow.
        if number % 1_000 == 0 { try connection.executeInAnyCase("PRAGMA wal_checkpoint") }
      }
      connection.begin(Backoff())
      return try connection.integer("SELECT keep - 1 FROM names")
    }
    #expect(found == committed)
  }

  @Test func timeNeverGoesBack() throws {
    let late = Int64(4e18)
    try store.pass(RecordDraft(.ping, time: late), to: "a")
    try test.pass(1...2)
    #expect(try store.newest(of: "a")?.time == late + 2)
    try store.pass(RecordDraft(.ping, time: .max), to: "a")
    #expect(
      throws: WormholeError.damaged(path: test.path).with(reason: "a has no next number or time")
    ) { try test.pass(1...1) }
    try test.pass(1...1, to: "b")
  }

  @Test func anUpdateLosesNothing() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 1...4 {
        group.addTask {
          let store = self.test.openAgain()
          for _ in 1...50 {
            try store.update("a") { newest in
              (.json("\((newest.flatMap { Int($0.text) } ?? 0) + 1)"), ())
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.newest(of: "a")?.text == "200")
  }

  @Test func anUpdateRunsItsBodyWithoutALock() throws {
    let other = test.openAgain()
    var runs = 0
    try store.update("a") { newest in
      runs += 1
      if runs == 1 { try other.pass(.json("1"), to: "a") }
      return (.json((newest?.text ?? "0") + "0"), ())
    }
    #expect(runs == 2)
    #expect(try store.newest(of: "a")?.text == "10")
    try store.update("a") { _ in (nil, ()) }
    #expect(try store.newest(of: "a")?.number == 2)
  }

  @Test func theStoreCannotBeUsedFromWithinItsTransaction() throws {
    try test.pass(1...1)
    #expect(throws: WormholeError.nested(path: test.path)) {
      try store.write(within: nil) { (_) throws(WormholeError) in
        try test.openAgain().clear("a")
      }
    }
    #expect(try test.history() == ["1"])
  }

  @Test func changesAreAnnounced() async throws {
    let count = Log<Int>()
    let observation = try store.observe("a") { count.append(1) }
    try test.pass(1...1)
    await eventually("the change was not announced") { count.entries.count == 1 }
    observation.cancel()
  }

  @Test func theProcessThatIsWritingIsFoundAmongManyLocks() throws {
    try test.pass(1...1)
    let writer = try ForeignWriter(of: test.path)
    // So many that the kernel does not list them in one page.
    let file = open("\(test.directory)/locks", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    for byte in 0..<400 {
      var lock = flock()
      (lock.l_type, lock.l_start, lock.l_len) = (Int16(F_WRLCK), 2 * byte, 1)
      try #require(fcntl(file, F_SETLK, &lock) == 0)
    }
    let holder = try #require(LockHolder.describe(of: test.path))
    #expect(holder.contains("(process \(getpid())"), "\(holder)")
    withExtendedLifetime(writer) {}
  }
}
