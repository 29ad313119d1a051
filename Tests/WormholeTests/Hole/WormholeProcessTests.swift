// Specifies messages between processes.
import Wormhole

@Suite(.bounded)
struct WormholeProcessTests {
  private let name = "org.example.number"

  // MARK: - One passes, another listens

  @Test(arguments: TransitKind.kinds)
  func aListenerMayHearOtherProcessesOnly(_ kind: TransitKind) async throws {
    let site = try Site(kind, on: .usual)
    let log = Mail()
    let label = Listener<Wormhole.Message<Int>>("label", on: .thread) { log.append($0) }
    try site.hole.bind(label, to: .number, from: .others, starting: .new)
    let all = try site.hole.messages(.number, from: .others, starting: .new)
    try await site.hole.pass(1, to: .number)
    _ = try await site.run("pass", "org.example.number", [2, 1])
    await eventually { log.values == [2] }
    var iterator = all.makeAsyncIterator()
    #expect(await iterator.next()?.value == 2)
    try await site.hole.pass(3, to: .number)
    _ = try await site.run("pass", "org.example.number", [4, 1])
    await eventually { log.values == [2, 4] }
  }

  @Test(arguments: TransitKind.kinds)
  func aMessageReachesAnotherProcessOnce(_ kind: TransitKind) async throws {
    let site = try Site(kind, on: .usual)
    let listener = try site.start("listen", name, ["none", 3])
    await listener.waitForLine("ready")
    let first = try site.start("pass", name, [7, 1])
    await first.waitForSuccess()
    await listener.waitForLine("1 7 0 \(first.processIdentifier) \(geteuid())")
    let second = try site.start("ping", name)
    await second.waitForSuccess()
    await listener.waitForLine("2 ping 0 \(second.processIdentifier) \(geteuid())")
    let third = try site.start("clear", name)
    await third.waitForSuccess()
    await listener.waitForSuccess()
    #expect(listener.lines.count == 4)
    #expect(listener.lines.last == "3 cleared 0 \(third.processIdentifier) \(geteuid())")
  }

  @Test func thousandsOfMessagesArriveInTheirOrder() async throws {
    let site = try Site(.log, on: .usual)
    let listener = try site.start("listen", name, ["none", 5000])
    await listener.waitForLine("ready")
    let passer = try site.start("pass", name, [1, 5000])
    await passer.waitForSuccess()
    #expect(passer.lines == (1...5000).map(String.init))
    await listener.waitForSuccess()
    let heard = listener.lines.dropFirst()
    let suffix = "0 \(passer.processIdentifier) \(geteuid())"
    #expect(heard.elementsEqual((1...5000).map { "\($0) \($0) \(suffix)" }))
  }

