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

  @Test func aChangeDuringAReadIsReadAfterIt() async throws {
    let (site, heard) = (try Site(), Log<UInt64>())
    let store = site.store
    let notify = Locked<(@Sendable () -> Void)?>(nil)
    let feed = StoredFeed<UInt64>(
      path: store.path, queues: store.queues,
      observe: { (handler) throws(WormholeError) in
        notify.withLock { $0 = handler }
        return try store.observe("name") {}
      }, makeReader: { Source { notify.withLock { $0 }?() } })
    let pump = try StoredPump(of: feed, on: .inline) { heard.append($0) }
    pump.begin(try feed.makeReader())
    await eventually { heard.entries == [1, 2] }
    pump.cancel()
  }
}
