// Delivers the records of a name as they are stored.

package import DarwinNotify
package import DarwinNotifySupport

extension MessageStore {
  /// Calls a handler for each later record of a name, in the order of their numbers.
  ///
  /// If the handler is slower than the senders, it misses records that are no longer kept.
  ///
  /// - Parameters:
  ///   - name: the name, 1 to 255 bytes without a NUL.
  ///   - delivery: where the handler runs.
  ///   - handler: gets a record, or an error of the store, each once.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: ``WormholeError``.
  package func listen(
    to name: String, on delivery: Delivery,
    _ handler: @escaping @Sendable (Result<StoredRecord, WormholeError>) -> Void
  ) throws(WormholeError) -> NotificationObservation {
    try check(name)
    let feed = StoredFeed<Result<StoredRecord, WormholeError>>(
      path: path, queues: queues,
      observe: { (handler) throws(WormholeError) in try self.observe(name, handler) },
      makeReader: { () throws(WormholeError) in try PlainReader(of: name, in: self) })
    let pump = try StoredPump(of: feed, on: delivery, handler)
    let observation = NotificationObservation(pump)
    pump.begin(try feed.makeReader())
    return observation
  }
}

/// A position among the records of a name.
private struct PlainReader: StoredReader {
  private let name: String
  private let store: MessageStore
  private(set) var position: StoredPosition

  /// The position before the last page.
  private var before = StoredPosition()

  /// Finds the position after the last record.
  init(of name: String, in store: MessageStore) throws(WormholeError) {
    (self.name, self.store) = (name, store)
    let state = try store.newestState(of: name, within: nil)
    position = StoredPosition(number: state.last, identity: state.identity)
  }

  var readsNewest: Bool { true }

  mutating func goBack() {
    position = before
  }

  func element(for error: WormholeError) -> Result<StoredRecord, WormholeError>? {
    .failure(error)
  }

  mutating func read(
    within limit: WorkLimit?
  ) throws -> StoredPage<Result<StoredRecord, WormholeError>> {
    let batch = try store.records(of: name, following: &position, within: limit).batch
    before = position
    position.number = batch.records.last?.number ?? position.number
    return StoredPage(
      elements: batch.records.map { ($0.number, .success($0)) }[...], hasMore: batch.hasMore)
  }
}
