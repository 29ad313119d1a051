// Moves the write-ahead log into the file without delaying writers.

internal import DarwinNotifySupport
internal import Glibc

/// At most one checkpoint of a store at a time.
final class Checkpoint: Sendable {
  /// The number of pages in the log at which a checkpoint is due.
  static let pages: Int32 = 1_000

  /// The number of pages at which the writer itself runs it, and keeps other writers out. Those who
  /// never pause would otherwise always be ahead of the checkpoint, and the log would grow.
  private static let pagesForWriter: Int32 = 2_000

  /// How many pages later it tries again if readers, or another checkpoint, are in the way, and how
  /// long it waits for them.
  private static let pagesToNextAttempt: Int32 = 200
  private static let longestWait = Duration.milliseconds(5)

  private let isPending = Locked(false)

  /// Held while a checkpoint runs. SQLite refuses a second one.
  private let turn = Locked(())

  /// Runs a checkpoint if the commit of a connection has made it due.
  func runIfDue(after connection: SQLiteConnection, in store: MessageStore) {
    let pages = connection.logPages.pointee
    // The commit after a complete checkpoint starts the log again. Until then, it only grows: for
    // example while a reader uses it, or while a writer is always ahead of the checkpoint.
    if pages < connection.checkpointedPages { connection.checkpointedPages = 0 }
    guard pages - connection.checkpointedPages >= Self.pages else { return }
    connection.checkpointedPages = pages
    if pages < Self.pagesForWriter {
      run(in: store)
    } else if !complete(by: connection) {
      connection.checkpointedPages -= Self.pages - Self.pagesToNextAttempt
    }
  }

  /// Runs a checkpoint at once. Returns whether all of the log is now in the file.
  private func complete(by connection: SQLiteConnection) -> Bool {
    // The first column says whether something was in the way.
    let isBusy = turn.withLock { _ in
      try? connection.waiting(atMost: Self.longestWait) { () throws(WormholeError) in
        try connection.integer("PRAGMA wal_checkpoint(FULL)")
      }
    }
    return isBusy == 0
  }

  /// Soon runs a checkpoint, on a reading thread of the store.
  private func run(in store: MessageStore) {
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
        self.turn.withLock { _ in
          try? connection.executeInAnyCase("PRAGMA wal_checkpoint(PASSIVE)")
        }
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
