// Specifies the sequence of messages.
import Wormhole

@Suite(.bounded)
struct MessagesTests {
  @Test(arguments: TransitKind.kinds)
  func beginsWhereItIsAskedTo(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    for number in 1...5 { try await site.hole.pass(number, to: .number) }
    let all = kind.keepsAll
    let expected: [(Wormhole.Start, [UInt64])] = [
      (.new, [6]), (.last, [5, 6]), (.all, all ? [1, 2, 3, 4, 5, 6] : [5, 6]),
      (.since(3), all ? [4, 5, 6] : [5, 6]), (.since(5), [6]),
    ]
    var iterators = try expected.map {
      (try site.hole.messages(.number, starting: $0.0).makeAsyncIterator(), $0)
    }
    for index in iterators.indices {
      for number in iterators[index].1.1 where number < 6 {
        #expect(await iterators[index].0.next()?.sequence == number)
      }
    }
    try await site.hole.pass(6, to: .number)
    for index in iterators.indices {
      let message = await iterators[index].0.next()
      #expect(message?.sequence == 6 && message?.missed == 0)
    }
  }

  @Test(arguments: TransitKind.kinds)
  func givesEveryIteratorEveryMessage(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    let messages = try site.hole.messages(.number, starting: .new)
    var (first, second) = (messages.makeAsyncIterator(), messages.makeAsyncIterator())
    for number in 1...500 { try await site.hole.pass(number, to: .number) }
    for values in [await take(500, of: &first), await take(500, of: &second)] {
      #expect(values == (kind.keepsAll ? Array(1...500) : values) && values.last == 500)
    }
  }

  /// Takes messages until they stand for a number of them. Returns their values.
  private func take(
    _ count: UInt64, of iterator: inout Wormhole.Messages<Int>.Iterator
  ) async -> [Int] {
    var (values, total): ([Int], UInt64) = ([], 0)
    while total < count, let message = await iterator.next() {
      values += message.value.map { [$0] } ?? []
      total += 1 + message.missed
    }
    return values
  }

  @Test(arguments: TransitKind.kinds)
  func saysWhatIsNoValue(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    let text = MessageName<String>("org.example.number")
    var iterator = try site.hole.messages(.number, starting: .new).makeAsyncIterator()
    try await site.hole.ping(.number)
    #expect(await iterator.next().map { "\($0.content)" } == "ping")
    try await site.hole.pass("text", to: text)
    #expect(
      await iterator.next()?.error
        == .typeMismatch(name: text.rawValue, expected: "Int", found: "String"))
    try await site.hole.clear(.number)
    #expect(await iterator.next().map { "\($0.content)" } == "cleared")
    try await site.hole.pass(7, to: .number)
    #expect(await iterator.next()?.value == 7)
  }

  /// Reads messages with a cursor until there are some. Leaves the loop as requested.
  private func read(
    _ count: Int, in site: Site,
    leaving: @Sendable (Wormhole.Message<Int>) throws -> Void = { _ in }
  ) async throws -> [Int] {
    var values: [Int] = []
    for await message in try site.hole.messages(.number, starting: .cursor("place")) {
      values += message.value.map { [$0] } ?? []
      guard values.count == count else { continue }
      try leaving(message)
      break
    }
    return values
  }

  @Test func acknowledgesAMessageWhenTheNextIsAskedForOrWhenAskedTo() async throws {
    struct Failure: Error {}
    let site = try Site(.log)
    for number in 1...5 { try await site.hole.pass(number, to: .number) }
    #expect(try await read(1, in: site) == [1])
    await #expect(throws: Failure.self) { try await read(1, in: site) { _ in throw Failure() } }
    #expect(try await read(3, in: site) == [1, 2, 3])
    #expect(try await read(2, in: site) { try $0.acknowledge() } == [3, 4])
    #expect(try await read(1, in: site) == [5])
  }

  @Test func acknowledgesNothingWhenTheTaskIsCancelled() async throws {
    let site = try Site(.log)
    for number in 1...2 { try await site.hole.pass(number, to: .number) }
    let task = Task {
      var values: [Int?] = []
      for await message in try site.hole.messages(.number, starting: .cursor("place")) {
        values.append(message.value)
        withUnsafeCurrentTask { $0?.cancel() }
      }
      return values
    }
    #expect(try await task.value == [1])
    #expect(try await read(1, in: site) == [1])
  }

  @Test func hasOneIterationAtATimeWithACursor() async throws {
    let site = try Site(.log)
    try await site.hole.pass(1, to: .number)
    let messages = try site.hole.messages(.number, starting: .cursor("place"))
    var (first, second) = (messages.makeAsyncIterator(), messages.makeAsyncIterator())
    #expect(await second.next() == nil)
    #expect(await first.next()?.value == 1)
  }
}
