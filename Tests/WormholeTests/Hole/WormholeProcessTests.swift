// Specifies messages between processes.
import Wormhole

@Suite(.bounded)
struct WormholeProcessTests {
  private let name = "org.example.number"

  // MARK: - One passes, another listens

  @Test(arguments: Kept.allCases)
  func aListenerMayHearOtherProcessesOnly(_ kind: Kept) async throws {
    let site = try Site(kind, on: .usual)
    let log = Mail()
    let label = Listener<Wormhole.Message<Int>>("label", on: .thread) { log.append($0) }
    try site.hole.bind(label, to: .number, from: .others, starting: .new)
    let all = try site.hole.messages(.number, from: .others, starting: .new)
    try await site.hole.pass(1, to: .number)
    _ = try await site.run("pass", "org.example.number", [2, 1])
    await eventually { log.values == [2] }
    var iterator = all.makeAsyncIterator()
    #expect(try await iterator.next()?.value == 2)
    try await site.hole.pass(3, to: .number)
    _ = try await site.run("pass", "org.example.number", [4, 1])
    await eventually { log.values == [2, 4] }
  }

  @Test(arguments: Kept.allCases)
  func aMessageReachesAnotherProcessOnce(_ kind: Kept) async throws {
    let site = try Site(kind, on: .usual)
    let listener = try site.start("listen", name, ["none", 3])
    await listener.waitForLine("ready")
    let first = try site.start("pass", name, [7, 1])
    await first.waitForSuccess()
    await listener.waitForLine("1 7 0 \(first.processIdentifier) wormhole-peer")
    let second = try site.start("ping", name)
    await second.waitForSuccess()
    await listener.waitForLine("2 ping 0 \(second.processIdentifier) wormhole-peer")
    let third = try site.start("clear", name)
    await third.waitForSuccess()
    await listener.waitForSuccess()
    #expect(listener.lines.count == 4)
    #expect(listener.lines.last == "3 cleared 0 \(third.processIdentifier) wormhole-peer")
  }

  @Test func thousandsOfMessagesArriveInTheirOrder() async throws {
    let site = try Site(.history, on: .usual)
    let listener = try site.start("listen", name, ["none", 5000])
    await listener.waitForLine("ready")
    let passer = try site.start("pass", name, [1, 5000])
    await passer.waitForSuccess()
    #expect(passer.lines == (1...5000).map(String.init))
    await listener.waitForSuccess()
    let heard = listener.lines.dropFirst()
    let suffix = "0 \(passer.processIdentifier) wormhole-peer"
    #expect(heard.elementsEqual((1...5000).map { "\($0) \($0) \(suffix)" }))
  }

