// Specifies the sequence of messages.
import Wormhole

@Suite(.bounded)
struct MessagesTests {
  @Test(arguments: Kept.allCases)
  func beginsWhereItIsAskedTo(_ kind: Kept) async throws {
    let site = try Site(kind)
    for number in 1...5 { try await site.hole.pass(number, to: .number) }
    let all = kind.isAll
    let expected: [(Wormhole.Start, [UInt64])] = [
      (.new, [6]), (.last, [5, 6]), (.all, all ? [1, 2, 3, 4, 5, 6] : [5, 6]),
      (.since(3), all ? [4, 5, 6] : [5, 6]), (.since(5), [6]),
    ]
    var iterators = try expected.map {
      (try site.hole.messages(.number, starting: $0.0).makeAsyncIterator(), $0)
    }
    for index in iterators.indices {
      for number in iterators[index].1.1 where number < 6 {
        #expect(try await iterators[index].0.next()?.sequence == number)
      }
    }
    try await site.hole.pass(6, to: .number)
    for index in iterators.indices {
      let message = try await iterators[index].0.next()
      #expect(message?.sequence == 6 && message?.missed == 0)
    }
  }

  @Test(arguments: Kept.allCases)
  func givesEveryIteratorEveryMessage(_ kind: Kept) async throws {
    let site = try Site(kind)
    let messages = try site.hole.messages(.number, starting: .new)
    var (first, second) = (messages.makeAsyncIterator(), messages.makeAsyncIterator())
    for number in 1...500 { try await site.hole.pass(number, to: .number) }
    for values in [try await take(500, of: &first), try await take(500, of: &second)] {
      #expect(values == (kind.isAll ? Array(1...500) : values) && values.last == 500)
    }
  }

  /// Takes messages until they stand for a number of them. Returns their values.
  private func take(
    _ count: UInt64, of iterator: inout StoredSequence<Wormhole.Message<Int>>.Iterator
  ) async throws -> [Int] {
    var (values, total): ([Int], UInt64) = ([], 0)
    while total < count, let message = try await iterator.next() {
      values += message.value.map { [$0] } ?? []
      total += 1 + message.missed
    }
    return values
  }

  @Test(arguments: Kept.allCases)
  func saysWhatIsNoValue(_ kind: Kept) async throws {
    let site = try Site(kind)
    let text = MessageName<String>("org.example.number")
    var iterator = try site.hole.messages(.number, starting: .new).makeAsyncIterator()
    try await site.hole.ping(.number)
    #expect(try await iterator.next().map { "\($0.content)" } == "ping")
    try await site.hole.pass("text", to: text)
    #expect(
      try await iterator.next()?.error
        == .typeMismatch(name: text.rawValue, expected: "Int", found: "String"))
    try await site.hole.clear(.number)
    #expect(try await iterator.next().map { "\($0.content)" } == "cleared")
    try await site.hole.pass(7, to: .number)
    #expect(try await iterator.next()?.value == 7)
  }

  /// Reads messages with a cursor until there are some. Leaves the loop as requested.
  private func read(
    _ count: Int, in site: Site,
    leaving: @Sendable (Wormhole.Message<Int>) async throws -> Void = { _ in }
  ) async throws -> [Int] {
    var values: [Int] = []
    for try await message in try site.hole.messages(.number, starting: .cursor("place")) {
      values += message.value.map { [$0] } ?? []
      guard values.count == count else { continue }
      try await leaving(message)
      break
    }
    return values
  }

  @Test func acknowledgesAMessageWhenTheNextIsAskedForOrWhenAskedTo() async throws {
    struct Failure: Error {}
    let site = try Site(.history)
    for number in 1...5 { try await site.hole.pass(number, to: .number) }
    #expect(try await read(1, in: site) == [1])
    await #expect(throws: Failure.self) { try await read(1, in: site) { _ in throw Failure() } }
    #expect(try await read(3, in: site) == [1, 2, 3])
    #expect(try await read(2, in: site) { try await $0.acknowledge() } == [3, 4])
    #expect(try await read(1, in: site) == [5])
  }

  @Test func acknowledgesNothingWhenTheTaskIsCancelled() async throws {
    let site = try Site(.history)
    for number in 1...2 { try await site.hole.pass(number, to: .number) }
    let task = Task {
      var values: [Int?] = []
      for try await message in try site.hole.messages(.number, starting: .cursor("place")) {
        values.append(message.value)
        withUnsafeCurrentTask { $0?.cancel() }
      }
      return values
    }
    #expect(try await task.value == [1])
    #expect(try await read(1, in: site) == [1])
  }

  @Test func hasOneIterationAtATimeWithACursor() async throws {
    let site = try Site(.history)
    try await site.hole.pass(1, to: .number)
    let messages = try site.hole.messages(.number, starting: .cursor("place"))
    var (first, second) = (messages.makeAsyncIterator(), messages.makeAsyncIterator())
    await #expect(throws: WormholeError.cursorInUse) { try await second.next() }
    #expect(try await second.next() == nil)
    #expect(try await first.next()?.value == 1)
  }
}
