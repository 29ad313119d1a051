// Specifies the path of elements from a store to a handler.
@testable import Wormhole

@Suite(.bounded)
struct StoredPumpTests {
  /// Has the elements 1 and 2; the latter is stored while the former is read.
  private struct Source: StoredReader {
    let hasChanged: @Sendable () -> Void
    var position = StoredPosition()

    mutating func read(within limit: WorkLimit?) -> StoredPage<UInt64> {
      guard position.number < 2 else { return StoredPage() }
      position.number += 1
      if position.number == 1 { hasChanged() }
      return StoredPage(elements: [(position.number, position.number)])
    }
  }

  /// Has twenty elements at once, more than a pump delivers in one turn.
  private struct LongPage: StoredReader {
    var position = StoredPosition()
    var readsNewest: Bool { true }

    mutating func read(within limit: WorkLimit?) -> StoredPage<UInt64> {
      guard position.number == 0 else { return StoredPage() }
      position.number = 20
      return StoredPage(elements: (1...20).map { ($0, $0) }[...])
    }

    mutating func goBack() { position.number = 0 }
  }

  /// Has one element, then only an error that does not pass.
  private struct Broken: StoredReader {
    let reads: Log<Void>
    var position = StoredPosition()

    mutating func read(within limit: WorkLimit?) throws -> StoredPage<UInt64> {
      reads.append(())
      guard position.number == 0 else { throw WormholeError.damaged }
      position.number = 1
      return StoredPage(elements: [(1, 1)], hasMore: true)
    }

    func element(for error: WormholeError) -> UInt64? { 0 }
  }

  private let heard = Log<UInt64>()
  private let notify = Locked<(@Sendable () -> Void)?>(nil)

  private func pump(
    _ site: Site, _ reader: some StoredReader<UInt64>,
    _ handler: @escaping @Sendable (UInt64) -> Void
  ) throws -> StoredPump<UInt64> {
    let store = site.store
    let feed = StoredFeed<UInt64>(
      path: store.path, queues: store.queues,
      observe: { [notify] (handler) throws(WormholeError) in
        notify.withLock { $0 = handler }
        return try store.observe("name") {}
      }, makeReader: { reader })
    let pump = try StoredPump(of: feed, on: .inline, handler)
    pump.begin(reader)
    return pump
  }

  @Test func aChangeDuringAReadIsReadAfterIt() async throws {
    let source = Source { [notify] in notify.withLock { $0 }?() }
    let pump = try pump(try Site(), source) { [heard] in heard.append($0) }
    await eventually { heard.entries == [1, 2] }
    pump.cancel()
  }

  @Test func anErrorThatDoesNotPassIsNotTriedAgainWithoutAChange() async throws {
    let (site, reads) = (try Site(), Log<Void>())
    let pump = try pump(site, Broken(reads: reads)) { [heard] in heard.append($0) }
    await eventually { heard.entries == [1, 0] }
    for _ in 1...5 { try await site.settle() }
    #expect(reads.entries.count == 2)
    notify.withLock { $0 }?()
    await eventually { reads.entries.count == 3 }
    pump.cancel()
  }

  @Test func aPageThatHasBegunIsDeliveredToItsEndDespiteAChange() async throws {
    let pump = try pump(try Site(), LongPage()) { [heard, notify] number in
      heard.append(number)
      if number == 1 { notify.withLock { $0 }?() }
    }
    await eventually { heard.entries.last == 20 }
    #expect(heard.entries == Array(1...20))
    pump.cancel()
  }
}