  @Test(arguments: Kept.allCases)
  func aStoppedListenerHearsTheRestInItsOrderAndNothingTwice(_ kind: Kept) async throws {
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
    if kind.isAll { #expect(heard.count == count) }
  }

  // MARK: - What is stored

  @Test(arguments: Kept.allCases)
  func aProgramThatWasNotRunningFindsWhatWasPassed(_ kind: Kept) async throws {
    let site = try Site(kind)
    _ = try await site.run("pass", name, [1, 20])
    #expect(try await site.run("print", name) == ["20"])
    #expect(try await site.hole.message(.number) == 20)
    let log = Mail()
    try site.hole.bind(
      Listener("label", on: .inline) { log.append($0) }, to: .number, starting: .lastOrAbsent)
    await eventually { log.values == [20] }
    let numbers = try await site.hole.history(.number).compactMap(\.value)
    #expect(numbers == (kind.isAll ? Array(1...20) : [20]))
  }

  @Test(arguments: Kept.allCases)
  func writersNeverShareANumber(_ kind: Kept) async throws {
    let site = try Site(kind)
    let count = 300
    let writers = try [1, 10_000].map { try site.start("pass", name, [$0, count]) }
    for writer in writers { await writer.waitForSuccess() }
    let numbers = writers.map { $0.lines.compactMap(Int.init) }
    for list in numbers { #expect(zip(list, list.dropFirst()).allSatisfy { $0 < $1 }) }
    #expect(numbers.flatMap { $0 }.sorted() == Array(1...2 * count))
    let last = try await #require(try site.hole.message(.number))
    #expect([count, 9999 + count].contains(last))
    if kind.isAll {
      let values = try await site.hole.history(.number).compactMap(\.value)
      #expect(values.filter { $0 < 10_000 } == Array(1...count))
      #expect(values.filter { $0 >= 10_000 } == Array(10_000..<10_000 + count))
    }
  }

  @Test(arguments: Kept.allCases)
  func noUpdateIsLost(_ kind: Kept) async throws {
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
  }

  // MARK: - Processes that are killed

  @Test(arguments: Kept.allCases, [10, 1 << 20])
  func aKilledWriterLeavesTheOldValueOrTheNew(_ kind: Kept, _ bytes: Int) async throws {
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
      let names = try site.store.names().filter(\.hasMessage).map(\.name)
      #expect(names == ["org.example.bytes"])
      let number = try await site.hole.ping(.bytes)
      #expect(number > last)
      last = number
    }
    try await site.hole.pass(Data([1]), to: .bytes)
    #expect(try await site.hole.message(.bytes) == Data([1]))
  }

  @Test(arguments: Kept.allCases)
  func aWriterWithoutRoomLeavesTheOldValue(_ kind: Kept) async throws {
    let site = try Site(kind)
    try await site.hole.pass(Data([1]), to: .bytes)
    let lines = try await site.run("limit-files", "org.example.bytes", [1 << 20, 1 << 19])
    #expect(["too long", "no room"].contains(lines.first))
    #expect(try await site.hole.message(.bytes) == Data([1]))
  }

  @Test func aWriterThatDoesNotGoOnKeepsOthersOutUntilItIsKilled() async throws {
    let site = try Site()
    try await site.hole.pass(7, to: .number)
    let writer = try await site.startHolder()
    let waiting = Task.detached {
      try await site.hole.pass(8, to: .number, timeout: .seconds(600))
    }
    // Readers wait for nobody.
    #expect(try await site.hole.message(.number) == 7)
    var messages = try site.hole.messages(.number).makeAsyncIterator()
    #expect(try await messages.next()?.value == 7)
    let error = await #expect(throws: WormholeError.self) {
      try await site.makeOther().pass(9, to: .other, timeout: .milliseconds(20))
    }
    #expect(error?.code == .timedOut)
    kill(writer.processIdentifier, SIGKILL)
    #expect(try await waiting.value == 2)
  }

  // MARK: - Cursors

  @Test func aKilledReaderHearsOnlyTheMessageThatItWasHandlingAgain() async throws {
    let site = try Site(.history, on: .usual)
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
    let site = try Site(.history, on: .usual)
    try await site.hole.pass(1, to: .number)
    let reader = try site.start("listen", name, ["place", 0])
    await reader.waitForLine("ready")
    #expect(throws: WormholeError.cursorInUse) {
      try site.hole.listen(.number, starting: .cursor("place")) { _ in }
    }
    #expect(throws: WormholeError.cursorInUse) {
      try site.hole.messages(.number, starting: .cursor("place"))
    }
    _ = try site.hole.messages(.number, starting: .cursor("another place"))
    await reader.waitForOutput("1 1 0 \(getpid()) ")
    kill(reader.processIdentifier, SIGKILL)
    _ = await reader.end()
    _ = try site.hole.messages(.number, starting: .cursor("place"))
  }

  // MARK: - Senders

  @Test(arguments: Kept.allCases)
  func aProcessOfAnotherNamespaceWithTheSamePidIsAnother(_ kind: Kept) async throws {
    let site = try Site(kind)
    let log = try site.hear(.number, from: .others)
    // Stores what such a process would, where it would.
    let own = StoredSender.current
    let other = StoredSender(pid: own.pid, process: own.process ^ 1)
    try site.store.pass(RecordDraft(.ping), to: "org.example.number")
    try site.store.pass(RecordDraft(.ping, sender: other), to: "org.example.number")
    try? site.hole.group.center.post("wormhole.org.example.group.wormhole.org.example.number")
    await eventually { !log.entries.isEmpty }
    #expect(log.entries.map(\.sender) == [Sender(process: own.pid)])
  }
}