  @Test(arguments: TransitKind.kinds)
  func aStoppedListenerHearsTheRestInItsOrderAndNothingTwice(_ kind: TransitKind) async throws {
    let site = try Site(kind, on: .usual)
    let count = 500
    let listener = try site.start("listen", name, ["none", count])
    await listener.waitForLine("ready")
    for number in 1...count {
      if number == 100 { kill(listener.processIdentifier, SIGSTOP) }
      try await site.hole.pass(number, to: .number)
    }
    kill(listener.processIdentifier, SIGCONT)
    await listener.waitForSuccess()
    let heard = listener.lines.dropFirst().map { $0.split(separator: " ").compactMap { Int($0) } }
    #expect(heard.last?[0] == count)
    #expect(zip(heard, heard.dropFirst()).allSatisfy { $0[0] < $1[0] })
    #expect(heard.allSatisfy { $0[0] == $0[1] })
    #expect(heard.reduce(0) { $0 + 1 + $1[2] } == count)
    if kind.keepsAll { #expect(heard.count == count) }
  }

  // MARK: - What is stored

  @Test(arguments: TransitKind.allCases)
  func aProgramThatWasNotRunningFindsWhatWasPassed(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    _ = try await site.run("pass", name, [1, 20])
    #expect(try await site.run("print", name) == ["20"])
    #expect(try await site.hole.message(.number) == 20)
    let log = Mail()
    try site.hole.bind(
      Listener("label", on: .inline) { log.append($0) }, to: .number, starting: .lastOrAbsent)
    #expect(log.values == [20])
    let numbers = try await site.hole.history(.number).compactMap(\.value)
    #expect(numbers == (kind.keepsAll ? Array(1...20) : [20]))
  }

  @Test(arguments: TransitKind.allCases)
  func writersNeverShareANumber(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    let count = kind == .durableFile || kind == .durableLog ? 50 : 300
    let writers = try [1, 10_000].map { try site.start("pass", name, [$0, count]) }
    for writer in writers { await writer.waitForSuccess() }
    let numbers = writers.map { $0.lines.compactMap(Int.init) }
    for list in numbers { #expect(zip(list, list.dropFirst()).allSatisfy { $0 < $1 }) }
    #expect(numbers.flatMap { $0 }.sorted() == Array(1...2 * count))
    let last = try await #require(try site.hole.message(.number))
    #expect([count, 9999 + count].contains(last))
    if kind.keepsAll {
      let values = try await site.hole.history(.number).compactMap(\.value)
      #expect(values.filter { $0 < 10_000 } == Array(1...count))
      #expect(values.filter { $0 >= 10_000 } == Array(10_000..<10_000 + count))
    }
  }

  @Test(arguments: TransitKind.coordinated)
  func noUpdateIsLost(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    let writers = try (1...4).map { _ in try site.start("increase", name, [500]) }
    // Threads of this process write at the same time.
    try await withThrowingTaskGroup { tasks in
      for _ in 1...4 {
        tasks.addTask {
          for _ in 1...100 { try await site.hole.update(.number) { $0 = ($0 ?? 0) + 1 } }
        }
      }
      try await tasks.waitForAll()
    }
    for writer in writers { await writer.waitForSuccess() }
    #expect(try await site.hole.message(.number) == 2400)
    #expect(try await site.hole.ping(.number) == 2401)
  }

  @Test func theBusCarriesTheNameAlone() async throws {
    let site = try Site(on: .usual)
    let peer = try #require(site.bus).makePeer()
    try await site.hole.pass(7, to: .number)
    #expect(peer.nextPostedName() == "wormhole.org.example.group.wormhole.org.example.number")
    try await site.hole.ping(MessageName<Int>(String(repeating: "x", count: 1000)))
    #expect(peer.nextPostedName().rawValue.hasPrefix("wormhole."))
  }

  // MARK: - Processes that are killed

  @Test(arguments: TransitKind.kinds, [10, 5 << 20])
  func aKilledWriterLeavesTheOldValueOrTheNew(_ kind: TransitKind, _ bytes: Int) async throws {
    let site = try Site(kind)
    var last: UInt64 = 0
    for _ in 1...3 {
      let writer = try site.start("flood", "org.example.bytes", [bytes])
      await writer.waitForLine("ready")
      try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000)))
      kill(writer.processIdentifier, SIGKILL)
      _ = await writer.end()
      let data = try await #require(try site.hole.message(.bytes))
      #expect(data.count == bytes && data == Data(repeating: data[0], count: bytes))
      let names = try kind.transit.names(in: site.hole.directory)
      #expect(names == ["org.example.bytes"])
      let number = try await site.hole.ping(.bytes)
      #expect(number > last)
      last = number
    }
    try await site.hole.pass(Data([1]), to: .bytes)
    #expect(try await site.hole.message(.bytes) == Data([1]))
    #expect(!site.files.contains { $0.hasSuffix(".new") })
  }

  @Test(arguments: TransitKind.files)
  func aWriterWithoutRoomLeavesTheOldValue(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    try await site.hole.pass(Data([1]), to: .bytes)
    let lines = try await site.run("limit-files", "org.example.bytes", [1 << 20, 1 << 19])
    #expect(lines == ["too long"])
    #expect(try await site.hole.message(.bytes) == Data([1]))
    #expect(!site.files.contains { $0.hasSuffix(".new") })
  }

  @Test func aStoppedWriterKeepsOthersOutUntilItIsKilled() async throws {
    let site = try Site(.coordinatedFile)
    try await site.hole.pass(7, to: .number)
    let writer = try await site.startHolder()
    let waiting = Task.detached { try await site.hole.message(.number, timeout: .seconds(600)) }
    #expect(try await site.hole.pass(1, to: .other) == 1)
    kill(writer.processIdentifier, SIGKILL)
    #expect(try await waiting.value == 7)
    #expect(try await site.hole.pass(8, to: .number) == 2)
  }

  @Test func aStoppedWriterGoesOn() async throws {
    let site = try Site(.coordinatedFile)
    try await site.hole.pass(7, to: .number)
    let writer = try await site.startHolder()
    let passing = Task.detached {
      try await site.hole.pass(100, to: .number, timeout: .seconds(600))
    }
    kill(writer.processIdentifier, SIGCONT)
    await writer.waitForSuccess()
    #expect(try await passing.value == 3)
    #expect(try await site.hole.message(.number) == 100)
  }

  @Test func aListenerThatBeginsWaitsForAStoppedWriter() async throws {
    let site = try Site(.coordinatedFile)
    try await site.hole.pass(7, to: .number)
    let writer = try await site.startHolder()
    try edit(site.messageFile()) { $0 = Data("text".utf8) }
    let countLocks = { @Sendable in
      (try? openFiles(in: site.path).filter { $0.hasSuffix(".mailbox") }.count) ?? 0
    }
    let before = countLocks()
    let beginning = Task.detached { _ = try site.hole.messages(.number, starting: .new) }
    await eventually("the listener does not wait") { countLocks() > before }
    // A reader that begins later gives up sooner.
    let mailbox = try FileTransit(coordinated: true).openMailbox(
      for: name, in: site.hole.directory)
    expect(.busy) { try mailbox.records(after: 0, limit: 1) }
    kill(writer.processIdentifier, SIGKILL)
    try await beginning.value
  }

  // MARK: - Cursors

  @Test func aKilledReaderHearsOnlyTheMessageThatItWasHandlingAgain() async throws {
    let site = try Site(.log, on: .usual)
    for number in 1...20 { try await site.hole.pass(number, to: .number) }
    var heard: [Int] = []
    for last in [5, 6, 12, 0] {
      let reader = try site.start("listen", name, ["place", last == 0 ? 9 : 0, last])
      let outcome = await reader.end()
      #expect(outcome.status == (last == 0 ? 0 : SIGKILL))
      heard += reader.lines.compactMap { $0.split(separator: " ").first.flatMap { Int($0) } }
    }
    #expect(heard == Array(1...5) + [5, 6] + Array(6...12) + Array(12...20))
  }

  @Test func aCursorHasOneReaderAtATime() async throws {
    let site = try Site(.log, on: .usual)
    try await site.hole.pass(1, to: .number)
    let reader = try site.start("listen", name, ["place", 0])
    await reader.waitForLine("ready")
    #expect(throws: WormholeError.cursorInUse("place")) {
      try site.hole.listen(.number, starting: .cursor("place")) { _ in }
    }
    #expect(throws: WormholeError.cursorInUse("place")) {
      try site.hole.messages(.number, starting: .cursor("place"))
    }
    _ = try site.hole.messages(.number, starting: .cursor("another place"))
    await reader.waitForLine("1 1 0 \(getpid()) \(geteuid())")
    kill(reader.processIdentifier, SIGKILL)
    _ = await reader.end()
    _ = try site.hole.messages(.number, starting: .cursor("place"))
  }

  // MARK: - Senders

  @Test(arguments: TransitKind.kinds)
  func aProcessOfAnotherNamespaceWithTheSamePidIsAnother(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    let log = try site.hear(.number, from: .others)
    // Stores what such a process would, where it would.
    let own = Wormhole.Sender.current
    let other = Wormhole.Sender(pid: own.pid, uid: own.uid, process: own.process ^ 1)
    let mailbox = try kind.transit.openMailbox(for: "org.example.number", in: site.hole.directory)
    _ = try mailbox.append(Wormhole.Record(.ping, sender: own))
    _ = try mailbox.append(Wormhole.Record(.ping, sender: other))
    try? site.hole.group.center.post("wormhole.org.example.group.wormhole.org.example.number")
    await eventually { log.entries.contains { $0.sender == other } }
    #expect(log.entries.map(\.sender) == [other])
  }
}
