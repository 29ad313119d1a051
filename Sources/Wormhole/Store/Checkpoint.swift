// Moves the write-ahead log of a store into its file.

/// When a checkpoint runs, and how long it waits.
private enum Checkpoint {
  /// The number of pages in the log at which it is due.
  static let pages: Int32 = 2_000

  /// How many pages later it tries again if something is in the way, and how long it waits for
  /// that.
  static let pagesToNextAttempt: Int32 = 200
  static let longestWait = Duration.milliseconds(5)
}

extension MessageStore {
  /// Runs a checkpoint on the writing connection if one is due. If another thread is using the
  /// connection, a later commit runs the checkpoint.
  func checkpoint() {
    let limit = WorkLimit(timeout: Checkpoint.longestWait)
    _ = try? connections.use(\.writer, within: limit) { (connection) throws(WormholeError) in
      if connection.isCheckpointDue { try connection.checkpoint() }
    }
  }
}

extension SQLiteConnection {
  /// Whether the commits of this connection have made a checkpoint due.
  var isCheckpointDue: Bool {
    // The commit after a complete checkpoint starts the log again. Until then, it only grows: for
    // example while a reader uses it, or while a writer is always ahead of the checkpoint.
    if logPages.pointee < checkpointedPages { checkpointedPages = 0 }
    return logPages.pointee - checkpointedPages >= Checkpoint.pages
  }

  /// Runs a checkpoint, which keeps other processes from writing. Those who never pause would
  /// otherwise always be ahead of it, and the log would grow.
  ///
  /// - Returns: whether all of the log is now in the file.
  @discardableResult
  fileprivate func checkpoint() throws(WormholeError) -> Bool {
    let pages = logPages.pointee
    checkpointedPages = pages - Checkpoint.pages + Checkpoint.pagesToNextAttempt
    // The first column says whether something was in the way.
    let isBusy = try waiting(atMost: Checkpoint.longestWait) { () throws(WormholeError) in
      try integer("PRAGMA wal_checkpoint(FULL)")
    }
    if isBusy == 0 { checkpointedPages = pages }
    return isBusy == 0
  }

  /// Runs a body, and again if the disk was full because of the log: while a reader is in the
  /// middle of a transaction it only grows, and afterwards no commit would make a checkpoint due.
  func retryingWhenLogIsEmptied<Value>(
    _ body: () throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value {
    do throws(WormholeError) {
      return try body()
    } catch {
      guard error.code == .diskFull, (try? checkpoint()) == true else { throw error }
      return try body()
    }
  }

  /// Checks that the write-ahead log is small enough for another transaction: while a reader is in
  /// the middle of a transaction, it only grows.
  ///
  /// - Throws: ``WormholeError/heldByReader`` if it is not.
  func limitStoreLog() throws(WormholeError) {
    guard logPages.pointee > WriteAheadLog.maxBytes / 4096 else { return }
    try limitWriteAheadLog()
  }
}
