// Specifies how messages continue when their files are moved, removed or exchanged.
import Wormhole

@Suite(.bounded)
struct LostFilesTests {
  /// Which directory is moved away.
  enum Moved: CaseIterable, Sendable {
    case wormhole, group

    func path(in site: Site) -> String {
      switch self {
      case .wormhole: site.path
      case .group: site.temporary.path
      }
    }
  }

  private func rename(_ old: String, to new: String) throws {
    try #require(Foundation.rename(old, new) == 0, "\(String(cString: strerror(errno)))")
  }

  private func numbersFile(in site: Site) -> String { "\(site.path)/org.example.number.mailbox" }

  // MARK: - The directory

  @Test(arguments: TransitKind.kinds, Moved.allCases)
  func passingGoesOnInANewDirectoryWhenItWasMovedAway(
    _ kind: TransitKind, _ moved: Moved
  ) async throws {
    let site = try Site(kind)
    let (first, log) = (site.hole, Mail())
    try first.record(in: log, on: .queue(site.queue))
    // The first message of the new directory has the number of the last one, or a lower one.
    let count = moved == .group ? 1 : 3
    for number in 1...count { try await first.pass(number, to: .number) }
    await eventually { log.values.last == count }
    try rename(moved.path(in: site), to: "\(site.temporary.parent)/moved")
    #expect(try await first.pass(10, to: .number) == 1)
    #expect(try [site.temporary.path, site.path].map(mode) == [0o700, 0o700])
    await eventually("a message in the new directory is not heard") { log.values.last == 10 }

    let second = try site.makeOther()
    #expect(try await second.message(.number) == 10)
    #expect(try await second.pass(11, to: .number) == 2)
    #expect(try await first.message(.number) == 11)
    #expect(try await first.pass(12, to: .number) == 3)
    #expect(try await second.pass(13, to: .number) == 4)
    for hole in [first, second] { #expect(try await hole.history(.number).last?.sequence == 4) }
  }

  @Test(arguments: TransitKind.kinds, Moved.allCases)
  func aWormholeThatReadsAloneSeesTheNewDirectory(
    _ kind: TransitKind, _ moved: Moved
  ) async throws {
    let site = try Site(kind)
    try await site.hole.pass(1, to: .number)
    #expect(try await site.hole.message(.number) == 1)
    try rename(moved.path(in: site), to: "\(site.temporary.parent)/moved")
    #expect(try await site.hole.message(.number) == nil)
    try await site.hole.clearAll()
    try await site.makeOther().pass(2, to: .number)
    #expect(try await site.hole.message(.number) == 2)
    #expect(try await site.hole.history(.number).map(\.sequence) == [1])
  }

  @Test(arguments: TransitKind.kinds)
  func aNumberFromARemovedDirectoryStartsOver(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    let hole = site.hole
    for number in 1...10 { try await hole.pass(number, to: .number) }
    #expect(try await hole.history(.number, since: 10).isEmpty)
    try FileManager.default.removeItem(atPath: site.path)
    let early = try site.hear(.number, starting: .since(10))
    try await hole.pass(100, to: .number)
    await eventually("the earlier listener hears nothing") { early.values == [100] }
    let late = try site.hear(.number, starting: .since(10))
    await eventually("the new listener hears nothing") { late.values == [100] }
    var messages = try hole.messages(.number, starting: .since(10)).makeAsyncIterator()
    #expect(await messages.next()?.value == 100)
    try await hole.pass(101, to: .number)
    #expect(await messages.next()?.value == 101)
    await eventually { early.values == [100, 101] && late.values == [100, 101] }
  }

  // MARK: - One file

  @Test(arguments: [TransitKind.file, .coordinatedFile])
  func laterMessagesAreHeardOnceWhenTheNumbersAreLost(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    let hole = site.hole
    let log = try site.hear(.number)
    try await hole.pass(1, to: .number)
    await eventually { log.values == [1] }
    // The numbers given out again are lower than the ones that the listener knows.
    for _ in 1...5 { try await hole.ping(.number) }
    await eventually { log.entries.last?.sequence == 6 }
    try await site.settle()
    try #require(unlink(numbersFile(in: site)) == 0)
    for number in 10...13 {
      try await hole.pass(number, to: .number)
      await eventually("\(number) is not heard") { log.values.last == number }
    }
    try await site.settle()
    #expect(log.values == [1, 10, 11, 12, 13])
  }

  // MARK: - A log

  private func logFile(in site: Site) -> String { "\(site.path)/org.example.number.log" }

  /// Puts a database in the place of another one that is in use.
  private func replace(_ path: String, by copy: String) throws {
    ForeignProgram.remove(path)
    try rename(copy, to: path)
  }

  @Test func aLogThatWasRestoredFromACopyIsHeardAgain() async throws {
    let site = try Site(.log)
    let (hole, log) = (site.hole, try site.hear(.number))
    for number in 1...3 { try await hole.pass(number, to: .number) }
    try ForeignProgram.run("VACUUM INTO '\(site.path)/copy'", on: logFile(in: site))
    for number in 4...10 { try await hole.pass(number, to: .number) }
    await eventually { log.values.last == 10 }
    try await site.settle()
    try replace(logFile(in: site), by: "\(site.path)/copy")
    #expect(try await hole.pass(11, to: .number) == 4)
    await eventually("the listener stays deaf") { log.values.last == 11 }
    #expect(try await hole.pass(12, to: .number) == 5)
    await eventually { log.values.last == 12 }
    #expect(log.values == Array(1...12))
    #expect(log.entries.map(\.mayHaveMissed) == Array(1...12).map { $0 == 11 })
  }

  @Test func aLogInThePlaceOfAnotherIsHeardFromItsBeginning() async throws {
    let (site, other) = (try Site(.log), try Site(.log))
    let (hole, log) = (site.hole, try site.hear(.number))
    for number in 1...3 { try await hole.pass(number, to: .number) }
    await eventually { log.values == [1, 2, 3] }
    for number in 21...24 { try await other.hole.pass(number, to: .number) }
    try ForeignProgram.run("VACUUM INTO '\(site.path)/copy'", on: logFile(in: other))

    try replace(logFile(in: site), by: "\(site.path)/copy")
    #expect(try await hole.pass(25, to: .number) == 5)
    await eventually { log.values == [1, 2, 3] + Array(21...25) }
    #expect(log.entries.map(\.mayHaveMissed) == [1, 2, 3, 21, 22, 23, 24, 25].map { $0 == 21 })
  }

  @Test(arguments: [["-wal"], ["-shm", "-wal"]])
  func aLogWhoseNewestPartWasRemovedGoesOn(_ lost: [String]) async {
    // In its own process: other tests could close the log's connection, and change what is saved.
    await #expect(processExitsWith: .success) { [lost] in
      let tests = LostFilesTests()
      let site = try Site(.log, on: .daemon)
      let listener = try site.start("listen", "org.example.number", ["all", "0"])
      await listener.waitForLine("ready")
      for number in 101...103 { try await site.hole.pass(number, to: .number) }
      await listener.waitForOutput(" 103 0 ")
      for suffix in lost { try #require(unlink(tests.logFile(in: site) + suffix) == 0) }
      // Only a process that has the part open saves it.
      if lost == ["-wal"] {
        try site.hole.group.center.post("wormhole.org.example.group.wormhole.org.example.number")
        await eventually { access(tests.logFile(in: site) + "-wal", F_OK) == 0 }
      }
      for number in 104...105 {
        try await site.hole.pass(number, to: .number)
        await listener.waitForOutput(" \(number) 0 ")
      }
      // Without the shared memory, the part is lost unless the last to close it saves it.
      let kept = try await site.hole.history(.number).compactMap(\.value)
      #expect(kept == Array(101...105) || (lost.count == 2 && kept == [104, 105]), "\(kept)")
      #expect(try await site.run("print", "org.example.number") == ["105"])
    }
  }

  // MARK: - Writers that were killed halfway

  @Test(arguments: TransitKind.files)
  func allSeeNoMessageAfterHalfAClearing(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    let hole = site.hole
    try await hole.pass(1, to: .number)
    let log = try site.hear(.number)
    // The message is removed first, then the clearing gets its number.
    try #require(unlink(try site.messageFile()) == 0)
    for hole in [hole, try site.makeOther()] {
      #expect(try await hole.message(.number) == nil)
      #expect(try await hole.history(.number).isEmpty)
    }
    try await hole.clear(.number)
    await eventually { log.texts == ["cleared"] }
    #expect(try await hole.pass(2, to: .number) == 3)
    await eventually { log.values == [2] }
  }

  @Test(arguments: TransitKind.files)
  func allSeeTheOldMessageAfterHalfAPass(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    let hole = site.hole
    try await hole.pass(1, to: .number)
    let path = try site.messageFile()
    let saved = try Data(contentsOf: URL(fileURLWithPath: path))
    try await hole.pass(2, to: .number)
    // The number is given out first, then the message is put in place.
    try saved.write(to: URL(fileURLWithPath: path))
    #expect(try await hole.message(.number) == 1)
    #expect(try await hole.history(.number).map(\.sequence) == [1])
    let log = try site.hear(.number)
    #expect(try await hole.pass(3, to: .number) == 3)
    await eventually { log.values == [3] }
    #expect(log.entries.map(\.missed) == [1])
  }

  // MARK: - Writers that stop halfway

  @Test(arguments: TransitKind.files)
  func aPassTakesItsNumberFirstAndAClearingTakesItLast(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    try await site.hole.pass(1, to: .number)
    // A directory can be neither replaced nor removed like a file.
    let path = try site.messageFile()
    try #require(unlink(path) == 0 && mkdir(path, 0o700) == 0)
    await #expect(throws: WormholeError.self) { try await site.hole.pass(2, to: .number) }
    await #expect(throws: WormholeError.self) { try await site.hole.clear(.number) }
    try #require(rmdir(path) == 0)
    #expect(try await site.hole.pass(3, to: .number) == 3)
  }
}
