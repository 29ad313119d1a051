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

  // MARK: - The directory

  @Test(arguments: Kept.allCases, Moved.allCases)
  func passingGoesOnInANewDirectoryWhenItWasMovedAway(
    _ kind: Kept, _ moved: Moved
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

  @Test(arguments: Kept.allCases, Moved.allCases)
  func aWormholeThatReadsAloneSeesTheNewDirectory(
    _ kind: Kept, _ moved: Moved
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

  @Test(arguments: Kept.allCases)
  func aNumberFromARemovedDirectoryStartsOver(_ kind: Kept) async throws {
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
    #expect(try await messages.next()?.value == 100)
    try await hole.pass(101, to: .number)
    #expect(try await messages.next()?.value == 101)
    await eventually { early.values == [100, 101] && late.values == [100, 101] }
  }

  // MARK: - The file

  private func logFile(in site: Site) -> String { site.store.path }

  /// Puts a database in the place of another one that is in use.
  private func replace(_ path: String, by copy: String) throws {
    ForeignProgram.remove(path)
    try rename(copy, to: path)
  }

  @Test func aStoreThatWasRestoredFromACopyIsHeardAgain() async throws {
    let site = try Site(.history)
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

  @Test func aCopyIsNoticedThoughItsNumbersHaveCaughtUp() async throws {
    let site = try Site(.history)
    let (hole, log) = (site.hole, try site.hear(.number))
    for number in 1...3 { try await hole.pass(number, to: .number) }
    try ForeignProgram.run("VACUUM INTO '\(site.path)/copy'", on: logFile(in: site))
    try await hole.pass(4, to: .number)
    await eventually { log.values.last == 4 }
    try await site.settle()
    try replace(logFile(in: site), by: "\(site.path)/copy")
    #expect(try await hole.pass(5, to: .number) == 4)
    await eventually("the listener stays deaf") { log.values == Array(1...5) }
    try await hole.pass(6, to: .number)
    await eventually { log.values == Array(1...6) }
    #expect(log.entries.map(\.mayHaveMissed) == Array(1...6).map { $0 == 5 })
  }

  @Test @MainActor func aCopyOfTheDefaultsIsNoticedThoughItsNumbersHaveCaughtUp() async throws {
    let site = try Site()
    let (defaults, path) = (site.temporary.group.defaults, Keeper.defaults.path(in: site))
    try await defaults.set(1, for: .number)
    try ForeignProgram.run("VACUUM INTO '\(path).copy'", on: path)
    let number = try ObservedDefault(.number, in: defaults)
    try await defaults.set(2, for: .number)
    await eventually { await number.value == 2 }
    try await site.settle(.main)
    try replace(path, by: "\(path).copy")
    try await defaults.set(3, for: .number)
    await eventually("the value is not followed") { await number.value == 3 }
  }

  @Test func aStoreInThePlaceOfAnotherIsHeardFromItsBeginning() async throws {
    let (site, other) = (try Site(.history), try Site(.history))
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

  /// A message comes while those of the new file wait for listeners that are busy.
  @Test(arguments: [true, false])
  func busyListenersHearWhatAnotherFileKeeps(isEarlierState: Bool) async throws {
    let (site, other) = (try Site(.history), try Site(.history))
    let (log, numbers) = (try site.hear(.number), Log<UInt64?>())
    let name = MessageName<Int>.number.rawValue
    let observation = try site.store.listen(to: name, on: .queue(site.queue)) {
      numbers.append(try? $0.get().number)
    }
    let witness = try site.hear(.number, on: .thread)
    for hole in [site.hole, other.hole] {
      for number in 1...2 { try await hole.pass(number, to: .number) }
    }
    let source = isEarlierState ? site : other
    try ForeignProgram.run("VACUUM INTO '\(site.path)/copy'", on: logFile(in: source))
    for number in 3...10 { try await site.hole.pass(number, to: .number) }
    await eventually { log.values.last == 10 && numbers.entries.last == 10 }
    try await site.settle()

    let mayHear = DispatchSemaphore(value: 0)
    defer { mayHear.signal() }
    site.queue.async { mayHear.wait() }
    try replace(logFile(in: site), by: "\(site.path)/copy")
    for number in 11...12 {
      #expect(try await site.hole.pass(number, to: .number) == UInt64(number - 8))
      await eventually { witness.values.last == number }
      // One that reads only now would find two messages, of which it takes the last for new.
      try await site.settle(DispatchQueue(label: "free"))
    }
    mayHear.signal()
    await eventually { log.values.last == 12 && numbers.entries.last == 4 }
    #expect(log.values.dropFirst(10) == (isEarlierState ? [11, 12] : [1, 2, 11, 12]))
    #expect(log.entries.map(\.mayHaveMissed).firstIndex(of: true) == 10)
    #expect(log.entries.count(where: \.mayHaveMissed) == 1)
    #expect(numbers.entries.dropFirst(10) == (isEarlierState ? [3, 4] : [1, 2, 3, 4]))
    observation.cancel()
  }
}
