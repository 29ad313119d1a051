// Runs transactions.

internal import CSQLite
internal import Glibc

extension SQLiteConnection {
  /// The kind of a transaction.
  enum TransactionKind: String {
    /// It sees the database as of its first statement, and waits for nobody.
    case deferred = "BEGIN DEFERRED"

    /// Only one such transaction runs at a time; it may write.
    case immediate = "BEGIN IMMEDIATE"
  }

  /// Runs a body as a transaction, which an error of the body rolls back.
  ///
  /// The body cannot end it. If SQLite does, because of an error, the body cannot run anything
  /// else.
  ///
  /// - Returns: what the body returns or throws.
  /// - Throws: errors outside the body. Nothing has changed then.
  func transaction<Value, Failure: Error>(
    _ kind: TransactionKind, _ body: () throws(Failure) -> Value
  ) throws(WormholeError) -> Result<Value, Failure> {
    try execute(kind.rawValue)
    isInBody = true
    let result = Result(catching: body)
    isInBody = false
    guard isInTransaction else {
      if case .failure = result { return result }
      throw .database(code: sqliteHasRolledBack, message: "the transaction was ended inside")
    }
    switch result {
    case .success:
      do throws(WormholeError) {
        try execute("COMMIT")
      } catch {
        rollBack()
        throw error
      }
    case .failure:
      rollBack()
    }
    return result
  }

  /// Some errors, such as a full disk, have rolled back already.
  private func rollBack() {
    if isInTransaction { try? executeInAnyCase("ROLLBACK") }
  }
}

/// How large a write-ahead log may become.
enum WriteAheadLog {
  /// The size beyond which a writer empties it before it goes on: as long as a reader is in the
  /// middle of a transaction, it only grows.
  static let maxBytes = 256 << 20

  /// How long to wait for readers then. Short transactions have ended after that.
  static let timeout = Duration.seconds(1)
}

extension SQLiteConnection {
  /// Makes sure that the write-ahead log is small enough for another transaction.
  ///
  /// - Throws: ``WormholeError/heldByReader`` if it is not.
  func limitWriteAheadLog() throws(WormholeError) {
    guard writeAheadLogBytes > WriteAheadLog.maxBytes else { return }
    let checkpoint = try waiting(atMost: WriteAheadLog.timeout) { () throws(WormholeError) in
      try rows("PRAGMA main.wal_checkpoint(TRUNCATE)") { row in
        (isBusy: row.integer(0) != 0, pages: row.integer(1) ?? 0, written: row.integer(2) ?? 0)
      }.first
    }
    guard let checkpoint, checkpoint.isBusy, checkpoint.written < checkpoint.pages else { return }
    throw .heldByReader(path: path)
  }

  private var writeAheadLogBytes: Int {
    var status = stat()
    return stat("\(path)-wal", &status) == 0 ? Int(status.st_size) : 0
  }
}
