// Begins and bounds write-ahead logs.

internal import Glibc

/// How large a write-ahead log may become.
enum WriteAheadLog {
  /// The size above which a writer empties the log before it continues: as long as a reader is in
  /// the middle of a transaction, the log only grows.
  static let maxBytes = 256 << 20

  /// How long to wait for readers in that case. Short transactions end within that time.
  static let timeout = Duration.seconds(1)
}

extension SQLiteConnection {
  /// Lets readers and a writer work at the same time. Takes no lock if they already can.
  func beginWriteAheadLog() throws(WormholeError) {
    while try journalMode() != .text("wal") {
      do throws(WormholeError) {
        // Nobody may use the file while the mode changes. SQLite waits only for some of the locks
        // that this takes, so all the waiting is done here.
        try waiting(atMost: .zero) { () throws(WormholeError) in
          try execute("PRAGMA main.journal_mode = WAL")
        }
        guard try journalMode() != .text("wal") else { return }
        throw .database(
          code: sqliteCannotOpen, message: "the file system of \(path) has no shared memory")
      } catch {
        guard case .busy = error, waitForLock() else { throw error }
      }
    }
  }

  private func journalMode() throws(WormholeError) -> SQLiteField? {
    try rows("PRAGMA main.journal_mode") { $0.field(0) }.first
  }

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
