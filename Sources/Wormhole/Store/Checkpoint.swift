// Moves the write-ahead log into the file, away from those who write.

internal import DarwinNotifySupport
internal import Glibc

/// At most one checkpoint of a store at a time.
final class Checkpoint: Sendable {
  /// The pages of the log from which on it is due.
  static let pages: Int32 = 1_000

  private let isPending = Locked(false)

  /// Runs a checkpoint soon, on a thread of the store that reads.
  func run(in store: MessageStore) {
    let isFirst = isPending.withLock { isPending in
      defer { isPending = true }
      return !isPending
    }
    guard isFirst else { return }
    store.enqueue(.reading) { [weak store] in
      defer { self.isPending.withLock { $0 = false } }
      // A later one does what this one cannot.
      _ = try? store?.use(\.readers, within: nil) { (connection) throws(WormholeError) in
        try connection.executeInAnyCase("PRAGMA wal_checkpoint(PASSIVE)")
      }
    }
  }
}

extension SQLiteConnection {
  /// Makes sure that the write-ahead log is small enough for another transaction: as long as a
  /// reader is in the middle of a transaction, it only grows.
  ///
  /// - Throws: ``WormholeError/heldByReader`` if it is not.
  func limitStoreLog() throws(WormholeError) {
    guard logPages.pointee > WriteAheadLog.maxBytes / 4096 else { return }
    try limitWriteAheadLog()
  }
}
