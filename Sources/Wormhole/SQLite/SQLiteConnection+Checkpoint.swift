// Bounds the write-ahead log of a database.

internal import Glibc

/// How large a write-ahead log may become.
enum WriteAheadLog {
  /// The size beyond which a writer empties it before it goes on: as long as a reader is in the
  /// middle of a transaction, it only grows.
  static let maxBytes = 256 << 20

  /// How long to wait for readers then. Those that come and go are gone by then.
  static let timeout = Duration.seconds(1)
}

extension SQLiteConnection {
  /// Makes sure that the write-ahead log is small enough for another transaction.
  ///
  /// - Throws: ``WormholeError/heldByReader(path:)`` if it is not.
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
