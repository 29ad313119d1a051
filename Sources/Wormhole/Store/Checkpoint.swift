// Moves the write-ahead log into the file without delaying writers.

internal import DarwinNotifySupport
internal import Glibc

/// At most one checkpoint of a store at a time.
final class Checkpoint: Sendable {
  /// The number of pages in the log at which a checkpoint is due.
  static let pages: Int32 = 1_000

  private let isPending = Locked(false)

  /// Soon runs a checkpoint, on a reading thread of the store.
  func run(in store: MessageStore) {
    let isFirst = isPending.withLock { isPending in
      defer { isPending = true }
      return !isPending
    }
    guard isFirst else { return }
    store.enqueue(.reading) { [weak store] in
      defer { self.isPending.withLock { $0 = false } }
      // A later checkpoint will do what this one cannot.
      _ = try? store?.connections.use(\.readers, within: nil) {
        (connection) throws(WormholeError) in
        try connection.executeInAnyCase("PRAGMA wal_checkpoint(PASSIVE)")
      }
    }
  }
}

extension SQLiteConnection {
  /// Checks that the write-ahead log is small enough for another transaction: while a reader is in
  /// the middle of a transaction, it only grows.
  ///
  /// - Throws: ``WormholeError/heldByReader`` if it is not.
  func limitStoreLog() throws(WormholeError) {
    guard logPages.pointee > WriteAheadLog.maxBytes / 4096 else { return }
    try limitWriteAheadLog()
  }
}
